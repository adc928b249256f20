"""The order of a tune, by runs that a stand-in makes: what's said when, and what isn't."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from swarmtest.errors import EngineError, Interrupted
from swarmtest.losses.mechanisms import Mechanism
from swarmtest.reports import CheckEntry
from swarmtest.reports.tune import EDGE, MEASURE, PROOF, SIGNAL_PATH, Tune
from swarmtest.tune.procedure import Tuning
from swarmtest.tune.seeing import Seen
from swarmtest.tune.trials import Trial
from tests.tune.stand_ins import STACK, failed, seen, stop, tuned

Answer = Callable[[Trial, int], Seen]


def good(trial: Trial, number: int) -> Seen:
    """Stops of 5.2 s; a shorter grace kills."""
    killed = trial.grace_seconds < 5.2
    some = stop(run=number, grace_seconds=float(trial.grace_seconds), killed=killed)
    return seen((some,) * trial.replicas)


def carried_out(folder: Path, answer: Answer = good, text: str = STACK, **how: object) -> tuple[Tune, list[Trial]]:
    made: list[Trial] = []

    def carry_out(trial: Trial, number: int) -> Seen:
        made.append(trial)
        return answer(trial, number)

    kept: list[Tune] = []
    tuning = Tuning(tuned(folder, text, **how), "a-tune", carry_out, kept.append)
    tuning.run()
    assert kept[-1] == tuning.tune
    return tuning.tune, made


def test_first_the_signal_path_then_three_rollouts_then_the_proof(tmp_path: Path) -> None:
    tune, made = carried_out(tmp_path)
    assert [(trial.purpose, trial.replicas, trial.grace_seconds) for trial in made] == [
        (SIGNAL_PATH, 3, 30),
        (MEASURE, 8, 60),
        (MEASURE, 8, 60),
        (MEASURE, 8, 60),
        (PROOF, 8, 12),
    ]
    assert tune.recommendation is not None
    assert (tune.recommendation.grace_seconds, tune.outcome, tune.exit_code) == (12, "passed", 0)
    assert (tune.recommendation.bound.stops, tune.recommendation.bound.rollouts) == (24, 3)
    assert tune.proof == "0 of 8 stops ended in SIGKILL, 0 of 1,000 requests were lost"
    assert [run.stops for run in tune.runs] == [1 * 3, 8, 8, 8, 8]
    assert len(tune.stops) == 35
    assert any("next replacement" in line for line in tune.warnings)


def test_three_tunes_of_jittering_stops_agree_within_a_second(tmp_path: Path) -> None:
    def jittering(shift: float) -> Answer:
        def answer(trial: Trial, number: int) -> Seen:
            some = [
                stop(run=number, grace_seconds=float(trial.grace_seconds), closing_seconds=0.1 + shift + place / 20)
                for place in range(trial.replicas)
            ]
            return seen(tuple(some))

        return answer

    values = [carried_out(tmp_path, jittering(shift))[0].recommendation for shift in (0.0, 0.2, 0.35)]
    assert len({one.grace_seconds for one in values if one is not None}) <= 2


def test_where_the_grace_isnt_the_cure_it_says_what_is_and_stops_there(tmp_path: Path) -> None:
    tune, made = carried_out(
        tmp_path, lambda _trial, _number: failed("exited_within_grace", "handle it", Mechanism.SIGNAL_IGNORED)
    )
    assert [trial.purpose for trial in made] == [SIGNAL_PATH]
    assert (tune.cures, tune.recommendation, tune.outcome, tune.exit_code) == (["handle it"], None, "failed", 1)


def test_what_shows_only_under_the_generous_grace_stops_it_too(tmp_path: Path) -> None:
    def answer(trial: Trial, number: int) -> Seen:
        if trial.purpose == SIGNAL_PATH:
            return good(trial, number)
        return failed("exited_within_grace", "end the process", Mechanism.HANGS)

    tune, made = carried_out(tmp_path, answer)
    assert [trial.purpose for trial in made] == [SIGNAL_PATH, MEASURE]
    assert (tune.cures, tune.recommendation, tune.exit_code) == (["end the process"], None, 1)


def test_too_few_stops_are_no_value_and_not_proved(tmp_path: Path) -> None:
    def answer(trial: Trial, number: int) -> Seen:
        other = stop(run=number, why_not="made with a grace of 30 s, not with the 60 s that were to be tried")
        return seen((other,) * 7 + (stop(run=number),))

    tune, made = carried_out(tmp_path, answer)
    assert [trial.purpose for trial in made] == [SIGNAL_PATH] + [MEASURE] * 5, "two rollouts more are tried"
    assert (tune.recommendation, tune.outcome, tune.exit_code) == (None, "not_proved", 3)
    assert "5 of 40 stops in 5 rollouts count, and 22 are needed" in tune.missing[0]
    assert "made with a grace of 30 s" in tune.missing[0]


@pytest.mark.parametrize(
    ("run", "missing"),
    [
        (seen(sent=0), "no request was sent"),
        (seen(()), "no instance was stopped"),
        (seen((stop(drain_seconds=None),)), "no request ran on any instance"),
    ],
)
def test_without_traffic_or_stops_there_is_no_value(tmp_path: Path, run: Seen, missing: str) -> None:
    tune, made = carried_out(tmp_path, lambda _trial, _number: run)
    assert len(made) == 1
    assert (tune.recommendation, tune.exit_code) == (None, 3)
    assert any(missing in line for line in tune.missing)


def test_a_generous_grace_that_isnt_ends_the_measuring_at_once(tmp_path: Path) -> None:
    def answer(trial: Trial, number: int) -> Seen:
        if trial.purpose == SIGNAL_PATH:
            return good(trial, number)
        cut = stop(run=number, killed=True, why_not="killed as its grace was over")
        return seen((cut,) * 8, endings=(Mechanism.GRACE_TOO_SHORT,))

    tune, made = carried_out(tmp_path, answer, generous_seconds=5)
    assert len(made) == 2
    assert "when the 5 s that were to be generous were over; give more: --generous" in tune.missing[0]
    assert (tune.recommendation, tune.exit_code) == (None, 3)


def test_without_a_planned_longest_request_there_is_no_value(tmp_path: Path) -> None:
    tune, made = carried_out(tmp_path, text=STACK.replace("  longest_request: 7s\n", ""))
    assert len(made) == 1
    assert (tune.recommendation, tune.exit_code) == (None, 3)
    assert "longest_request" in tune.missing[0]


def test_a_job_of_hours_gets_no_grace_of_hours(tmp_path: Path) -> None:
    """bayesimpact/bayes-platform PR #794: a job of 3 h is checkpointed or requeued, and nothing is deployed for it."""
    tune, made = carried_out(tmp_path, text=STACK.replace("longest_request: 7s", "longest_request: 3h"))
    assert made == []
    assert "checkpoint or requeue" in tune.cures[0]
    assert (tune.recommendation, tune.exit_code) == (None, 1)


