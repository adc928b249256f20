"""Whether a longer grace is the cure: each mechanism has its own, and only one is mended by the grace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from swarmtest.losses.mechanisms import Mechanism
from swarmtest.tune.seeing import Seen, seen_of
from swarmtest.tune.signal_path import cures, sentences
from tests.judge.builder import Life, Rollout
from tests.judge.stories import killed_at_the_end_of_the_grace
from tests.tune.stand_ins import failed, seen, stop


def of(rollout: Rollout) -> Seen:
    return seen_of(rollout.judged(), rollout.document(), "run", (1, 30.0))


def every(rollout: Rollout, change: Callable[[Life], None]) -> Rollout:
    for life in rollout.old:
        change(life)
    return rollout


def ignores_the_signal() -> Rollout:
    rollout = Rollout()
    for life in killed_at_the_end_of_the_grace(rollout):
        life.unready = life.closed = None
    return rollout


def exits_at_once() -> Rollout:
    def gone(life: Life) -> None:
        life.unready = life.closed = None
        life.exited = (life.signalled or 0.0) + 0.03

    return every(Rollout(), gone)


def its_own_limit_ends_the_drain() -> Rollout:
    """A supervisor, or the framework's own limit, 1.5 s after the signal."""

    def limited(life: Life) -> None:
        life.closed = life.signalled
        life.exited = (life.signalled or 0.0) + 1.5

    return every(Rollout(), limited)


def drains_longer_than_the_grace() -> Rollout:
    rollout = Rollout()
    for life in killed_at_the_end_of_the_grace(rollout):
        life.closed = life.unready
        running = rollout.unanswered(f"long-on-{life.slot}", life.announced or 0, life.killed or 0)
        running.on, running.steps = life, {"start": (life.announced or 0) + 0.01}
    return rollout


def test_all_is_well_when_all_is_well() -> None:
    run = of(Rollout())
    assert cures(run, generous=False) == []
    assert list(sentences(run)) == [
        "3 of 3 stops ended by themselves, 3.5 s after the signal",
        "the signal was heard on 3 of 3, by their own lines",
        f"0 of {run.sent:,} requests were lost",
    ]


def test_a_signal_that_nobody_hears_is_mended_first() -> None:
    """TryGhost/docker-library-ghost #37: recommending a longer grace only delays every rollout."""
    run = of(ignores_the_signal())
    assert "make the stop signal reach the app" in cures(run, generous=False)[0]
    assert "3 of 3 stops ended in SIGKILL when the grace of 4 s was over" in list(sentences(run))


def test_an_app_that_exits_at_once_lacks_a_drain() -> None:
    """einride/cloudrunner-go PR #799: exit code 0 is no evidence of a grace."""
    run = of(exits_at_once())
    assert "the drain is missing" in cures(run, generous=False)[0]
    assert any("by no SIGKILL: they end at once, and cut what runs" in line for line in sentences(run))


def test_a_limit_inside_the_container_is_raised_before_the_grace() -> None:
    run = of(its_own_limit_ends_the_drain())
    assert "raise the app's own shutdown limit" in cures(run, generous=False)[0]
    (words,) = (line for line in sentences(run) if "by no SIGKILL" in line)
    assert "stops that ended 1.5 s after the signal" in words
    assert words.endswith("something inside the container ends the drain, at the same time on each")


def test_a_grace_that_was_too_short_is_no_reason_to_stop() -> None:
    run = of(drains_longer_than_the_grace())
    assert set(run.endings) == {Mechanism.GRACE_TOO_SHORT}
    assert cures(run, generous=False) == []
    assert cures(run, generous=True) == []


def test_one_that_says_nothing_of_itself_is_asked_again_under_a_generous_grace() -> None:
    run = failed("exited_within_grace", "see first that the signal reaches the app", Mechanism.SIGNAL_OR_GRACE)
    assert cures(run, generous=False) == []
    assert cures(run, generous=True) == ["see first that the signal reaches the app"]


@pytest.mark.parametrize(
    "way", [Mechanism.KEEP_ALIVE, Mechanism.STREAMS_HELD, Mechanism.HANGS, Mechanism.OUT_OF_MEMORY, Mechanism.KILLED]
)
def test_what_holds_a_shutdown_isnt_mended_by_waiting_longer(way: Mechanism) -> None:
    """nestjs/nest #7611, Kludex/uvicorn: the grace isn't derived from how old a stream gets."""
    assert cures(failed("exited_within_grace", f"mend {way}", way), generous=False) == [f"mend {way}"]


@pytest.mark.parametrize("way", [Mechanism.HEALTH_KILL, Mechanism.OUT_OF_MEMORY, Mechanism.NO_INSTANCE])
def test_an_instance_that_dies_of_something_else_ends_no_measuring(way: Mechanism) -> None:
    """On a busy machine a health check times out now and then; that stop isn't counted, and the others are."""
    run = failed("exited_within_grace", "mend the health check", way)
    assert cures(run, generous=True) == []
    assert cures(run, generous=False) == ["mend the health check"]
    assert cures(replace(run, full="100 % busy"), generous=False) == []


@pytest.mark.parametrize("way", [Mechanism.GOAWAY_MISSING, Mechanism.SOCKETS_DESTROYED, Mechanism.DRAIN_MISSING])
def test_what_an_app_does_on_its_way_out_ends_a_tune_on_a_full_machine_too(way: Mechanism) -> None:
    run = failed("drained_before_exit", f"mend {way}", way)
    assert cures(run, generous=True) == [f"mend {way}"]
    assert cures(replace(run, full="100 % busy"), generous=False) == [f"mend {way}"]


def test_streams_that_arent_told_are_named_even_where_the_grace_was_too_short_too() -> None:
    run = failed("streams_closed_in_order", "tell open streams", Mechanism.GRACE_TOO_SHORT)
    assert cures(run, generous=False) == ["tell open streams"]


def test_each_cure_is_said_once_causes_first() -> None:
    both = {
        **failed("answered_every_request", "drain", Mechanism.DRAIN_MISSING).checks,
        **failed("drained_before_exit", "drain", Mechanism.DRAIN_MISSING).checks,
        **failed("exited_within_grace", "handle it", Mechanism.SIGNAL_IGNORED).checks,
    }
    run = seen(checks=both, endings=(Mechanism.SIGNAL_IGNORED,))
    assert cures(run, generous=False) == ["handle it", "drain"]


def test_cuts_at_different_times_arent_called_a_limit() -> None:
    cutting = (stop(seconds=1.0, lost=2), stop(seconds=9.0, lost=1))
    run = seen(cutting, lost=3, ways=((Mechanism.OWN_LIMIT, 3),))
    words = [line for line in sentences(run) if "by no SIGKILL" in line]
    assert words == ["3 requests were lost on 2 stops that ended 1.0 to 9.0 s after the signal, by no SIGKILL"]


def test_sockets_that_are_destroyed_arent_called_a_limit_either() -> None:
    cutting = (stop(seconds=3.6, lost=2), stop(seconds=3.9, lost=1))
    run = seen(cutting, lost=3, ways=((Mechanism.SOCKETS_DESTROYED, 3),))
    assert not any("ends the drain" in line for line in sentences(run))


def test_without_a_stop_nothing_is_known() -> None:
    assert "no instance was stopped" in next(iter(sentences(seen(()))))
