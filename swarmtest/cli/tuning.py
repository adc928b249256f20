"""Carries out the runs of a tune, keeps its document, and reports."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import click

from swarmtest import runner
from swarmtest.cli.findings import told_beforehand
from swarmtest.cli.judge import report_tune, write_reports
from swarmtest.cli.ordering import Asked, order_of
from swarmtest.cli.run import known_beforehand
from swarmtest.errors import Interrupted, StackError, SwarmtestError, UsageError
from swarmtest.events import Event
from swarmtest.interrupts import Interrupts
from swarmtest.judge import judged_folder
from swarmtest.reports.console.live import LiveView
from swarmtest.reports.tune import Tune, write_tune
from swarmtest.stack.syntax.editing import diff, edited, read_exactly, write_exactly
from swarmtest.tune.emit import EMITTERS
from swarmtest.tune.procedure import Tuning
from swarmtest.tune.seeing import Seen, see
from swarmtest.tune.settings import edits
from swarmtest.tune.trials import Trial, Tuned, seconds_of, trials


class Recorder:
    """Makes the runs, and keeps what came of them.

    Arguments:
        asked: what the runs have in common; its folder is the tune's.
    """

    def __init__(self, asked: Asked, tuned: Tuned, interrupts: Interrupts) -> None:
        self.asked, self.tuned, self._interrupts = asked, tuned, interrupts
        self.folder = asked.out
        self.tuning = Tuning(tuned, self.folder.name, self.carry_out, self.keep)

    def hold(self) -> None:
        """Keeps signals back while it's reported."""
        self._interrupts.hold()

    def keep(self, tune: Tune) -> None:
        """Writes the document; there's a folder as soon as a run has begun."""
        if self.folder.is_dir():
            write_tune(tune, self.folder)

    def carry_out(self, trial: Trial, number: int) -> Seen:
        """One run, from its deployment to its verdict.

        Raises:
            SwarmtestError: it couldn't be made, or broke off.
            Interrupted: by a person.
        """
        title, began, tuning = self._title(trial, number), time.monotonic(), self.tuning
        order = order_of(self.asked, "tune", trial.scenario, self.folder, number)
        with LiveView(progress=known_beforehand(order, title)) as live:

            def listen(event: Event) -> None:
                if event.kind == "trace":
                    tuning.note_run(folder=str(event.get("run")))
                live(event)

            folder, broke = runner.run(order, self._interrupts, listen)
        with judged_folder(folder.path) as (document, requests):
            write_reports(document, requests, folder.path)
        tuning.note(engine=document.engine)
        seen = see(document, folder.path, number, float(trial.grace_seconds))
        caught = self._interrupts.caught
        ended = "broke" if broke is not None else "interrupted" if caught is not None else "finished"
        tuning.note_run(ended=ended, error=None if broke is None else str(broke), seconds=time.monotonic() - began)
        click.echo(f"{title}: {_came_to(seen)}, {time.monotonic() - began:.0f} s", err=True)
        if broke is not None:
            if trial.replicas > self.tuned.service.replicas:
                broke.add_note(f"the run had {trial.replicas} instances; --replicas sets another number")
            raise broke
        if caught is not None:
            raise Interrupted(caught)
        self._interrupts.release()
        return seen

    def _title(self, trial: Trial, number: int) -> str:
        planned = trials(self.tuned)
        left = sum(seconds_of(each, self.tuned) for each in planned[number - 1 :])
        of = f" of {len(planned)}" if number <= len(planned) else ""
        words = f"run {number}{of}: {trial.purpose}, grace {trial.grace_seconds} s"
        return f"{words}, about {_minutes(left)} left" if left else words


