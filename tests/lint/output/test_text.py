"""What a person reads: the same words in any width, with colours and without."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.lint import Finding, Severity, Target
from swarmtest.lint.linting import Linted
from swarmtest.lint.output import Report
from swarmtest.lint.output.text import Text
from tests.lint.output.reports import CLEAN, HOST_PORT, REPORT, SHORT_GRACE

IN_80_COLUMNS = """\
stacks/base.yml
       info     signal-path · unknown
       whether the image hands on the signal can't be told from here
       fix: look at its ENTRYPOINT: the exec form does

stacks/shop.yml
   14  error    start-first-host-port
       services.api.deploy.update_config.order
       the new task needs 8080/tcp on its node while the old one holds it, so it
       stays pending for ever
       fix: write order: stop-first (--fix does it)
   20  warning  short-grace · likely
       services.worker.stop_grace_period
       100% of the grace of 10 s may be used up: its own limit is 30 s, and
       after that what runs is killed
       fix: write stop_grace_period: 40s; or a shorter limit

a, b: c.yml
    3  error    can't be read
       services
       not valid YAML: mapping values are not allowed here

1 error, 1 warning, 1 info in 4 files, for swarm · 1 can't be read · 1 silenced
1 marked unknown: files can't tell, and what to look at is said there
--fix mends 1, --diff shows how
swarmtest lint --explain RULE says more of a rule
"""


def text(report: Report, width: int) -> str:
    return "".join(f"{line}\n" for line in Text(width, lambda text, _: text).lines(report))


def test_the_whole_in_80_columns() -> None:
    assert text(REPORT, 80) == IN_80_COLUMNS


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(width: int) -> None:
    def words(of: str) -> list[str]:
        return re.findall(r"\S+", of)

    found = text(REPORT, width)
    assert words(found) == words(IN_80_COLUMNS)
    assert max(len(line) for line in found.splitlines() if " " in line.strip()) <= width


@pytest.mark.parametrize("width", range(30, 100))
def test_no_line_ends_between_a_number_and_its_unit(width: int) -> None:
    assert not re.search(r"\d\n +s\b", text(REPORT, width))


def test_a_colour_is_put_around_whole_words_and_changes_none() -> None:
    coloured = list(Text(80, lambda text, what: f"<{what}>{text}</>").lines(REPORT))
    assert "   14  <error>error  </>  <rule>start-first-host-port</>" in coloured
    assert any(line.startswith("<error>1 error</>, <warning>1 warning</>, <info>1 info</> in") for line in coloured)
    assert re.sub(r"</?\w*>", "", "".join(f"{line}\n" for line in coloured)) == IN_80_COLUMNS


def test_a_clean_file_says_what_no_file_tells() -> None:
    assert text(CLEAN, 80) == (
        "nothing found in 1 file, for swarm\n"
        "what the app does with its requests no file can tell; swarmtest run finds out\n"
    )


def test_where_no_file_can_be_read_nothing_is_said_to_be_found() -> None:
    unread = Linted((Path("nope.yml"),), Target.SWARM, problem=StackError("no such file", file="nope.yml"))
    assert text(Report((unread,), Target.SWARM, Severity.ERROR), 80).endswith("\n\n1 file can't be read\n")
    both = text(Report((unread, *CLEAN.stacks), Target.SWARM, Severity.ERROR), 80)
    assert "nothing found in 2 files, for swarm · 1 can't be read\n" in both


def test_the_address_of_a_page_is_told_with_each_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swarmtest.lint.pages.PAGES_URL", "https://docs.example/lint/")
    assert "       https://docs.example/lint/short-grace.md\n" in text(REPORT, 80)
    assert "--explain" not in text(REPORT, 80)


@pytest.mark.parametrize("odd", ["\x1b[31m", "\r", "\a", "\x9b2J"])
def test_what_a_file_holds_does_nothing_to_the_terminal(odd: str) -> None:
    place = replace(HOST_PORT.place, key=(f"a{odd}b",), file=Path(f"a{odd}.yml"))
    finding = replace(HOST_PORT, effect=f"one{odd}two\nthree", fix=odd, place=place)
    stack = Linted((place.file,), Target.SWARM, (finding,), problem=StackError(odd, file=place.file, key=odd))
    printed = text(Report((stack,), Target.SWARM, Severity.ERROR), 80)
    assert all(line.isprintable() for line in printed.split("\n"))
    assert "two three\n" in printed


@pytest.mark.parametrize(("finding", "does"), [(HOST_PORT, True), (SHORT_GRACE, False)])
def test_what_fix_does_is_marked(finding: Finding, does: bool) -> None:
    lines = list(Text(80, lambda text, _: text).finding(finding))
    assert any("(--fix does it)" in line for line in lines) == does
