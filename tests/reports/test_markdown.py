"""Markdown for a pull request's comment."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import msgspec
import pytest

from swarmtest.reports import CheckEntry, Document, markdown
from tests.reports.doubtful import doubtful

Runs = dict[str, Callable[[], Document]]


def text_of(document: Document) -> str:
    out = io.StringIO()
    markdown.render(document, out)
    return out.getvalue()


def in_sight(text: str) -> str:
    """What's left when everything is folded."""
    return re.sub(r"<details>.*?</details>\n*", "", text, flags=re.DOTALL)


def test_a_run_looks_as_it_did(run_name: str, document: Document, golden: Callable[[str, str], None]) -> None:
    golden(f"markdown-{run_name}.md", text_of(document))


def test_a_passed_run_is_short_until_unfolded(runs: Runs) -> None:
    assert len(in_sight(text_of(runs["passed"]())).splitlines()) < 12


def test_what_is_not_passed_is_in_sight_failed_first(runs: Runs) -> None:
    document = runs["not_proved"]()
    failed = CheckEntry("zzz", "failed", "It broke.")
    text = in_sight(text_of(msgspec.structs.replace(document, checks=[*document.checks, failed])))
    assert text.index("`zzz`") < text.index("`drained_before_exit`")
    assert "`kept_capacity`" not in text


def test_words_of_an_app_break_neither_table_nor_page_and_call_nobody(runs: Runs) -> None:
    check = CheckEntry("kept_capacity", "failed", "a | b\n<script> @someone #12 `c | d` </details> stop_grace_period")
    text = in_sight(text_of(msgspec.structs.replace(runs["passed"](), checks=[check])))
    row = next(line for line in text.splitlines() if "kept_capacity" in line)
    assert row == (
        "| **failed** | `kept_capacity` | a \\| b &lt;script&gt; @<!-- -->someone \\#12 `c \\| d`"
        " &lt;/details&gt; stop_grace_period |"
    )


def test_each_fold_is_closed(document: Document) -> None:
    text = text_of(document)
    assert text.count("<details>") == text.count("</details>") > 0


def test_what_only_lacks_its_proof_is_not_said_to_be_lost(runs: Runs) -> None:
    text = text_of(doubtful(runs["passed"]()))
    assert "| 20 sent, 5 lost, 15 not proved |" in text
    assert "| kind | connection | sent | ok | unproved | lost | refused | unknown | p50 ms |" in text
    assert "| short | fresh | 20 | 0 | 15 | 5 | 2 | 18 |" in text


@pytest.mark.parametrize("how", ["was interrupted: SIGINT", "failed: the engine is gone"])
def test_a_run_that_did_not_come_to_its_end_says_so_below_its_heading_and_once(how: str, runs: Runs) -> None:
    document = msgspec.structs.replace(runs["not_proved"](), notes=[f"the run {how}", "another note"])
    text = text_of(document)
    assert text.splitlines()[2] == f"**The run {how}**"
    assert text.count(how) == 1
    assert "- another note" in text
