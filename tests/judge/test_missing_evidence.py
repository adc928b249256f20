"""Nothing passes because nobody looked, and nothing fails because evidence is missing.

Each kind of evidence is taken out of runs whose verdicts are known. What a check says may then only
turn into *not proved*, with the one thing to add, and a class only into *unknown*.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from swarmtest.reports import Document
from tests.judge import stories
from tests.judge.builder import Rollout
from tests.judge.evidence import (
    ALIASES,
    STRIPS,
    Run,
    Strip,
    a_name_of_its_own,
    close_delimited,
    no_header,
    no_logs,
    no_names,
    no_records,
    no_request_lines,
    one_name_for_all,
    pairs,
    read_run,
    said,
)

REAL = Path(__file__).parent / "real-run"


def clean(front_door: str = "proxy") -> Rollout:
    return Rollout(front_door=front_door)


def exits_at_once() -> Rollout:
    rollout = Rollout()
    for life in rollout.old:
        life.unready = life.closed = None
        life.exited = (life.signalled or 0) + 0.01
    return rollout


def killed_at_the_end_of_its_grace() -> Rollout:
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 2
    for life in rollout.old:
        life.unready = life.closed = None
        life.killed = (life.signalled or 0) + 2.0
        life.exited, life.exit_code = life.killed + 0.02, 137
    return rollout


def dials_those_that_are_gone() -> Rollout:
    rollout = Rollout()
    for n, life in enumerate(rollout.old):
        for i in range(12):
            at = (life.exited or 0) + 0.5 + i / 2
            rollout.bad_gateway(f"lost-{n}-{i}", at, at + 0.004, life, reused=i % 2 == 0)
    return rollout


def serves_before_it_is_ready() -> Rollout:
    rollout = Rollout()
    for n, life in enumerate(rollout.new):
        life.warm = (life.healthy or 0) + 2.0
        for i in range(6):
            at = (life.healthy or 0) + 0.2 + i / 5
            one = rollout.served(f"cold-{n}-{i}", at, at + 0.05, life, status=503, reused=i % 2 == 0)
            one.steps = {"start": at + 0.002, "finish": at + 0.04}
    return rollout


def closes_too_early() -> Rollout:
    rollout = Rollout()
    for n, life in enumerate(rollout.old):
        life.closed = life.signalled
        for i in range(5):
            at = (life.closed or 0) + 0.2 + i / 10
            rollout.bad_gateway(f"early-{n}-{i}", at, at + 0.004, life)
    return rollout


def keeps_the_dead() -> Rollout:
    rollout = stories.killed()
    rollout.old[0].let_go = 6.0
    return rollout


def loses_elsewhere() -> Rollout:
    rollout = stories.killed()
    for n in range(3):
        one = rollout.unanswered(f"other-{n}", 0.2 + n / 10, 0.4 + n / 10)
        one.on, one.steps = rollout.old[1], {"start": 0.21 + n / 10}
    for n in range(3):
        rollout.bad_gateway(f"elsewhere-{n}", 0.3 + n / 10, 0.31 + n / 10, rollout.old[2])
    return rollout


def stands_still_unnoticed() -> Rollout:
    rollout = stories.frozen(8.0)
    rollout.plan["traffic"]["timeout_seconds"] = 3
    rollout.old[0].let_go = 7.0
    return rollout


def never_replaced() -> Rollout:
    rollout = stories.killed()
    rollout.new = []
    return rollout


RUNS = {
    "clean": clean,
    "clean, direct": lambda: clean("direct"),
    "exits at once": exits_at_once,
    "killed": killed_at_the_end_of_its_grace,
    "resolves once": dials_those_that_are_gone,
    "ready before warm": serves_before_it_is_ready,
    "closes too early": closes_too_early,
    "a kill": stories.killed,
    "a kill, direct": lambda: stories.killed(front_door="direct"),
    "a kill that the front door misses": keeps_the_dead,
    "a kill and other losses": loses_elsewhere,
    "a kill for good": never_replaced,
    "a freeze": stories.frozen,
    "a freeze that the front door misses": stands_still_unnoticed,
    "a stop by hand": stories.stopped_by_hand,
    "a grace of 1 s": stories.terminated_by_force,
    "a slow drain": stories.drained_too_long,
    "a dependency that's off": stories.without_its_dependency,
    "a bad version": stories.turns_bad_late,
}


def run_of(rollout: Rollout) -> Run:
    """A run with less traffic than usual, since it's judged a hundred times."""
    rollout.at(3.0, 3.0)
    return Run(rollout.plan, rollout.events(), rollout.requests())


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return {name: run_of(make()) for name, make in RUNS.items()} | {"a real one": read_run(REAL)}


@pytest.fixture(scope="module")
def documents(runs: dict[str, Run]) -> dict[str, Document]:
    """What's said of each run with all of its evidence."""
    return {name: run.document() for name, run in runs.items()}


