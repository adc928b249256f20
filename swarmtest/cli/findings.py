"""Findings on standard output: in one of four forms, and for a terminal in colours."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from swarmtest.lint.output import Format, Report, faults

WIDTH_OF_A_LOG = 100
WIDEST = 120
"""Columns; longer lines are hard to read, however wide a terminal is."""

_COLOURS: Mapping[str, Mapping[str, Any]] = {
    "file": {"bold": True, "underline": True},
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow"},
    "info": {"fg": "blue"},
    "rule": {"bold": True},
    "key": {"dim": True},
    "fix": {"fg": "green"},
}


def show(report: Report, form: Format) -> None:
    """Prints a report; what's swarmtest's own fault goes to standard error."""
    match form:
        case Format.TEXT:
            from swarmtest.lint.output.text import Text

            paint = _painted if _has_colours() else _plain
            echo("\n".join(Text(_width(), paint).lines(report)))
        case Format.JSON:
            from swarmtest.lint.output.document import document

            echo(_json(document(report, _version())))
        case Format.SARIF:
            from swarmtest.lint.linting import all_rules
            from swarmtest.lint.output.sarif import sarif

            echo(_json(sarif(report, all_rules(), _version())))
        case Format.GITHUB:
            from swarmtest.lint.output.github import annotation_lines
            from swarmtest.lint.output.text import Text

            echo("\n".join([*annotation_lines(report), *Text(WIDTH_OF_A_LOG, _plain).closing(report)]))
    for fault in faults(report):
        click.echo(f"swarmtest: error: {fault}", err=True)


def echo(text: str) -> None:
    """Prints at once, with the colours that are in it."""
    click.echo(text, color=True, nl=bool(text))


def _width() -> int:
    return min(shutil.get_terminal_size((WIDTH_OF_A_LOG, 24)).columns, WIDEST)


def _has_colours() -> bool:
    """As no-color.org has it; FORCE_COLOR is for logs that show colours."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def _painted(text: str, what: str) -> str:
    styled = click.style(text, **_COLOURS[what])
    return _linked(styled, text) if what == "rule" and sys.stdout.isatty() else styled


def _linked(styled: str, rule: str) -> str:
    """The name of a rule as a link to its page (OSC 8); a terminal that knows none shows the name alone."""
    from swarmtest.lint import pages

    address = pages.page_url(rule) or (pages.folder() / f"{rule}.md").as_uri()
    return f"\x1b]8;;{address}\x1b\\{styled}\x1b]8;;\x1b\\"


def _plain(text: str, _what: str) -> str:
    return text


def _json(value: dict[str, Any]) -> str:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _version() -> str:
    """Of swarmtest; a checkout that isn't installed has none."""
    import importlib.metadata

    try:
        return importlib.metadata.version("swarmtest")
    except importlib.metadata.PackageNotFoundError:
        return "0"


MOST_BEFOREHAND = 4
"""So many findings are told before a run: it isn't what was asked for."""


def told_beforehand(file: Path) -> tuple[str, ...]:
    """The errors and warnings of a stack file in a few lines, the worst first, for a run to show before it deploys.

    Nothing that goes wrong here is of any weight for a run, and nothing is raised.
    """
    from swarmtest.lint import Severity, Target
    from swarmtest.lint.linting import WORST_FIRST, try_to_lint

    found = try_to_lint([file], Target.SWARM, os.environ).findings
    bad = sorted(
        (each for each in found if each.severity is not Severity.INFO),
        key=lambda each: WORST_FIRST.index(each.severity),
    )
    lines = [
        f"lint: {each.place.file}:{each.place.line or 1}: {each.severity}: {'.'.join(each.place.key)}: {each.effect}"
        f" [{each.rule}]"
        for each in bad[:MOST_BEFOREHAND]
    ]
    if bad:
        rest = f"{len(bad) - MOST_BEFOREHAND:,} more; " if len(bad) > MOST_BEFOREHAND else ""
        lines.append(f"lint: {rest}swarmtest lint {file} says what to do about it")
    return tuple(lines)
