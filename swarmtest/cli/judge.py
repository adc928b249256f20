"""``swarmtest judge``: the verdicts of a run's folder, from what's in the folder alone."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def judge(folder: Path) -> int:
    """Judges the run in FOLDER again, from what's in the folder alone."""
    return judge_and_report(folder)


def judge_and_report(path: Path, broken_off: bool = False) -> int:
    """Writes all reports, and prints one; of a run that broke off before its first request, only the place."""
    from swarmtest.judge import judge_folder
    from swarmtest.reports import console, junit, markdown, write_document
    from swarmtest.store import open_run_folder

    folder = open_run_folder(path)
    document = judge_folder(folder.path)
    try:
        write_document(document, folder.verdicts)
        for name, report in (("junit.xml", junit), ("report.md", markdown)):
            with (folder.path / name).open("w", encoding="utf-8") as out:
                report.render(document, out)
    except OSError as error:  # a folder that's only to be read is no reason to keep the verdict back
        click.echo(f"swarmtest: the reports can't be written ({error}); judge a copy of {path} to have them", err=True)
    if broken_off and not document.losses.get("sent"):
        click.echo(f"nothing was sent, so there's nothing to judge; what was seen is in {path}")
    else:
        console.render(document, sys.stdout, folder=str(path))
    return document.exit_code