def _came_to(seen: Seen) -> str:
    killed = sum(stop.killed for stop in seen.stops)
    return f"{len(seen.stops)} stops, {killed} killed, {seen.lost} lost of {seen.sent:,}"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def plan_text(tuned: Tuned) -> str:
    """All that a dry run says: which runs are made, and how long they take."""
    planned = trials(tuned)
    total = _minutes(sum(seconds_of(trial, tuned) for trial in planned))
    lines = [f"tune of {tuned.service.name} in {tuned.stack.file}, about {total}:", *_plan_lines(planned)]
    edge = "; and up to 6 runs for the edge" if tuned.edge else ""
    lines.append(
        f"  {tuned.stops} stops for a coverage of {tuned.coverage:g} at a confidence of {tuned.confidence:g}{edge}"
    )
    return "\n".join(lines)


def _plan_lines(planned: list[Trial]) -> Iterator[str]:
    for trial in dict.fromkeys(map(_key, planned)):
        count = sum(_key(each) == trial for each in planned)
        purpose, replicas, grace = trial
        value = "the value that's found" if purpose == "proof" else f"{grace} s"
        yield f"  {count} × {purpose:<11}  {replicas} instances, a grace of {value}"


def _key(trial: Trial) -> tuple[str, int, int]:
    return trial.purpose, trial.replicas, trial.grace_seconds


def dry_text(asked: Asked, tuned: Tuned) -> str:
    """The plan, and what the file alone tells; what would be refused before the first run is refused here, too."""
    order_of(asked, "tune", trials(tuned)[0].scenario, number=1)
    found = "\n".join(told_beforehand(asked.stack.file))
    return "\n\n".join([plan_text(tuned), *[found] * bool(found)])


def refuse_useless(tuned: Tuned) -> None:
    """Before minutes are spent: no stop can be measured to its end.

    Raises:
        UsageError: the generous grace is shorter than the longest request.
    """
    generous, longest = tuned.generous_seconds, tuned.brief.longest_seconds
    if generous is not None and tuned.declares_longest and generous <= longest:
        raise UsageError(
            f"--generous: {generous} s kill what the longest request of {longest:g} s holds up; give more than that, or"
            " leave it out"
        )


def refuse_unwritable(tuned: Tuned) -> None:
    """Before minutes are spent: the file can't be changed where it stands.

    Raises:
        StackError: it says where and why.
    """
    file = tuned.stack.file
    if not os.access(file, os.W_OK):
        raise StackError("can't be written; --write needs a file that may be changed", file=file)
    edited(read_exactly(file), edits(tuned.service, -1, ()), file)


def carry_out_all(recorder: Recorder, *, emit: str | None, write: bool) -> int:
    """All of a tune; gives the exit code."""
    tuning, broke = recorder.tuning, None
    click.echo(plan_text(recorder.tuned), err=True)
    try:
        tuning.run()
    except (Interrupted, SwarmtestError) as error:
        recorder.hold()
        tuning.end(error)
        broke = error
        if not recorder.folder.is_dir():
            raise
    try:
        _patch(recorder, write=write)
    except StackError as error:
        broke = broke or error
    if emit is not None and tuning.tune.recommendation is not None:
        tuning.note(emitted=EMITTERS[emit](tuning.tune.service, tuning.tune.recommendation))
    recorder.folder.mkdir(parents=True, exist_ok=True)
    report_tune(tuning.tune, recorder.folder)
    if broke is not None:
        raise broke
    return tuning.tune.exit_code


def _patch(recorder: Recorder, *, write: bool) -> None:
    """Works the patch out, and puts it into the file where that's asked and the value is proved.

    Raises:
        StackError: it can't be written.
    """
    tuned, tuning = recorder.tuned, recorder.tuning
    found = tuning.tune.recommendation
    if found is None:
        return
    file, problems = tuned.stack.file, list[str]()
    before = after = read_exactly(file)
    for edit in edits(tuned.service, found.grace_seconds, found.settings):
        try:
            after = edited(after, [edit], file)
        except StackError as error:
            problems.append(str(error))
    tuning.note(patch=diff(before, after, file), warnings=[*tuning.tune.warnings, *problems])
    if write and tuning.tune.outcome == "passed" and after != before:
        write_exactly(file, after)
        tuning.note(written=True)
