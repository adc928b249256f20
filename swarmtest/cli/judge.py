"""``swarmtest judge``: the verdicts of a run or a series, from what's in the folder alone."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from swarmtest.losses.table import Told
    from swarmtest.reports import Document
    from swarmtest.reports.series import Series
    from swarmtest.reports.tune import Tune


@click.command(short_help="Judges an old run again, from its folder alone.")
@click.argument("folder", type=click.Path(path_type=Path))
def judge(folder: Path) -> int:
    """Judges the run or the series in FOLDER again, from what's in the folder alone; tells of a tune again."""
    from swarmtest.judge import as_written
    from swarmtest.reports.series import SERIES_FILE
    from swarmtest.reports.tune import TUNE_FILE, read_tune

    with as_written(folder):
        if (folder / SERIES_FILE).is_file():
            return _judge_series(folder)
        if (folder / TUNE_FILE).is_file():
            return report_tune(read_tune(folder), folder)
        return judge_and_report(folder)


def judge_and_report(path: Path, broken_off: bool = False, ended: str = "") -> int:
    """Writes all reports, and prints one; of a run that broke off before its first request, only the place.

    Arguments:
        ended: how the command ends, where that isn't by the verdict: ``interrupted · exit code 130``.
    """
    from swarmtest.judge import judged_folder
    from swarmtest.reports import console

    with judged_folder(path) as (document, requests):
        write_reports(document, requests, path)
    if broken_off and not document.losses.get("sent"):
        click.echo(f"nothing was sent, so there's nothing to judge; what was seen is in {path}")
    else:
        console.render(document, sys.stdout, folder=str(path), ended=ended)
    return document.exit_code


def write_reports(document: Document, requests: Told, path: Path) -> None:
    """Puts the document, the seconds and the reports into the run's folder."""
    from swarmtest.judge.seconds import count_seconds, write_seconds
    from swarmtest.reports import html, junit, markdown, write_document
    from swarmtest.store import RunFolder

    folder = RunFolder(path)
    seconds = count_seconds(requests, document)
    try:
        write_document(document, folder.verdicts)
        write_seconds(seconds, path)
        for name, report in (("junit.xml", junit), ("report.md", markdown)):
            with (path / name).open("w", encoding="utf-8") as out:
                report.render(document, out)
        with (path / "report.html").open("w", encoding="utf-8") as out:
            html.render(html.Run(document, seconds, requests), out)
    except OSError as error:  # a folder that's only to be read is no reason to keep the verdict back
        _say_unwritten(error, path)


def _judge_series(folder: Path) -> int:
    from swarmtest.judge.series import judge_series

    series, documents = judge_series(folder, write_reports)
    return report_series(series, documents, folder)


def report_series(series: Series, documents: Sequence[Document | None], folder: Path) -> int:
    """Puts the series' document and its reports into its folder, and prints one."""
    from swarmtest.reports.console import series as console
    from swarmtest.reports.html import series as html
    from swarmtest.reports.series import junit, markdown, write_series

    try:
        write_series(series, folder)
        for name, report in (("junit.xml", junit), ("report.md", markdown), ("report.html", html)):
            with (folder / name).open("w", encoding="utf-8") as out:
                report.render(series, documents, out)
    except OSError as error:
        _say_unwritten(error, folder)
    console.render(series, documents, sys.stdout, folder=str(folder))
    return series.exit_code


def report_tune(tune: Tune, folder: Path) -> int:
    """Puts the document of a tune and its page into its folder, and prints it."""
    from swarmtest.reports.console import tune as console
    from swarmtest.reports.html import tune as html
    from swarmtest.reports.tune import write_tune

    try:
        write_tune(tune, folder)
        with (folder / "report.html").open("w", encoding="utf-8") as out:
            html.render(tune, out)
    except OSError as error:
        _say_unwritten(error, folder)
    console.render(tune, sys.stdout, folder=str(folder))
    return tune.exit_code


def _say_unwritten(error: OSError, folder: Path) -> None:
    click.echo(f"swarmtest: the reports can't be written ({error}); judge a copy of {folder} to have them", err=True)
