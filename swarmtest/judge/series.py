"""From the runs of a series to what they say together: pure, so the same folders give the same bytes.

What only the series itself knows, such as a member that was refused and left no folder, is read from
``series.json``; everything else is judged anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import msgspec

from swarmtest.checklist import judge_checklist
from swarmtest.checks import Outcome
from swarmtest.errors import RunFolderError
from swarmtest.judge import judged_folder, weigh
from swarmtest.judge.proof import rounded
from swarmtest.losses import upper_bound
from swarmtest.losses.table import Told
from swarmtest.reports import CLASSES, Document
from swarmtest.reports.series import Member, Range, Series, Spread, read_series

WEIGHTS = (130, 4, 1, 2, 3, 0)
"""Exit codes, the weightiest first: a run that didn't come to its end says least about the others."""

FINISHED = "finished"

HOW = {"interrupted": "was interrupted", "broke": "broke off", "refused": "was refused"}


def judge_series(
    folder: Path, report: Callable[[Document, Told, Path], None] | None = None
) -> tuple[Series, list[Document | None]]:
    """Judges every member of a series again, and the series.

    Arguments:
        report: is given each member's document, all of its requests, and its folder.

    Raises:
        RunFolderError: it isn't a series' folder, or one of a later version.
    """
    series = read_series(folder)
    documents = [_document(folder, member, report) for member in series.members]
    return sum_up(series, documents), documents


def sum_up(series: Series, documents: Sequence[Document | None]) -> Series:
    """The series with what its members' documents say."""
    pairs = list(zip(series.members, documents, strict=True))
    members = [_member(member, document) for member, document in pairs]
    telling = [document for member, document in pairs if document is not None and _tells(member, document)]
    lines = judge_checklist(telling, {each.scenario: each.reason for each in series.not_run})
    outcomes = [_outcome(member) for member in members]
    if series.checklist_weighs:
        outcomes += [Outcome(line.outcome) for line in lines]
    elif series.not_run:
        outcomes.append(Outcome.NOT_PROVED)
    outcome = weigh(outcomes)
    return msgspec.structs.replace(
        series,
        members=members,
        outcome=outcome.value,
        exit_code=_exit_code(series, members, outcome),
        spread=list(_spreads(members, documents)),
        checklist=lines,
        notes=list(_notes(series, members)),
    )


_Report = Callable[[Document, Told, Path], None]


def _document(folder: Path, member: Member, report: _Report | None) -> Document | None:
    if member.folder is None:
        return None
    try:
        with judged_folder(folder / member.folder) as (document, requests):
            if report is not None:
                report(document, requests, folder / member.folder)
            return document
    except RunFolderError as error:
        if member.ended == FINISHED:
            raise RunFolderError(f"a run of the series can't be judged: {error}") from error
        return None


def _member(member: Member, document: Document | None) -> Member:
    """A member's row; of what was never judged only that it was to be run."""
    if document is None:
        return member
    losses = {name: count for name, count in document.losses.items() if count or name in ("sent", "ok", "duplicates")}
    proof, figures = document.proof, document.figures
    return msgspec.structs.replace(
        member,
        outcome=document.outcome,
        exit_code=document.exit_code if member.exit_code not in (130, 4, 2) else member.exit_code,
        checks=dict(sorted(Counter(check.outcome for check in document.checks).items())),
        losses=losses,
        lost=int(proof.get("lost") or 0),
        unproved=int(proof.get("unproved") or 0),
        stops=int(proof.get("stops") or 0),
        stops_with_loss=int(proof.get("stops_with_loss") or 0),
        lowest_ready=figures.lowest_ready,
        p50_ms=figures.p50_ms,
        p99_ms=figures.p99_ms,
        acted_seconds=figures.acted_seconds,
        seconds=document.seconds,
    )


def _tells(member: Member, document: Document) -> bool:
    """Whether a run may speak for the checklist: what passed until it broke off might have failed later."""
    return member.ended == FINISHED or document.outcome == Outcome.FAILED.value


