"""A page of many requests is hardly larger than one of few, and leaves nothing out."""

from __future__ import annotations

import io
from pathlib import Path

from swarmtest.reports.html import render
from tests.reports.html.made_up import made_up
from tests.reports.html.test_html import Page

MEGABYTES = 1024 * 1024


def test_a_page_of_many_instances_and_requests_stays_small_and_draws_every_request(tmp_path: Path) -> None:
    run = made_up(60, 200_000, 4_000, tmp_path / "requests.parquet")
    out = io.StringIO()
    render(run, out)
    assert len(out.getvalue()) < 3 * MEGABYTES
    drawn = Page(out.getvalue()).drawn
    assert drawn["ok"]["count"] == 200_000  # type: ignore[index]
    assert sum(one[-1] for one in drawn["lost"]["crowd"]) == 4_000  # type: ignore[index]
    assert sum(run.seconds.all.ok) == 200_000
