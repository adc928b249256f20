"""For code scanning: SARIF 2.1.0, with what GitHub reads of it.

What comments in the files silence is left out: GitHub shows it as open alerts, whatever ``suppressions`` says
(github/codeql-action #1230).
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from swarmtest.errors import StackError
from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.output import Report, faults
from swarmtest.lint.pages import page_text, page_url
from swarmtest.lint.rules import Rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PRECISION = {Certainty.CERTAIN: "very-high", Certainty.LIKELY: "high", Certainty.UNKNOWN: "low"}


def sarif(report: Report, rules: Sequence[Rule], version: str) -> dict[str, Any]:
    """All of a report as JSON's own types.

    Arguments:
        rules: all there are, with or without findings.
        version: of swarmtest.
    """
    places = {rule.name: index for index, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "swarmtest", "version": version, "rules": [_rule(rule) for rule in rules]}},
                "columnKind": "unicodeCodePoints",
                "automationDetails": {"id": f"swarmtest-lint/{report.target}/"},
                "invocations": [_invocation(report)],
                "results": [_result(finding, places[finding.rule], seen) for finding in report.findings],
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": rule.name,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
    }
    if page := page_text(rule.name):
        described["help"] = {"text": page, "markdown": page}
    if url := page_url(rule.name):
        described["helpUri"] = url
    return described


def _result(finding: Finding, index: int, seen: Counter[str]) -> dict[str, Any]:
    key = ".".join(finding.place.key)
    said = f"{finding.place.file}\0{finding.rule}\0{key}"
    seen[said] += 1
    fingerprint = f"{hashlib.sha256(said.encode()).hexdigest()[:16]}:{seen[said]}"
    text = f"{key}: {finding.effect}" if key else finding.effect
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{text}. Fix: {finding.fix}"},
        "locations": [_location(finding.place.file, finding.place.line, key)],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
        "properties": {"certainty": finding.certainty.value, "precision": _PRECISION[finding.certainty]},
    }


def _invocation(report: Report) -> dict[str, Any]:
    problems = [_notification(stack.problem, stack.files[0]) for stack in report.stacks if stack.problem is not None]
    broken = [{"level": "error", "message": {"text": fault}} for fault in faults(report)]
    return {
        "executionSuccessful": not problems and not broken,
        "exitCode": report.exit_code,
        "toolExecutionNotifications": problems + broken,
    }


def _notification(problem: StackError, file: Path) -> dict[str, Any]:
    place = Path(problem.file) if problem.file is not None else file
    return {
        "level": "error",
        "message": {"text": f"can't be read: {problem.problem}"},
        "locations": [_location(place, problem.line, problem.key or "")],
    }


def _location(file: Path, line: int | None, key: str) -> dict[str, Any]:
    physical = {"artifactLocation": _artifact(file), "region": {"startLine": line or 1}}
    return {"physicalLocation": physical, **({"logicalLocations": [{"fullyQualifiedName": key}]} if key else {})}


def _artifact(file: Path) -> dict[str, str]:
    """As GitHub wants it: seen from the folder that's the repository's, where swarmtest was called."""
    path = Path(os.path.relpath(file)) if file.is_absolute() and file.is_relative_to(Path.cwd()) else file
    if path.is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(path.as_posix()), "uriBaseId": "%SRCROOT%"}
