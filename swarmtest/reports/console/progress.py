"""What is known of a run while it goes on, and in words what swarmtest is waiting for.

It holds no clock, no thread and no terminal. ``news.py`` folds events into it, and
``live.py`` draws it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

RANKS = {
    "pending": 0,
    "starting": 1,
    "running": 2,
    "unhealthy": 3,
    "healthy": 3,
    "announced": 4,
    "signalled": 5,
    "killed": 6,
    "exited": 7,
    "failed": 7,
}
"""States of an instance in the order of a life; a later event never takes one back."""

READY = frozenset({"running", "healthy"})
COMING = frozenset({"pending", "starting", "unhealthy"})
STOPPING = frozenset({"announced", "signalled", "killed"})
ENDED = frozenset({"exited", "failed"})
GOING_ON = (None, "updating", "rollback_started")
"""States of an update that Swarm is still at, or hasn't begun."""


@dataclass(slots=True)
class InstanceNow:
    """One instance of the service under test, as far as it's known by now."""

    task: str
    service: str
    label: str
    generation: str
    state: str = "pending"
    since: float = 0.0
    note: str = ""
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class News:
    """Something worth a line; ``phase`` news also stays above a live picture."""

    t: float
    text: str
    phase: bool = False


@dataclass(frozen=True, slots=True)
class DoorNow:
    """The front door while it isn't open: since when it's waited for, and for how many seconds at most."""

    url: str
    last: str
    since: float
    within: float


@dataclass(slots=True)
class Progress:
    """The state of a run.

    Attributes:
        service: the service under test; tasks of others are left out. Empty: every service of the stack.
        replicas: how many instances it should have.
        expected: seconds that a phase is planned to take, where the plan knows.
        expected_total: seconds that the whole run is planned to take, where the plan knows.
        title: which run of a series it is; empty where it's alone.
        rate: requests a second between the last two ticks of the traffic.
        updating: the service whose rollout has begun.
        tasks: container ID → task ID.
        names: the addresses that the service's name had when last looked up.
    """

    service: str = ""
    replicas: int = 0
    expected: Mapping[str, float] = field(default_factory=dict)
    expected_total: float | None = None
    title: str = ""
    began: float | None = None
    phase: str | None = None
    phase_began: float = 0.0
    updating: str | None = None
    update_status: str | None = None
    ended: str | None = None
    instances: dict[str, InstanceNow] = field(default_factory=dict)
    traffic: dict[str, Any] = field(default_factory=dict)
    rate: float = 0.0
    tasks: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    door: DoorNow | None = None

    def elapsed(self, now: float) -> float:
        """Seconds since the first event."""
        return max(0.0, now - self.began) if self.began is not None else 0.0

    def between(self) -> str:
        """What goes on where no phase does: before the first, after the last, or at the end."""
        if self.ended:
            return f"run {self.ended}"
        return "last requests" if self.traffic.get("open") else "getting ready"

    def counts(self) -> str:
        """``1,204 sent, 9 open, 1,195 complete``; empty before traffic."""
        if "sent" not in self.traffic:
            return ""
        outcomes: Mapping[str, int] = self.traffic.get("outcomes") or {}
        parts = [f"{self.traffic['sent']:,} sent"]
        parts += [f"{self.traffic['open']:,} open"] if self.traffic.get("open") else []
        parts += [f"{count:,} {name.replace('_', ' ')}" for name, count in outcomes.items() if count]
        return ", ".join(parts)

    def not_complete(self) -> int:
        """Requests that the client itself saw go wrong so far; the classes come with the judgement."""
        outcomes: Mapping[str, int] = self.traffic.get("outcomes") or {}
        return sum(count for name, count in outcomes.items() if name not in ("complete", "still_open"))

    def headline(self, now: float) -> str:
        """What swarmtest is waiting for now."""
        seconds = f"{max(0.0, now - self.phase_began):.0f}"
        planned = self.expected.get(self.phase or "")
        match self.phase:
            case None:
                return self._between_headline(now)
            case "warmup":
                return f"warming up ({seconds}{f' of {planned:g}' if planned else ''} s)"
            case "deploy":
                ready = sum(instance.state in READY for instance in self.instances.values())
                of = f" of {self.replicas}" if self.replicas else ""
                return f"waiting for {self.service or 'the stack'} to be healthy ({ready}{of} ready, {seconds} s)"
            case "baseline":
                return f"measuring with nothing going on ({seconds}{f' of {planned:g}' if planned else ''} s)"
            case "rollout" | "settle":
                return self._rollout_headline(now)
            case "remove":
                return f"removing the stack ({seconds} s)"
            case _ if planned:
                return f"{self.phase} ({seconds} of {planned:g} s)"
            case _:
                return self._rollout_headline(now)

    def _between_headline(self, now: float) -> str:
        if (door := self.door) and not self.ended:
            seconds = f"{max(0.0, now - door.since):.0f} of {door.within:g} s"
            return f"waiting for {door.url} to answer steadily (last: {door.last}; {seconds})"
        waits = self.traffic.get("open")
        return f"waiting for {waits:,} open requests" if waits and not self.ended else self.between()

    def _rollout_headline(self, now: float) -> str:
        old = [instance for instance in self.instances.values() if instance.generation == "old"]
        gone = sum(instance.state in ENDED for instance in old)
        replaced = f"{gone} of {len(old)} old instances gone"
        for states, words in ((STOPPING, "to exit"), (COMING, "to be healthy")):
            for instance in self.instances.values():
                if instance.state in states:
                    since = f"{instance.state} for {max(0.0, now - instance.since):.0f} s"
                    return f"waiting for {full_name(instance)} {words} ({since}{f'; {replaced}' if old else ''})"
        if self.phase != "settle" and old and self.update_status in GOING_ON:
            if self.update_status and gone == len(old):
                return f"waiting for Swarm to end the update (its monitor time; {replaced})"
            return f"waiting for Swarm to go on (update {self.update_status or 'not begun'}; {replaced})"
        return f"{self.phase} ({max(0.0, now - self.phase_began):.0f} s)"


def full_name(instance: InstanceNow) -> str:
    """``new api.2``, and ``api.2`` before there's anything to tell apart."""
    return f"{instance.generation} {instance.label}".strip()