@pytest.mark.parametrize(
    ("proof", "outcome", "code"),
    [
        pytest.param({"lost": 2}, "failed", 1, id="lost"),
        pytest.param({"stops": (stop(killed=True, why_not="killed as its grace was over"),)}, "failed", 1, id="killed"),
        pytest.param({"unproved": 3}, "not_proved", 3, id="unproved"),
        pytest.param({"stops": (stop(why_not="made with a grace of 30 s"),)}, "not_proved", 3, id="another grace"),
        pytest.param({"stops": ()}, "not_proved", 3, id="no stop"),
        pytest.param({"undelivered": ("99 % of a processor",)}, "not_proved", 3, id="a client at its limit"),
        pytest.param({"ended": None}, "not_proved", 3, id="killed run"),
        pytest.param(
            {"checks": {"answered_every_request": CheckEntry("answered_every_request", "not_proved", "Who knows.")}},
            "not_proved",
            3,
            id="unknown",
        ),
    ],
)
def test_a_value_without_a_proof_is_no_pass(tmp_path: Path, proof: dict[str, object], outcome: str, code: int) -> None:
    def answer(trial: Trial, number: int) -> Seen:
        return seen(**proof) if trial.purpose == PROOF else good(trial, number)

    tune, _ = carried_out(tmp_path, answer)
    assert tune.recommendation is not None, "it's shown, with what came of it"
    assert (tune.outcome, tune.exit_code) == (outcome, code)
    assert bool(tune.missing) == (outcome == "not_proved")


