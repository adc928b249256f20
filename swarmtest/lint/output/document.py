"""For programs: JSON with a version of its own; ``docs/lint.md`` says what's in it."""

from __future__ import annotations

from typing import Any

from swarmtest.lint import Finding
from swarmtest.lint.linting import WORST_FIRST, Linted
from swarmtest.lint.output import Report
from swarmtest.lint.pages import page_url

DOCUMENT_VERSION = 1
"""Goes up when a key changes its meaning or goes away; new keys may come without."""


def document(report: Report, version: str) -> dict[str, Any]:
    """All of a report as JSON's own types.

    Arguments:
        version: of swarmtest.
    """
    counts = report.counts
    return {
        "version": DOCUMENT_VERSION,
        "swarmtest": version,
        "target": report.target.value,
        "fail_on": report.fail_on.value,
        "exit_code": report.exit_code,
        "counts": {
            **{severity.value: counts[severity] for severity in WORST_FIRST},
            "unknown": sum(stack.unknown for stack in report.stacks),
            "silenced": len(list(report.silenced)),
            "unreadable": sum(stack.problem is not None for stack in report.stacks),
        },
        "stacks": [_stack(stack) for stack in report.stacks],
    }


def _stack(stack: Linted) -> dict[str, Any]:
    problem = stack.problem
    return {
        "files": [str(file) for file in stack.files],
        "problem": None
        if problem is None
        else {
            "file": str(problem.file or stack.files[0]),
            "line": problem.line,
            "key": problem.key,
            "problem": problem.problem,
        },
        "broken": list(stack.broken),
        "findings": [_finding(finding) for finding in stack.findings],
        "silenced": [
            {**_finding(each.finding), "reason": each.reason, "allowed_in_line": each.line} for each in stack.silenced
        ],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    place, edit = finding.place, finding.edit
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "certainty": finding.certainty.value,
        "file": str(place.file),
        "line": place.line,
        "key": list(place.key),
        "effect": finding.effect,
        "fix": finding.fix,
        "edit": None if edit is None else {"key": list(edit.key), "value": edit.value},
        "page": page_url(finding.rule) or None,
    }
