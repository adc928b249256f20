"""The report to send to each other: one file with the verdict, the timeline, the series and all settings.

It works offline, from a double click. Beside the document it needs the run's seconds and its requests, for the
dots; so it isn't made from the document alone.
"""

from __future__ import annotations

from typing import TextIO

from swarmtest.reports.html.page import fill
from swarmtest.reports.html.picture import Run, picture
from swarmtest.reports.html.sections import sections

__all__ = ["Run", "render"]


def render(run: Run, out: TextIO) -> None:
    """Writes the page."""
    out.write(fill("run.html.jinja", sections(run.document), drawn=picture(run)))
