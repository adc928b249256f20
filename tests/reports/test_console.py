"""The console report, against golden files. To make them anew: SWARMTEST_UPDATE_GOLDEN=1 pytest tests/reports"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from swarmtest.reports import CheckEntry, Document, console, markdown

Runs = dict[str, Callable[[], Document]]


class Terminal(io.StringIO):
    """A stream that says it's a terminal."""

    def isatty(self) -> bool:
        return True


def rendered(document: Document, width: int = 80, out: io.StringIO | None = None) -> str:
    out = out or io.StringIO()
    console.render(document, out, folder=f"runs/{document.run}", width=width)
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_a_run_looks_as_it_did(
    run_name: str, document: Document, width: int, golden: Callable[[str, str], None]
) -> None:
    golden(f"console-{run_name}-{width}.txt", rendered(document, width))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal_but_the_verdict(document: Document, width: int) -> None:
    *lines, _ = rendered(document, width).splitlines()
    assert max(map(len, lines)) <= width


def test_the_verdict_is_one_last_line_with_exit_code_and_folder(runs: Runs) -> None:
    last = rendered(runs["failed"](), width=40).splitlines()[-1]
    assert last == "failed · exit code 1 · 9 of 12 passed · runs/20261201T221440Z-rolling-ab12"


def test_without_a_terminal_there_is_no_escape_sequence(document: Document) -> None:
    assert "\x1b" not in rendered(document)


def test_a_terminal_gets_colours_of_its_own_palette_only(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    text = rendered(runs["failed"](), out=Terminal())
    assert "\x1b[32mpassed" in text
    assert "\x1b[1;31mfailed" in text
    assert ";5;" not in text
    assert not any(f"[{code}m" in text for code in (33, 37, 90, 93, 97))


def test_no_color_takes_the_colours_and_leaves_the_words(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    text = rendered(runs["failed"](), out=Terminal())
    assert "\x1b[3" not in text
    assert "31m" not in text
    assert "failed" in text


def test_an_output_that_is_not_unicode_gets_ascii(runs: Runs) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="iso-8859-1")
    console.render(runs["failed"](), out, width=80)
    out.flush()
    assert "7.30 +-0.10" in raw.getvalue().decode("ascii")


def test_ten_instances_are_spread_over_several_tables(runs: Runs) -> None:
    document = runs["passed"]()
    many = [
        msgspec.structs.replace(document.instances[0], id=f"{slot}abc", name=f"st_api.{slot}.{slot}abc", slot=slot)
        for slot in range(1, 11)
    ]
    text = rendered(msgspec.structs.replace(document, instances=many))
    assert text.count("T4 exited") == 3
    assert all(f"api.{slot} " in text or f"api.{slot}\n" in text for slot in range(1, 11))


def test_a_run_that_got_nowhere_still_has_a_report(runs: Runs) -> None:
    document = Document(
        version=1,
        run="x",
        outcome="interrupted",
        exit_code=130,
        scenario="rolling",
        stack="s.yml",
        engine={},
        settings={},
        checks=[],
        losses={},
        instances=[],
    )
    text = rendered(document)
    assert "No request was sent: nothing is proved." in text
    assert text.endswith("interrupted · exit code 130 · 0 of 0 passed · runs/x\n")


def test_a_run_that_did_not_come_to_its_end_says_with_what_the_command_ends(runs: Runs) -> None:
    """The document's own code is that of the verdict, by which `swarmtest judge` ends."""
    out = io.StringIO()
    console.render(runs["failed"](), out, folder="runs/x", width=80, ended="interrupted · exit code 130")
    assert out.getvalue().splitlines()[-1] == "failed · interrupted · exit code 130 · 9 of 12 passed · runs/x"


def test_markup_in_an_apps_words_is_only_text(runs: Runs) -> None:
    check = CheckEntry("kept_capacity", "failed", "[bold]x[/bold] :smile: [/nothing]", ["[red]"], "[link=x]y[/link]")
    text = rendered(msgspec.structs.replace(runs["passed"](), checks=[check]))
    assert "[bold]x[/bold] :smile: [/nothing]" in text
    assert "[link=x]y[/link]" in text


def test_long_evidence_is_cut_short_and_says_so(runs: Runs) -> None:
    check = CheckEntry("kept_capacity", "failed", "Too few.", [f"line {n}" for n in range(9)])
    assert "and 4 more in verdicts.json" in rendered(msgspec.structs.replace(runs["passed"](), checks=[check]))


def test_the_same_document_gives_the_same_bytes_in_any_time_zone(
    document: Document, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = rendered(document)
    monkeypatch.setenv("TZ", "Asia/Ho_Chi_Minh")
    assert rendered(document) == here


@pytest.mark.parametrize("report", [console, markdown])
def test_no_text_of_an_app_drives_the_terminal(report: ModuleType, runs: Runs) -> None:
    document, evil = runs["hurt"](), "\x1b]0;title\x07\x9b31m\u202e"
    checks = [CheckEntry("c", "failed", evil + "sentence", [evil + "evidence"], evil + "advice")]
    out = io.StringIO()
    report.render(msgspec.structs.replace(document, checks=checks, notes=[evil], scenario=evil), out)
    assert "title" in out.getvalue()
    assert not set("\x1b\x07\x9b\u202e") & set(out.getvalue())
