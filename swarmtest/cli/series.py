"""Several runs, one after the other, each with a deployment and a folder of its own, as one series.

``series.json`` is written anew when a run begins and when it has ended, so that the folder of a series
that was interrupted, or killed, says what was run and what wasn't.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from swarmtest import runner
from swarmtest.cli.findings import told_beforehand
from swarmtest.cli.judge import report_series, write_reports
from swarmtest.cli.ordering import Asked, make_order
from swarmtest.cli.run import announce, known_beforehand
from swarmtest.errors import EngineError, Interrupted, SwarmtestError, TimedOut, UsageError
from swarmtest.events import Event
from swarmtest.interrupts import Interrupts
from swarmtest.judge import judged_folder
from swarmtest.judge.series import FINISHED, sum_up
from swarmtest.reports import Document, wording
from swarmtest.reports.console.live import LiveView
from swarmtest.reports.series import SERIES_VERSION, Member, NotRun, Series, write_series
from swarmtest.running.order import Order, new_token


def run_series(asked: Asked, names: Sequence[str], reasons: dict[str, str], interrupts: Interrupts) -> int:
    """Runs every scenario so often as it was asked for; gives the series' exit code.

    A run that's refused, or that swarmtest or the stack broke, is recorded, and the next one begins. An
    engine that's lost ends the series, and so does Ctrl-C.

    Arguments:
        names: the scenarios that can be run on this stack.
        reasons: those that can't, and why.

    Raises:
        UsageError: the first run is refused, so that nothing was done at all.
        EngineError: the engine was lost.
        Interrupted: after all that was run is judged and written.
    """
    record = Record(asked, names, reasons)
    members = record.series.members
    orders = [make_order(asked, member.scenario, record.path, place) for place, member in enumerate(members, 1)]
    orders[0] = replace(orders[0], beforehand=told_beforehand(asked.stack.file))  # once is enough
    broke: BaseException | None = None
    try:
        for place, order in enumerate(orders):
            _run_member(record, place, order, interrupts)
            interrupts.release()
    except (Interrupted, SwarmtestError) as error:
        interrupts.hold()
        broke = error
        if not record.begun:
            raise
    record.end(broke)
    code = report_series(record.series, record.documents, record.path)
    if broke is not None:
        raise broke
    return code


class Record:
    """A series while it's run, and its file."""

    def __init__(self, asked: Asked, names: Sequence[str], reasons: dict[str, str]) -> None:
        moment = datetime.fromtimestamp(time.time(), UTC).strftime("%Y%m%dT%H%M%SZ")
        stem = re.sub(r"[^A-Za-z0-9_.-]", "-", asked.stack.file.stem)
        self.path: Path = asked.out / f"{moment}-{asked.series_name}-{stem}-{new_token()}"
        self.series = Series(
            version=SERIES_VERSION,
            series=self.path.name,
            asked=asked.scenario,
            stack=str(asked.stack.file),
            seed=asked.seed,
            repeat=asked.runs,
            members=[Member(name, number) for number in range(1, asked.runs + 1) for name in names],
            not_run=[NotRun(name, reason) for name, reason in reasons.items()],
            checklist_weighs=asked.checklist_weighs,
        )
        self.documents: list[Document | None] = [None] * len(self.series.members)

    @property
    def begun(self) -> bool:
        """Whether any run of it left a folder."""
        return any(member.folder is not None for member in self.series.members)

    def title(self, place: int) -> str:
        """``run 3 of 14: kill (2 of 5)``."""
        member = self.series.members[place]
        repeat = f" ({member.repeat} of {self.series.repeat})" if self.series.repeat > 1 else ""
        return f"run {place + 1} of {len(self.series.members)}: {member.scenario}{repeat}"

    def note(self, place: int, document: Document | None = None, **changes: object) -> None:
        """Writes down what's new of a member."""
        members = list(self.series.members)
        members[place] = msgspec.structs.replace(members[place], **changes)
        if document is not None:
            self.documents[place] = document
        self._write(members=members)

    def end(self, broke: BaseException | None) -> None:
        """Writes down how the series ended."""
        match broke:
            case None:
                self._write(ended=FINISHED)
            case Interrupted():
                self._write(ended="interrupted", error=str(broke))
            case _:
                self._write(ended="broke", error=str(broke))

    def _write(self, **changes: object) -> None:
        self.series = sum_up(msgspec.structs.replace(self.series, **changes), self.documents)
        if self.begun:  # the runner makes the folder with the first run's
            write_series(self.series, self.path)


def _run_member(record: Record, place: int, order: Order, interrupts: Interrupts) -> None:
    """One run from its beginning to its verdict.

    Raises:
        SwarmtestError: the engine was lost, or the first run of all was refused.
        Interrupted: before the run began.
    """
    title = record.title(place)
    announce(order)
    try:
        with LiveView(progress=known_beforehand(order, title)) as live:

            def listen(event: Event) -> None:
                if event.kind == "trace":
                    record.note(place, folder=str(event.get("run")))
                live(event)

            folder, broke = runner.run(order, interrupts, listen)
    except UsageError as error:
        if not record.begun:
            raise
        record.note(place, ended="refused", error=str(error), exit_code=error.exit_code)
        click.echo(f"{title}: refused: {error}", err=True)
        return
    with judged_folder(folder.path) as (document, requests):
        write_reports(document, requests, folder.path)
    if broke is not None:
        record.note(place, document, ended="broke", error=str(broke), exit_code=broke.exit_code)
    elif interrupts.caught is not None:
        record.note(place, document, ended="interrupted", exit_code=Interrupted.exit_code)
    else:
        record.note(place, document, ended=FINISHED)
    click.echo(f"{title}: {_came_to(record.series.members[place])}", err=True)
    if isinstance(broke, EngineError) and not isinstance(broke, TimedOut):
        raise broke


def _came_to(member: Member) -> str:
    """``passed, 0 lost of 1,204, 41 s``."""
    words = [wording.outcome_words(member.outcome or "not_proved")]
    words += [member.ended] if member.ended not in (None, FINISHED) else []
    words.append(f"{wording.number(member.lost)} lost of {wording.number(member.losses.get('sent', 0))}")
    words += [f"{member.seconds:.0f} s"] if member.seconds is not None else []
    return ", ".join(word for word in words if word)
