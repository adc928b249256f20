"""Annotations: GitHub's runner has to read each as one command."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from swarmtest.lint import Place, Severity, Target
from swarmtest.lint.linting import Linted
from swarmtest.lint.output import Report
from swarmtest.lint.output.github import annotation_lines
from tests.lint.output.reports import REPORT, SHORT_GRACE

COMMAND = re.compile(r"::(?P<name>error|warning|notice) (?P<properties>.*?)::(?P<message>.*)")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """As the runner reads a command (actions/runner, ``ActionCommand.cs``): split first, unescaped after."""
    match = COMMAND.fullmatch(line)
    assert match is not None
    properties = dict(part.split("=", 1) for part in match["properties"].split(","))

    def plain(text: str) -> str:
        for escaped, meant in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            text = text.replace(escaped, meant)
        return text

    return match["name"], {key: plain(value) for key, value in properties.items()}, plain(match["message"])


def test_each_finding_and_each_unreadable_file_is_a_command_at_its_place() -> None:
    found = [read(line) for line in annotation_lines(REPORT)]
    assert [(name, properties["file"], properties.get("line")) for name, properties, _ in found] == [
        ("notice", "stacks/base.yml", None),
        ("error", "stacks/shop.yml", "14"),
        ("warning", "stacks/shop.yml", "20"),
        ("error", "a, b: c.yml", "3"),
    ]


def test_a_message_has_the_key_the_effect_the_fix_and_the_page() -> None:
    name, properties, message = read(list(annotation_lines(REPORT))[2])
    assert name == "warning"
    assert properties["title"] == "short-grace (likely)"
    assert message.splitlines() == [
        "services.worker.stop_grace_period",
        SHORT_GRACE.effect,
        f"fix: {SHORT_GRACE.fix}",
        "more: swarmtest lint --explain short-grace",
    ]


@pytest.mark.parametrize(
    "text", ["50% of a, b: c", "one\ntwo\r\n::error::three", "%0A is no line", "::warning file=x::y"]
)
def test_what_a_file_holds_ends_no_command_and_begins_none(text: str) -> None:
    finding = replace(SHORT_GRACE, effect=text, place=Place(Path(text.replace("\n", " ").replace("\r", " ")), 1, ()))
    report = Report((Linted((Path("a.yml"),), Target.SWARM, (finding,)),), Target.SWARM, Severity.ERROR)
    (line,) = annotation_lines(report)
    assert "\n" not in line
    _, properties, message = read(line)
    assert properties["file"] == str(finding.place.file)
    assert message.startswith(text)
