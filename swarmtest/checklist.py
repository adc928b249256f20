"""The checklist for draining connections: ten lines that a team asks itself before it deploys under load.

Each line rests on checks that are judged anyway, in the scenarios that put them to the test, and says
nothing of its own. A line whose scenario wasn't run is not proved: nothing passes because nobody looked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from swarmtest.reports import CheckEntry, Document
from swarmtest.reports.series import ChecklistLine

EVIDENCE_KEPT = 6


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        text: what it asks, as a statement.
        checks: what has to pass; empty: every check of the scenarios.
        scenarios: where, each of them.
        wherever: also in every other scenario that was run and has the check.
        armed: the guard on the error rate has to be armed, too.
        spread: each check has to be judged in one of the scenarios, whichever; the others needn't have been run.
        needs: what's missing in the stack file where a check of it isn't judged.
        remark: said in any case.
    """

    number: int
    text: str
    checks: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    wherever: bool = False
    armed: bool = False
    spread: bool = False
    needs: str = ""
    remark: str = ""


LINES = (
    Line(
        1,
        "An instance is announced as going before it gets its stop signal.",
        ("announced_before_the_signal",),
        ("rolling", "scale-in"),
    ),
    Line(
        2,
        "How long the front door takes to let go is measured, and is within its time.",
        ("front_door_let_go_in_time",),
        ("rolling", "scale-in"),
    ),
    Line(
        3,
        "The grace period is longer than the wait and the longest request together.",
        ("grace_exceeds_longest_request", "exited_within_grace"),
        ("rolling", "slow-shutdown"),
    ),
    Line(
        4,
        "An instance takes no new work once it drains.",
        ("nothing_arrived_after_close",),
        ("rolling", "stop-first"),
    ),
    Line(
        5,
        "HTTP/2 connections are told to go away in time, and WebSocket clients come back.",
        ("http2_told_to_go_away", "streams_closed_in_order", "clients_reconnected_in_time"),
        ("rolling", "reload"),
        spread=True,
        needs="no kind of traffic goes that way (x-swarmtest traffic: protocol: h2, websocket or sse), or the front"
        " door that ends HTTP/2 isn't reloaded (front_door: reload)",
    ),
    Line(
        6,
        "Retries of clients hide no error, and have a budget.",
        ("retries_stayed_within_budget", "handled_each_request_once"),
        ("kill",),
        needs="no kind of traffic tries again (x-swarmtest traffic: retries: {budget: 10%, idempotency_key: true})",
    ),
    Line(
        7,
        "Capacity is enough while instances are replaced, under a burst too.",
        ("kept_capacity",),
        ("burst", "rolling", "stop-first"),
    ),
    Line(
        8,
        "Every record bears the instance's ID and the request's.",
        ("ids_on_every_record",),
        ("baseline", "rolling"),
        wherever=True,
    ),
    Line(
        9,
        "A rollback is held to the same as a rollout, and passes.",
        (),
        ("rollback",),
    ),
    Line(
        10,
        "A rollout that goes wrong is stopped by itself.",
        ("rolled_back_by_itself",),
        ("unhealthy", "unhealthy-soon"),
        armed=True,
        remark="Swarm by itself stops only when tasks fail; on an error rate swarmtest's guard does, and in"
        " production something of yours has to.",
    ),
)


def judge_checklist(documents: Sequence[Document], not_run: Mapping[str, str]) -> list[ChecklistLine]:
    """Every line, by the documents of the runs there were.

    Arguments:
        not_run: scenario → why it can't be run on this stack.
    """
    return [_judge(line, documents, not_run) for line in LINES]


def _judge(line: Line, documents: Sequence[Document], not_run: Mapping[str, str]) -> ChecklistLine:
    failed: list[str] = []
    missing: list[str] = []
    lacking = _judged_nowhere(line, documents) if line.spread else []
    missing += [f"{name} isn't judged in {' or '.join(line.scenarios)}: {line.needs}" for name in lacking]
    for scenario in line.scenarios:
        runs = [document for document in documents if document.scenario == scenario]
        if not runs and not line.spread:
            why = not_run.get(scenario)
            missing.append(f"{scenario} wasn't run" + (f": {why}" if why else ""))
        for document in runs:
            _weigh(line, document, failed, missing)
    if line.wherever:
        for document in documents:
            if document.scenario not in line.scenarios and {check.name for check in document.checks} & {*line.checks}:
                _weigh(line, document, failed, missing)
    failed, missing = [*dict.fromkeys(failed)], [*dict.fromkeys(missing)]
    if failed:
        return _said(line, "failed", f"{_first(failed)}.", failed + missing)
    if missing:
        return _said(line, "not_proved", f"{_first(missing)}.", missing)
    return _said(line, "passed", _passed(line))


def _judged_nowhere(line: Line, documents: Sequence[Document]) -> list[str]:
    """Checks of a line that none of its scenarios was judged by."""
    judged = {check.name for document in documents if document.scenario in line.scenarios for check in document.checks}
    return [name for name in line.checks if name not in judged]


def _weigh(line: Line, document: Document, failed: list[str], missing: list[str]) -> None:
    """Sorts what a run says to a line into what failed and what's missing."""
    for name, check in _asked(line, document):
        if check is None and line.spread:
            continue
        if check is None:
            missing.append(f"{name} isn't judged in {document.scenario}" + (f": {line.needs}" if line.needs else ""))
        elif check.outcome == "failed":
            failed.append(f"{name} failed in {document.scenario}: {check.sentence.rstrip('.')}")
        elif check.outcome != "passed":
            missing.append(f"{name} is not proved in {document.scenario}: {check.sentence.rstrip('.')}")
    if not line.checks and document.outcome != "passed" and not any(c.outcome != "passed" for c in document.checks):
        missing.append(f"{document.scenario} is not proved")
    if line.armed and not (document.settings.get("guards") or {}).get("stop_at"):
        missing.append(f"the guard on the error rate was off in {document.scenario}")


def _asked(line: Line, document: Document) -> Iterator[tuple[str, CheckEntry | None]]:
    """The checks of a run that a line rests on; None for one that the run doesn't have."""
    found = {check.name: check for check in document.checks}
    for name in line.checks or tuple(found):
        yield name, found.get(name)


def _passed(line: Line) -> str:
    checks = " and ".join(line.checks) if line.checks else "every check"
    where = ", ".join(line.scenarios[:-1]) + " and " * bool(line.scenarios[:-1]) + line.scenarios[-1]
    return f"{checks} passed in {where}{' and wherever else it was asked' if line.wherever else ''}."


def _first(found: Sequence[str]) -> str:
    return found[0] + (f"; and {len(found) - 1} more" if len(found) > 1 else "")


def _said(line: Line, outcome: str, sentence: str, evidence: Sequence[str] = ()) -> ChecklistLine:
    kept = list(evidence[:EVIDENCE_KEPT])
    if len(evidence) > EVIDENCE_KEPT:
        kept.append(f"and {len(evidence) - EVIDENCE_KEPT} more")
    sentence = f"{sentence} {line.remark}".strip()
    return ChecklistLine(line.number, line.text, outcome, sentence, kept, list(line.checks), list(line.scenarios))
