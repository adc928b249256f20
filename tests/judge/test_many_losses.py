"""However many requests are lost, the document stays small, and every count in every report is of all of them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from swarmtest.cli.judge import judge_and_report
from swarmtest.judge import document as composing
from swarmtest.judge.seconds import read_seconds
from swarmtest.reports import Document, console, junit, markdown, read_document
from tests.judge.builder import Rollout
from tests.judge.test_judge import folder_of
from tests.reports.html.test_html import Page

LOST, RARE, LISTED = 40, 1, 6


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that lost many requests in one way and, last of all, one in another; the document has room for few."""
    monkeypatch.setattr(composing, "MOST_EVENTS", LISTED)
    run = Rollout()
    for n in range(LOST):
        at = 3.0 + n / 100
        run.request(f"lost-{n}", at, at + 0.4, run.old[0], client_outcome="closed_unanswered", status=None,
                    instance=None)  # fmt: skip
    run.request("rare", 3.9, 4.0, run.old[0], client_outcome="timed_out", status=None, instance=None)
    path = folder_of(run, tmp_path / "run")
    judge_and_report(path)
    return path


def text_of(report: object, document: Document) -> str:
    out = io.StringIO()
    report.render(document, out)  # type: ignore[attr-defined]
    return out.getvalue()


def test_a_document_lists_the_first_of_each_class_and_says_how_many_are_left_out(folder: Path) -> None:
    document = read_document(folder / "verdicts.json")
    assert len(document.loss_events) == LISTED
    assert document.loss_events_left_out == LOST + RARE - LISTED
    assert document.loss_events[-1].id == "rare"
    assert sum(group.count for group in document.loss_groups) == LOST + RARE
    assert document.losses["sent"] - document.losses["ok"] == LOST + RARE == document.proof["lost"]


def test_the_seconds_count_those_that_are_left_out(folder: Path) -> None:
    document, seconds = read_document(folder / "verdicts.json"), read_seconds(folder)
    assert sum(seconds.all.ok) == document.losses["ok"]
    assert sum(map(sum, seconds.all.lost.values())) == LOST + RARE


def test_the_page_draws_those_that_are_left_out_and_says_where_they_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swarmtest.reports.html.tables.MOST_LISTED", 3)
    monkeypatch.setattr("swarmtest.reports.html.dots.MOST_TOLD", LISTED)
    judge_and_report(folder)
    document, page = read_document(folder / "verdicts.json"), Page((folder / "report.html").read_text())
    drawn = json.loads(page.scripts[0])
    assert drawn["ok"]["count"] == document.losses["ok"]
    assert sum(one[-1] for one in drawn["lost"]["crowd"]) == drawn["lost"]["count"] == LOST + RARE
    left_out = LOST + RARE - LISTED
    assert f"{LOST + RARE - 3} more are in verdicts.json , but for {left_out} that only" in page.text


def test_reports_count_and_charge_those_that_are_left_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junit, "IDS_LISTED", 5)
    document = read_document(folder / "verdicts.json")
    for report in (console, junit, markdown):
        assert "more; verdicts.json has 6 of all 41" in " ".join(text_of(report, document).replace("`", "").split()), (
            report.__name__
        )
    assert f"charged to front door {LOST}" in text_of(console, document)


def test_a_document_with_room_for_all_leaves_none_out(tmp_path: Path) -> None:
    run = Rollout()
    run.request("lost", 3.0, 3.4, run.old[0], client_outcome="closed_unanswered", status=None, instance=None)
    path = folder_of(run, tmp_path / "run")
    judge_and_report(path)
    document = read_document(path / "verdicts.json")
    assert (len(document.loss_events), document.loss_events_left_out) == (1, 0)