def _outcome(member: Member) -> Outcome:
    """What a member counts for: without an end of its own it proves nothing, and yet what failed has failed."""
    if member.outcome == Outcome.FAILED.value:
        return Outcome.FAILED
    return Outcome(member.outcome) if member.ended == FINISHED and member.outcome else Outcome.NOT_PROVED


def _exit_code(series: Series, members: Sequence[Member], outcome: Outcome) -> int:
    codes = {member.exit_code for member in members} | {{Outcome.FAILED: 1, Outcome.NOT_PROVED: 3}.get(outcome, 0)}
    if series.ended == "interrupted":
        codes.add(130)
    if series.ended == "broke":
        codes.add(4)
    return next(code for code in WEIGHTS if code in codes)


def _notes(series: Series, members: Sequence[Member]) -> Iterator[str]:
    """What was asked for and didn't come to be."""
    unbegun = Counter(member.scenario for member in members if member.ended is None and member.folder is None)
    if unbegun and series.ended in HOW:
        names = ", ".join(name + (f" ({count} times)" if count > 1 else "") for name, count in unbegun.items())
        yield f"not run, since the series {HOW[series.ended]}: {names}"
    for member in members:
        if member.error:
            yield f"{member.scenario} {HOW.get(str(member.ended), member.ended)}: {member.error}"
    if series.ended == "broke" and series.error not in {member.error for member in members}:
        yield f"the series {HOW[series.ended]}: {series.error}"
    for each in series.not_run:
        yield f"{each.scenario} can't be run on this stack: {each.reason}"


def _spreads(members: Sequence[Member], documents: Sequence[Document | None]) -> Iterator[Spread]:
    """For each scenario the least, the median and the most of each figure, over the runs that came to their end."""
    for scenario in dict.fromkeys(member.scenario for member in members):
        pairs = zip(members, documents, strict=True)
        some = [(each, document) for each, document in pairs if each.scenario == scenario and each.ended == FINISHED]
        judged = [(each, document) for each, document in some if document is not None]
        if judged:
            passed = sum(each.outcome == Outcome.PASSED.value for each, _ in judged)
            rows = [_figures(each, document) for each, document in judged]
            proof = _proof([each for each, _ in judged])
            yield Spread(scenario, len(judged), passed, list(_ranges(rows)), proof)


def _proof(members: Sequence[Member]) -> dict[str, float | None]:
    """What the runs of one scenario prove together, by the rules of a single run."""
    sent, lost = sum(member.losses.get("sent", 0) for member in members), sum(member.lost for member in members)
    unproved, stops = sum(member.unproved for member in members), sum(member.stops for member in members)
    hurt = sum(member.stops_with_loss for member in members)
    return {
        "sent": sent,
        "lost": lost,
        "unproved": unproved,
        "upper_bound": rounded(upper_bound(lost, sent)),
        "stops": stops,
        "stops_with_loss": hurt,
        "stop_upper_bound": None if unproved else rounded(upper_bound(hurt, stops)),
    }


def _figures(member: Member, document: Document) -> dict[str, float]:
    """The figures of a run by name; what wasn't seen is missing."""
    rows: dict[str, float | None] = {name: document.losses.get(name, 0) for name in ("sent", *CLASSES, "duplicates")}
    rows["lost"] = member.lost
    rows["lowest_ready"] = member.lowest_ready
    rows |= {"p50_ms": member.p50_ms, "p99_ms": member.p99_ms}
    if len(document.figures.kinds) > 1:
        for kind in document.figures.kinds:
            rows |= {f"p50_ms ({kind.name})": kind.p50_ms, f"p99_ms ({kind.name})": kind.p99_ms}
    rows |= {"acted_seconds": member.acted_seconds, "seconds": member.seconds}
    return {name: value for name, value in rows.items() if value is not None}


def _ranges(rows: Sequence[Mapping[str, float]]) -> Iterator[Range]:
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row[name] for row in rows if name in row]
        least, middle, most = min(values), median(values), max(values)
        if any((least, middle, most)) or name not in CLASSES:
            yield Range(name, least, round(middle, 3), most)