def outcomes(document: Document) -> dict[str, str]:
    return {check.name: check.outcome for check in document.checks}


def assert_only_less_is_said(whole: Document, stripped: Document) -> None:
    before_it = outcomes(whole)
    for check in stripped.checks:
        if check.outcome != before_it[check.name]:
            assert check.outcome == "not_proved", f"{check.name}: {check.sentence} {check.evidence}"
            assert check.advice, f"{check.name}: {check.sentence} {check.evidence}"
    before = {event.id: event.loss for event in whole.loss_events}
    after = {event.id: event.loss for event in stripped.loss_events}
    changed = {after.get(name, "ok") for name in before | after if before.get(name) != after.get(name)}
    assert changed <= {"unknown"}


BASE = (
    "clean",
    "exits at once",
    "killed",
    "resolves once",
    "ready before warm",
    "closes too early",
    "a kill and other losses",
    "a kill for good",
    "a freeze that the front door misses",
    "a dependency that's off",
)


def test_the_runs_that_meet_most_strips_have_all_that_is_ever_said(documents: dict[str, Document]) -> None:
    assert set().union(*(said(documents[name]) for name in BASE)) == set().union(*map(said, documents.values()))


@pytest.mark.parametrize(("name", "strip"), pairs([*RUNS, "a real one"], BASE))
def test_without_one_kind_of_evidence_only_less_is_said(
    runs: dict[str, Run], documents: dict[str, Document], name: str, strip: Strip
) -> None:
    assert_only_less_is_said(documents[name], strip(runs[name]).document())


PAIRS = [
    pair
    for pair in combinations(STRIPS, 2)
    if not all("clock" in strip.__name__ for strip in pair)  # a machine has one clock
]


def without_names_and_records() -> list[ParameterSet]:
    """Every pair with every run; a third, in which each pair has one of the runs, isn't left to the long repeats."""
    names = ("clean", "clean, direct", "ready before warm")
    firsts = (no_header, close_delimited, a_name_of_its_own, one_name_for_all)
    seconds = (no_records, no_logs, no_request_lines)
    return [
        pytest.param(name, first, second, marks=[] if (k + m + n) % 3 == 0 else [pytest.mark.repeats])
        for k, name in enumerate(names)
        for m, first in enumerate(firsts)
        for n, second in enumerate(seconds)
    ]


@pytest.mark.parametrize(("name", "first", "second"), without_names_and_records())
def test_without_names_and_without_records_only_less_is_said(
    runs: dict[str, Run], documents: dict[str, Document], name: str, first: Strip, second: Strip
) -> None:
    assert_only_less_is_said(documents[name], second(first(runs[name])).document())


@pytest.mark.parametrize("name", ["clean", "killed", "exits at once"])
@pytest.mark.parametrize("some", [0, *(pytest.param(n, marks=pytest.mark.repeats) for n in range(1, 18))])
def test_without_two_kinds_of_evidence_only_less_is_said(
    runs: dict[str, Run], documents: dict[str, Document], name: str, some: int
) -> None:
    of_this_run = PAIRS[["clean", "killed", "exits at once"].index(name) :: 3]
    for first, second in of_this_run[some::18]:
        assert_only_less_is_said(documents[name], second(first(runs[name])).document())


@pytest.mark.parametrize("alias", ALIASES)
@pytest.mark.parametrize("name", ["clean", "exits at once", "a real one"])
def test_an_instance_may_call_itself_by_any_name(
    runs: dict[str, Run], documents: dict[str, Document], name: str, alias: str
) -> None:
    assert outcomes(ALIASES[alias](runs[name]).document()) == outcomes(documents[name])


def test_without_a_name_a_run_still_tells_what_its_records_do(
    runs: dict[str, Run], documents: dict[str, Document]
) -> None:
    document = no_header(runs["exits at once"]).document()
    failed = [check.name for check in document.checks if check.outcome == "failed"]
    assert failed == ["answered_every_request", "drained_before_exit"]
    assert document.losses["cut"] == documents["exits at once"].losses["cut"]


def test_without_dns_the_announcement_lies_between_decision_and_signal(runs: dict[str, Run]) -> None:
    checks = {check.name: check for check in no_names(runs["a real one"]).document().checks}
    verdict = checks["front_door_let_go_in_time"]
    assert verdict.outcome == "not_proved"
    assert any("DNS wasn't watched" in line for line in verdict.evidence)


def test_without_records_a_kill_proves_no_drain(runs: dict[str, Run]) -> None:
    checks = {check.name: check for check in no_records(runs["killed"]).document().checks}
    assert checks["drained_before_exit"].outcome == "not_proved"
    assert any("may have been cut" in line for line in checks["drained_before_exit"].evidence)