@pytest.mark.parametrize(("longest", "grace"), [((7.1, 8.9, 10.1), 12), ((9.2, 9.9, 9.4), 14)])
def test_a_plan_is_wrong_where_every_rollout_says_so(tmp_path: Path, longest: tuple[float, ...], grace: int) -> None:
    def answer(trial: Trial, number: int) -> Seen:
        seconds = longest[number - 2] if trial.purpose == MEASURE else 7.0
        return replace(good(trial, number), longest_seconds=seconds)

    tune, _ = carried_out(tmp_path, answer)
    assert tune.recommendation is not None
    assert tune.recommendation.grace_seconds == grace


def test_a_machine_that_was_full_is_said_once_with_the_runs(tmp_path: Path) -> None:
    def answer(trial: Trial, number: int) -> Seen:
        full = "the bottleneck is the client's machine" if trial.purpose == MEASURE else None
        return replace(good(trial, number), full=full)

    tune, _ = carried_out(tmp_path, answer)
    assert tune.exit_code == 0
    assert tune.warnings[0].startswith("run 2, 3, 4: the bottleneck is the client's machine. Stops took longer")
    assert sum("bottleneck" in line for line in tune.warnings) == 1


def test_the_edge_is_looked_for_where_the_stops_end(tmp_path: Path) -> None:
    tune, made = carried_out(tmp_path, edge=True)
    assert [(trial.purpose, trial.grace_seconds) for trial in made][5:] == [(EDGE, 5), (EDGE, 6)]
    assert tune.edge is not None
    assert (tune.edge.killed_seconds, tune.edge.safe_seconds) == (5, 6)
    assert [(tried.grace_seconds, tried.stops, tried.killed) for tried in tune.edge.tried] == [(5, 8, 8), (6, 8, 0)]
    assert tune.exit_code == 0, "what's killed on purpose is no failure"


def test_one_odd_stop_doesnt_make_the_search_for_the_edge_longer(tmp_path: Path) -> None:
    def answer(trial: Trial, number: int) -> Seen:
        run = good(trial, number)
        odd = stop(run=number, seconds=9.6, grace_seconds=60.0)
        return replace(run, stops=(odd, *run.stops[1:])) if number == 2 else run

    tune, made = carried_out(tmp_path, answer, edge=True)
    assert tune.recommendation is not None
    assert tune.recommendation.bound.longest > 9
    assert [trial.grace_seconds for trial in made[5:]] == [5, 6]


def test_more_coverage_takes_more_stops(tmp_path: Path) -> None:
    _, made = carried_out(tmp_path, coverage=0.95, confidence=0.95)
    assert sum(trial.purpose == MEASURE for trial in made) == 8


@pytest.mark.parametrize(
    ("error", "ended", "code"), [(Interrupted("SIGINT"), "interrupted", 130), (EngineError("lost"), "broke", 4)]
)
def test_what_breaks_it_off_is_written_down(tmp_path: Path, error: BaseException, ended: str, code: int) -> None:
    def breaks(trial: Trial, number: int) -> Seen:
        if number == 3:
            raise error
        return good(trial, number)

    tuning = Tuning(tuned(tmp_path), "a-tune", breaks, lambda _tune: None)
    with pytest.raises(type(error)):
        tuning.run()
    tuning.end(error)
    assert (tuning.tune.ended, tuning.tune.exit_code, tuning.tune.outcome) == (ended, code, "not_proved")
    assert [run.purpose for run in tuning.tune.runs] == [SIGNAL_PATH, MEASURE, MEASURE]
    assert tuning.tune.runs[-1].outcome is None
