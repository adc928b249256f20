"""From a run's folder to its verdicts: pure, so the same folder gives the same bytes.

It needs no engine and loads neither Docker nor gevent. A check that raises is not proved, with the
exception as its evidence; and whatever the checks say, a run in which nothing was replaced that
should have been, too little was sent, or that didn't come to its end, is never a pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from swarmtest.checks import Judged, Outcome, Verdict, find_check
from swarmtest.checks.delivered_the_traffic import shortcomings
from swarmtest.errors import RunFolderError, SwarmtestError, in_a_line
from swarmtest.events import Event, read_events
from swarmtest.evidence.database import Database, database_of, database_of_folder, is_about_a_request, is_step
from swarmtest.evidence.promises import read_promises
from swarmtest.evidence.request import Request
from swarmtest.judge.beside import NOTHING, Beside, read_beside, records_of
from swarmtest.judge.document import compose
from swarmtest.judge.limits import limit_entries
from swarmtest.losses import account
from swarmtest.losses.missing import again
from swarmtest.losses.streams import held_until_killed
from swarmtest.losses.table import Told, tabulate, told
from swarmtest.reports import CheckEntry, Document
from swarmtest.store import RunFolder, open_run_folder
from swarmtest.timeline import read_timeline
from swarmtest.timeline.acts import NOT_JUDGED, began
from swarmtest.timeline.lines import sound
from swarmtest.timeline.victims import took_effect

EXIT_CODES = {Outcome.PASSED: 0, Outcome.FAILED: 1, Outcome.NOT_PROVED: 3}


@contextmanager
def judged_folder(path: Path) -> Iterator[tuple[Document, Told]]:
    """Judges a run's folder, whole or broken off; beside the document it has every request, until it's left.

    Raises:
        RunFolderError: it isn't a run's folder, or one of a later version.
    """
    folder = open_run_folder(path)
    events = list(read_events(folder.events, is_about_a_request))
    with closing(database_of_folder(folder)) as database:
        judged = see_folder(folder, events, database)
        with as_written(folder.path):
            document = conclude(judged)
        yield document, told(judged.requests)


def judge_folder(path: Path) -> Document:
    """The document of a run's folder alone."""
    with judged_folder(path) as (document, _):
        return document


def see_folder(folder: RunFolder, events: Sequence[Event], database: Database) -> Judged:
    """What the checks judge of a folder.

    Arguments:
        events: its trace, all but the lines that are in the database.

    Raises:
        RunFolderError: it holds what no version of swarmtest wrote.
    """
    plan, beside = folder.read_plan(), read_beside(folder)
    with as_written(folder.path):
        return _see(plan, events, database, beside)


@contextmanager
def as_written(folder: Path) -> Iterator[None]:
    """Whoever edits a trace by hand, or damages it, is told so: judging trusts what swarmtest itself wrote."""
    import duckdb

    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, duckdb.Error) as error:
        found = f"{type(error).__name__}: {in_a_line(error)}"
        hint = "was it edited, or damaged? If not, report it with the folder"
        raise RunFolderError(
            f"{folder}: plan, trace or requests hold something that swarmtest never writes ({found}); {hint}"
        ) from error


def judge(
    plan: Mapping[str, Any], events: Sequence[Event], requests: Sequence[Request], beside: Beside = NOTHING
) -> Document:
    """Judges a run by its plan, its trace, its requests and what's recorded beside them."""
    return conclude(see(plan, events, requests, beside))


def judge_each(
    plan: Mapping[str, Any], events: Sequence[Event], requests: Sequence[Request], beside: Beside = NOTHING
) -> Document:
    """The same, with a look at every request by itself: it takes long, and has to find the same."""
    return conclude(_see(plan, events, database_of(map(sound, events), requests), beside, plain=False))


def conclude(judged: Judged) -> Document:
    """What all checks say of it together."""
    entries = [_entry(name, judged) for name in judged.promises.checks]
    entries += limit_entries(judged)
    reasons = list(reasons_not_to_pass(judged))
    outcome = weigh([Outcome(entry.outcome) for entry in entries])
    if outcome is Outcome.PASSED and reasons:
        outcome = Outcome.NOT_PROVED
    return compose(judged, entries, outcome, EXIT_CODES[outcome], reasons)


