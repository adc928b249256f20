"""As in ``test_missing_evidence``, of runs in which something was released, rolled back, scaled or switched off."""

from __future__ import annotations

import pytest

from swarmtest.reports import Document
from tests.judge.acting import bad_release, ordered_back, scaled, stays, without_the_bank
from tests.judge.builder import Rollout
from tests.judge.evidence import Run, Strip, pairs, said

CHECKS = [
    "announced_before_the_signal",
    "grace_exceeds_longest_request",
    "replaced_every_instance",
    "rolled_back_by_itself",
    "scaled_as_asked",
    "survived_its_dependency",
]


def announced_late() -> Rollout:
    rollout = Rollout()
    rollout.old[1].announced = (rollout.old[1].signalled or 0) + 0.5
    return rollout


def too_short_a_grace() -> Rollout:
    rollout = Rollout()
    rollout.plan["stack"]["grace_seconds"] = 7
    return rollout


def paused() -> Rollout:
    rollout = Rollout()
    rollout.status = [(0.2, "updating"), (12.0, "paused")]
    stays(rollout.old[2])
    rollout.new = rollout.new[:2]
    return rollout


def completed_though_bad() -> Rollout:
    rollout = bad_release("soon")
    rollout.status = [(0.2, "updating"), (7.0, "completed")]
    rollout.new = rollout.new[:1]
    rollout.new[0].healthy, rollout.new[0].exited = 1.0, 7.5
    return rollout


RUNS = {
    "clean": Rollout,
    "announced late": announced_late,
    "grace too short": too_short_a_grace,
    "never healthy": bad_release,
    "unhealthy soon": lambda: bad_release("soon"),
    "unhealthy soon, stop-first": lambda: bad_release("soon", order="stop-first"),
    "paused": paused,
    "completed": completed_though_bad,
    "rolled back by order": ordered_back,
    "one more": lambda: scaled(1),
    "one less": lambda: scaled(-1),
    "dependency off": without_the_bank,
}


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    made = {}
    for name, make in RUNS.items():
        rollout = make().at(3.0, 3.0)
        rollout.plan["checks"] = CHECKS
        made[name] = Run(rollout.plan, rollout.events(), rollout.requests())
    return made


@pytest.fixture(scope="module")
def documents(runs: dict[str, Run]) -> dict[str, Document]:
    return {name: run.document() for name, run in runs.items()}


BASE = ("announced late", "grace too short", "unhealthy soon, stop-first", "one more", "dependency off")


def test_the_runs_that_meet_most_strips_have_all_that_is_ever_said(documents: dict[str, Document]) -> None:
    assert set().union(*(said(documents[name]) for name in BASE)) == set().union(*map(said, documents.values()))


@pytest.mark.parametrize(("name", "strip"), pairs(RUNS, BASE))
def test_without_one_kind_of_evidence_only_less_is_said(
    runs: dict[str, Run], documents: dict[str, Document], name: str, strip: Strip
) -> None:
    before = {check.name: check.outcome for check in documents[name].checks}
    for check in strip(runs[name]).document().checks:
        assert check.outcome in (before[check.name], "not_proved"), f"{check.name}: {check.sentence} {check.evidence}"
        assert "broke" not in check.sentence, check.evidence
