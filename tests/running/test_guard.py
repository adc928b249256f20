"""The stop on the error rate: too much over a whole window, of all clients together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.running.guard import LEAST_ENDED, Count, LossGuard, too_much


@dataclass(frozen=True)
class Limit:
    share: float = 0.05
    seconds: float = 5.0


def words(*pairs: tuple[int, int], start: float = 100.0) -> list[Count]:
    """(ended, lost) within each second, as counts since the start."""
    found = [Count(start, 0, 0)]
    for n, (done, lost) in enumerate(pairs, start=1):
        found.append(Count(start + n, found[-1].done + done, found[-1].lost + lost))
    return found


CALM = (20, 0)


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        ([CALM] * 9, None),
        ([CALM] * 5 + [(20, 5)], None),  # 5 of 100: at the limit, not above
        ([CALM] * 5 + [(20, 6)], "6.0 % lost over 5 s: 6 of 100; limit 5 %"),
        # as many, but spread over more than the window
        ([CALM, (20, 3), *[CALM] * 4, (20, 3)], None),
        ([CALM, (20, 3), *[CALM] * 3, (20, 3)], "6.0 % lost over 5 s: 6 of 100; limit 5 %"),
        # nothing is said before a window is full
        ([(20, 20)] * 4, None),
        ([(20, 20)] * 5, "100.0 % lost over 5 s: 100 of 100; limit 5 %"),
        # a loss in a trickle is no rate
        ([(1, 0)] * 8 + [(2, 1)], None),
        ([(0, 0)] * 9, None),
        ([(4, 4)] * 5, "100.0 % lost over 5 s: 20 of 20; limit 5 %"),
    ],
)
def test_it_trips_when_more_than_the_limit_is_lost_over_a_whole_window(
    pairs: list[tuple[int, int]], text: str | None
) -> None:
    assert too_much({"": words(*pairs)}, Limit()) == text


def test_both_clients_are_added_up() -> None:
    steady, burst = words(*[(20, 1)] * 10), words((60, 0), (60, 0), (60, 0), start=107.3)
    assert too_much({"": steady}, Limit(0.04)) == "5.0 % lost over 5 s: 5 of 100; limit 4 %"
    assert too_much({"": steady, "burst": burst}, Limit(0.04)) is None
    lost = words((60, 0), (60, 20), (60, 0), start=107.3)
    assert too_much({"": steady, "burst": lost}, Limit()) == "8.9 % lost over 5 s: 25 of 280; limit 5 %"


def test_a_burst_that_is_over_weighs_nothing_after_a_while() -> None:
    steady = words(*[(20, 0)] * 20)
    assert too_much({"": steady, "burst": words((60, 60), (60, 60), start=103.0)}, Limit()) is None


def test_ticks_that_come_a_little_late_make_no_window_longer() -> None:
    late = [Count(word.t + 0.1 * (n % 3), word.done, word.lost) for n, word in enumerate(words(*[(20, 2)] * 8))]
    assert too_much({"": late}, Limit()) == "10.0 % lost over 5 s: 10 of 100; limit 5 %"


SECONDS = st.lists(
    st.integers(0, 60).flatmap(lambda done: st.tuples(st.just(done), st.integers(0, done))), min_size=1, max_size=30
)


@given(SECONDS)
def test_nothing_lost_never_trips_and_what_it_says_is_true(pairs: list[tuple[int, int]]) -> None:
    assert too_much({"": words(*((done, 0) for done, _ in pairs))}, Limit()) is None
    text = too_much({"": words(*pairs)}, Limit())
    window = pairs[-5:]
    done, lost = sum(pair[0] for pair in window), sum(pair[1] for pair in window)
    assert (text is not None) == (len(pairs) >= 5 and done >= LEAST_ENDED and lost / done > 0.05)
    assert text is None or f": {lost} of {done};" in text


@given(SECONDS, st.data())
def test_it_does_not_matter_which_of_two_clients_lost_what(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    mine = [data.draw(st.tuples(st.integers(0, done), st.integers(0, lost))) for done, lost in pairs]
    others = [(done - some, lost - few) for (done, lost), (some, few) in zip(pairs, mine, strict=True)]
    both = {"": words(*mine), "burst": words(*others)}
    assert too_much(both, Limit()) == too_much({"": words(*pairs)}, Limit())


def told(guard: LossGuard, pairs: list[tuple[int, int]], client: str = "", start: float = 100.0) -> None:
    guard.hear(client, {"event": "calibrated", "ok": True, "t": 1.0})
    for n, word in enumerate(words(*pairs, start=start)):
        message: dict[str, Any] = {"event": "tick", "t": word.t, "done": word.done, "lost": word.lost}
        guard.hear(client, message if n else {"event": "started", "t": word.t})


def test_a_guard_remembers_that_it_tripped_and_keeps_no_long_list() -> None:
    guard = LossGuard(Limit())
    told(guard, [(20, 1)] * 1000)
    assert guard.text is None
    assert len(guard._counts[""]) < 10
    told(guard, [(20, 4)] * 5, client="burst", start=1100.2)
    text = guard.text
    assert text is not None
    told(guard, [CALM] * 50, start=1101.0)
    assert guard.text == text


def test_a_guard_without_a_limit_never_trips() -> None:
    guard = LossGuard(None)
    told(guard, [(20, 20)] * 9)
    assert guard.text is None