def see(
    plan: Mapping[str, Any], events: Sequence[Event], requests: Sequence[Request], beside: Beside = NOTHING
) -> Judged:
    """What the checks judge: promises, timeline and losses of a run, its streams and connections."""
    return _see(plan, events, database_of(map(sound, events), requests), beside)


def _see(
    plan: Mapping[str, Any], events: Sequence[Event], database: Database, beside: Beside, *, plain: bool = True
) -> Judged:
    promises = read_promises(plan)
    said = [event for event in events if not (event.kind == "proxied" or is_step(event))]
    timeline, witness, aliases, partition = read_timeline(said, database, promises, plain=plain)
    held = (
        life.container
        for life in timeline.lifespans
        if life.container and held_until_killed(beside.streams, life, aliases)
    )
    witness = replace(witness, held=frozenset(held))
    losses = account(partition, promises, timeline, witness, aliases)
    table = tabulate(partition, losses.telling)
    return Judged(promises, timeline, witness, aliases, losses, table, beside.streams, beside.connections)


def read_requests(rows: Iterable[Mapping[str, Any]]) -> list[Request]:
    """The client's records; fields that are null or missing have their defaults.

    Raises:
        RunFolderError: a record that no version ever wrote.
    """
    return records_of("requests", rows, list[Request])


def weigh(outcomes: Iterable[Outcome]) -> Outcome:
    """One outcome of many: failed outweighs not proved outweighs passed, and nothing proves nothing."""
    found = set(outcomes)
    if Outcome.FAILED in found:
        return Outcome.FAILED
    return Outcome.PASSED if found == {Outcome.PASSED} else Outcome.NOT_PROVED


def reasons_not_to_pass(judged: Judged) -> Iterable[str]:
    """Why a run can't be a pass, whichever checks its scenario has."""
    timeline = judged.timeline
    if timeline.outcome is None:
        yield "the trace has no end: the run was killed"
    elif timeline.outcome != "finished":
        how = "was interrupted" if timeline.outcome == "interrupted" else timeline.outcome
        yield f"the run {how}{f': {timeline.outcome_error}' if timeline.outcome_error else ''}"
    if timeline.stopped_by_guard is not None:
        yield f"the run was stopped early, and is judged as far as it got: {timeline.stopped_by_guard}"
    for broken in timeline.broken:
        yield f"the timeline is incomplete from here on: {broken}"
    if judged.promises.replaces and not timeline.new:
        yield "no instance was replaced"
    yield from _nothing_done(judged)
    yield from shortcomings(judged)


def _nothing_done(judged: Judged) -> Iterable[str]:
    """Why a plan that sets out to do something did nothing; a run that hurts nothing shows no strength."""
    timeline = judged.timeline
    acts = [act for act in began(timeline.acts) if act.get("name") not in NOT_JUDGED and not act.get("prepares")]
    if judged.promises.judged_steps and not acts:
        reasons = dict.fromkeys(str(act.get("reason")) for act in timeline.skipped)
        skipped = f": every act was skipped ({'; '.join(reasons)})" if reasons else ""
        yield f"nothing that was planned was done{skipped}"
    elif judged.promises.destructive and not any(took_effect(act, timeline) for act in acts):
        yield "nothing was seen to be hurt"


def _entry(name: str, judged: Judged) -> CheckEntry:
    try:
        verdict = _early(find_check(name)(judged), judged)
    except SwarmtestError as error:
        verdict = Verdict(Outcome.NOT_PROVED, "The check isn't known to this version.", (str(error),))
    except Exception as error:  # noqa: BLE001 - a broken check must not hide what the others found
        verdict = Verdict(
            Outcome.NOT_PROVED,
            "The check itself broke.",
            (f"{type(error).__name__}: {error}",),
            "report it with the run's folder",
        )
    return CheckEntry(name, verdict.outcome.value, verdict.sentence, list(verdict.evidence), verdict.advice)


def _early(verdict: Verdict, judged: Judged) -> Verdict:
    """Where a run was over before its first request, nothing is said to be missing from the stack or the app."""
    over = judged.timeline.outcome in ("failed", "interrupted") and not judged.losses.sent
    if not over or verdict.outcome is not Outcome.NOT_PROVED:
        return verdict
    return replace(verdict, evidence=(), advice=again(judged.timeline))
