"""From measured stops to the settings: the grace, and what has to fit to it.

Two values are worked out, and the larger one counts. The mechanism's sum is what the longest request may need that
comes in at the last moment, whether or not one did: the wait until nothing new comes in, the request, the closing,
and a second for an abort. The bound is the longest of the stops that were seen. The engine cuts fractions of a second
off a grace, so the value is the next whole second above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from swarmtest.stack import Service
from swarmtest.stack.block.frontdoor import FrontDoor
from swarmtest.tune.bound import LEAST_ROLLOUTS, confidence_of, stops_needed
from swarmtest.tune.stops import Stop, in_every_part

SWARM_PAUSE_SECONDS = 2.0
"""From the announcement to the stop signal."""

ABORT_SECONDS = 1.0
"""What an app that gives up waiting gets to end what it has cut, and the margin of all that was measured."""

MECHANISM, BOUND = "the mechanism's sum", "the bound of measured stops"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a stop's length is made of, beside what's measured.

    Attributes:
        longest_seconds: the longest request, as the stack file plans it.
        measured_seconds: the longest one that was answered, in the rollout in which that took least: a plan that's
            wrong shows in each, a busy machine in some.
        coverage: share of all stops that are to be covered.
        confidence: how sure that's to be.
    """

    longest_seconds: float
    measured_seconds: float
    coverage: float
    confidence: float

    @property
    def longest(self) -> tuple[float, str]:
        """The longest request that counts, and where that's from: a second more than planned is within the abort's."""
        if self.measured_seconds > self.longest_seconds + ABORT_SECONDS:
            return self.measured_seconds, f"measured, {self.longest_seconds:g} s planned"
        return self.longest_seconds, f"planned, {self.measured_seconds:.1f} s measured"


@dataclass(frozen=True, slots=True)
class Sum:
    """The mechanism's sum, in seconds, and where its parts are from."""

    wait: float
    wait_source: str
    longest: float
    longest_source: str
    closing: float
    abort: float = ABORT_SECONDS

    @property
    def total(self) -> float:
        """All of it."""
        return self.wait + self.longest + self.closing + self.abort


@dataclass(frozen=True, slots=True)
class Bound:
    """The longest of so many stops, and what that covers."""

    stops: int
    rollouts: int
    needed: int
    coverage: float
    confidence: float
    longest: float

    @property
    def reached(self) -> float:
        """The confidence that so many stops give."""
        return confidence_of(self.stops, self.coverage)

    @property
    def enough(self) -> bool:
        """Whether there are as many stops, from as many rollouts, as were asked for."""
        return self.stops >= self.needed and self.rollouts >= LEAST_ROLLOUTS


@dataclass(frozen=True, slots=True)
class Recommended:
    """The grace, and which of the two decides."""

    grace_seconds: int
    decided_by: str
    sum: Sum
    bound: Bound

    @property
    def limit_seconds(self) -> tuple[float, float]:
        """The app's own shutdown limit, counted from the close: above the first, and up to the second."""
        return self.sum.longest, floor(10 * (self.grace_seconds - self.sum.wait - ABORT_SECONDS)) / 10


def whole_above(seconds: float) -> int:
    """The next whole second above: a grace has to be longer than what it's for, and the engine cuts fractions."""
    return floor(round(seconds, 6)) + 1


def recommend(stops: Sequence[Stop], needs: Needs, door: FrontDoor) -> Recommended | None:
    """The grace by the stops that count; None where there are none, or no longest request is known."""
    counted = [stop for stop in stops if stop.counted]
    if not counted or needs.longest[0] <= 0:
        return None
    longest, source = needs.longest
    wait, wait_source = _wait(counted, needs.coverage, door)
    closing = in_every_part([stop.closing_seconds or 0.0 for stop in counted], needs.coverage) or 0.0
    parts = Sum(wait, wait_source, longest, source, closing)
    bound = Bound(
        stops=len(counted),
        rollouts=len({stop.run for stop in counted}),
        needed=stops_needed(needs.coverage, needs.confidence),
        coverage=needs.coverage,
        confidence=needs.confidence,
        longest=max((stop.stop_seconds or 0.0) + stop.error_seconds for stop in counted),
    )
    decided_by = MECHANISM if parts.total >= bound.longest else BOUND
    return Recommended(whole_above(max(parts.total, bound.longest)), decided_by, parts, bound)


def _wait(counted: Sequence[Stop], coverage: float, door: FrontDoor) -> tuple[float, str]:
    """How long after the signal something new may come in: as measured, or as long as the front door needs."""
    measured = in_every_part([stop.wait_seconds or 0.0 for stop in counted], coverage) or 0.0
    needed = wait_needed(door)
    if needed is not None and needed > measured:
        return needed, "what the front door needs to notice"
    closed = all(stop.closed for stop in counted)
    return measured, "measured, to the close" if closed else "measured, to the last new request"


def wait_needed(door: FrontDoor) -> float | None:
    """How long after the signal the front door may send new requests, by its settings; None where nobody says.

    What Swarm announces, it announces two seconds before the signal; a front door that only probes hears of it when
    the app turns unready, which is at the signal.
    """
    if door.within_seconds is None:
        return None
    told = door.detects in ("dns", "tasks")
    return max(0.0, door.within_seconds - SWARM_PAUSE_SECONDS) if told else door.within_seconds


@dataclass(frozen=True, slots=True)
class Fitting:
    """What ``update_config`` should be, in whole seconds, to go with the stops."""

    delay_seconds: int
    monitor_seconds: int
    unhealthy_seconds: float


def fitting(service: Service, stop_seconds: float) -> Fitting:
    """The delay and the monitor window that go with stops of such a length.

    ``delay``: as long as an old instance takes to go, so that no more of them drain at a time than ``parallelism``
    says; stop-first waits for them anyway. ``monitor``: a new instance that turns unhealthy has failed for Swarm only
    when it has ended, after its health check has failed often enough, the pause and its own stop. It's always more
    than the delay, since older engines don't look longer than the one or the other (moby/moby #37972).
    """
    health = service.health
    unhealthy = health.retries * (health.interval_seconds + health.timeout_seconds) if health is not None else 0.0
    going = SWARM_PAUSE_SECONDS + stop_seconds
    delay = whole_above(going) if service.update.order == "start-first" else floor(service.update.delay_seconds)
    return Fitting(delay, max(whole_above(unhealthy + going), delay + 1), unhealthy)
