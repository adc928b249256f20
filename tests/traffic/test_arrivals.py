"""Users on a clock and with lanes of the test's own: what they start, what they give up, and what they leave behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain

import pytest

from swarmtest.traffic import arrivals
from swarmtest.traffic.arrivals import Arrivals, Loop
from swarmtest.traffic.curve import Curve
from swarmtest.traffic.ledger import Ledger
from swarmtest.traffic.pacing import Pace
from swarmtest.traffic.records import Record

PACE = Pace("k", Curve(10.0), 3, (0, 0), 42)
COUNTED = Pace("k", Curve(10.0), 3, (0, 0), 42, count=5)


@dataclass
class Clock:
    """The time of a test: goes on by what's waited for."""

    now: float = 0.0
    until: float = 1.0
    jumps: dict[int, float] = field(default_factory=dict)
    waits: int = 0

    def monotonic(self) -> float:
        return self.now

    def is_set(self) -> bool:
        return self.now >= self.until

    def wait(self, timeout: float) -> bool:
        self.waits += 1
        self.now = min(self.now + timeout, self.until) + self.jumps.get(self.waits, 0.0)
        return self.is_set()


@dataclass
class Lane:
    sent: list[int] = field(default_factory=list)
    closed: bool = False
    clock: Clock | None = None

    def send(self, n: int, due: float) -> None:
        self.sent.append(n)
        if self.clock is not None:
            self.clock.now += 0.3

    def close(self) -> None:
        self.closed = True


class Crew:
    """Runs each call at once."""

    joined = False

    def spawn(self, call: Callable[[int, float], None], n: int, due: float, /) -> None:
        call(n, due)

    def join(self) -> None:
        self.joined = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(arrivals, "time", made)
    return made


def run(pace: Pace, clock: Clock, ledger: Ledger | None = None) -> tuple[list[list[int]], Ledger]:
    lanes, ledger, crew = [Lane() for _ in range(3)], ledger or Ledger(lambda record: None), Crew()
    Arrivals(pace, lanes, ledger, crew).run(0.0, clock)
    assert crew.joined
    assert all(lane.closed for lane in lanes)
    return [lane.sent for lane in lanes], ledger


def test_requests_are_dealt_out_to_the_lanes_in_turn_until_the_stop(clock: Clock) -> None:
    sent, ledger = run(PACE, clock)
    assert sent == [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]]
    assert ledger.missed == 0


def test_no_more_than_the_number_are_sent(clock: Clock) -> None:
    clock.until = 100.0
    sent, ledger = run(COUNTED, clock)
    assert sent == [[0, 3], [1, 4], [2]]
    assert (ledger.missed, clock.now < 1.0) == (0, True)


def test_a_short_stall_sends_what_was_due_late_and_misses_nothing(clock: Clock) -> None:
    clock.jumps, clock.until = {3: 0.5}, 2.0
    sent, ledger = run(PACE, clock)
    assert sorted([*chain(*sent)]) == list(range(20))
    assert ledger.missed == 0


def test_what_a_long_stall_made_more_than_a_second_late_is_missed_and_not_sent_in_a_heap(clock: Clock) -> None:
    clock.jumps, clock.until = {3: 3.0}, 5.0
    sent, ledger = run(PACE, clock)
    numbers = sorted([*chain(*sent)])
    assert len(numbers) + ledger.missed == 50
    assert 18 <= ledger.missed <= 21
    assert numbers[:3] == [0, 1, 2]
    assert PACE.instant(numbers[3]) >= clock.now - 5.0 + 2.0


def test_what_a_stall_kept_from_being_started_before_the_stop_is_missed(clock: Clock) -> None:
    clock.jumps, clock.until = {5: 10.0}, 2.0
    sent, ledger = run(PACE, clock)
    assert len([*chain(*sent)]) == 4
    assert ledger.missed == PACE.due_by(clock.now - 0.05) - 4


def test_an_arrival_for_which_there_is_no_room_is_missed_and_counted_as_that(clock: Clock) -> None:
    ledger = Ledger(lambda record: None, room=1)
    ledger.begin(Record(id="held up", kind="k", method="GET", path="/", planned=0.0), 0.0)
    sent, ledger = run(COUNTED, clock, ledger)
    assert sent == [[], [], []]
    assert (ledger.missed, ledger.no_room) == (5, 5)


def test_a_loop_sends_its_next_request_when_the_last_one_is_over(clock: Clock) -> None:
    lane = Lane(clock=clock)
    Loop(1, 3, lane, PACE).run(0.0, clock)
    assert lane.sent == [1, 4, 7, 10]
    assert lane.closed


def test_a_loop_ends_with_the_number(clock: Clock) -> None:
    lane = Lane()
    Loop(1, 3, lane, COUNTED).run(0.0, clock)
    assert lane.sent == [1, 4]
