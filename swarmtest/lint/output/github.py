"""For the log of a GitHub workflow: each finding a command that puts it beside the line of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.linting import Linted
from swarmtest.lint.output import Report
from swarmtest.lint.pages import page_hint

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def annotation_lines(report: Report) -> Iterator[str]:
    """A command for each finding, and for each file that can't be read."""
    for stack in report.stacks:
        yield from _problem(stack)
        for finding in stack.findings:
            yield _annotation(finding)


def _annotation(finding: Finding) -> str:
    sure = "" if finding.certainty is Certainty.CERTAIN else f" ({finding.certainty})"
    key = ".".join(finding.place.key)
    message = "\n".join([*[key] * bool(key), finding.effect, f"fix: {finding.fix}", f"more: {page_hint(finding.rule)}"])
    return _command(
        _COMMANDS[finding.severity], str(finding.place.file), finding.place.line, finding.rule + sure, message
    )


def _problem(stack: Linted) -> Iterator[str]:
    if (problem := stack.problem) is not None:
        message = f"{problem.key}: {problem.problem}" if problem.key else problem.problem
        yield _command("error", str(problem.file or stack.files[0]), problem.line, "can't be read", message)


def _command(name: str, file: str, line: int | None, title: str, message: str) -> str:
    place = [f"file={_property(file)}", *[f"line={line}"] * bool(line), f"title={_property(title)}"]
    return f"::{name} {','.join(place)}::{_data(message)}"


def _data(text: str) -> str:
    """As actions/toolkit escapes a message (``packages/core/src/command.ts``): it ends with its line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Likewise a property, which a comma or a colon ends, too."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
