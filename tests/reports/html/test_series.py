from __future__ import annotations

import io

import msgspec
import pytest

from swarmtest.reports import CheckEntry
from swarmtest.reports.html import series as html
from tests.reports.html.test_html import EVIL, Page
from tests.reports.series.samples import SAMPLES, Sample, mixed


def text_of(sample: Sample) -> str:
    out = io.StringIO()
    html.render(*sample, out)
    return out.getvalue()


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_series_has_a_row_with_a_link_for_each_run_that_has_a_folder(name: str) -> None:
    series, documents = SAMPLES[name]()
    page = Page(text_of((series, documents)))
    links = {attrs.get("href") for tag, attrs in page.elements if tag == "a"}
    for member in series.members:
        assert member.scenario in page.text
        if member.folder is not None:
            assert f"{member.folder}/report.html" in links
    assert page.open == []


def test_what_is_not_passed_is_told_run_by_run_with_its_evidence() -> None:
    series, documents = mixed()
    page = Page(text_of((series, documents)))
    checks = [check for document in documents if document is not None for check in document.checks]
    for check in checks:
        assert (check.sentence in page.text) == (check.outcome != "passed"), check
    for note in series.notes:
        assert note in page.text


def test_the_checklist_is_shown_line_by_line() -> None:
    series, documents = mixed()
    page = Page(text_of((series, documents)))
    assert series.checklist
    for line in series.checklist:
        assert line.text in page.text


def test_no_text_becomes_markup() -> None:
    series, documents = mixed()
    first = documents[0]
    assert first is not None
    evil = msgspec.structs.replace(first, checks=[CheckEntry(EVIL, "failed", EVIL, [EVIL], EVIL)])
    member = msgspec.structs.replace(series.members[0], scenario=EVIL, folder=EVIL, error=EVIL)
    changed = msgspec.structs.replace(
        series, asked=EVIL, stack=EVIL, notes=[EVIL], members=[member, *series.members[1:]]
    )
    page = Page(text_of((changed, [evil, *documents[1:]])))
    assert page.open == []
    assert len(page.scripts) == 1
    assert "img" not in {tag for tag, _ in page.elements}
