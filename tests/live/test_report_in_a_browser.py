"""The HTML report in a real browser, where there is one: its scripts run, draw, and let nothing else run.

What the page consists of is tested without one, in tests/reports/html.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from swarmtest.reports.html import Run, render
from tests.reports.html.made_up import made_up
from tests.reports.html.test_html import EVIL

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = [pytest.mark.live, pytest.mark.skipif(BROWSER is None, reason="no Chromium here")]

FORBIDDEN = "<script>document.title = 'ran'</script>"


def dom_of(page: Path, profile: Path) -> str:
    """The page's elements once its scripts have run."""
    command = (
        str(BROWSER), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
        "--virtual-time-budget=5000", "--dump-dom", page.as_uri(),
    )  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def written(run: Run, path: Path, addition: str = "") -> Path:
    with path.open("w", encoding="utf-8") as out:
        render(run, out)
        out.write(addition)
    return path


def test_the_scripts_draw_timeline_legend_and_curves(tmp_path: Path) -> None:
    dom = dom_of(written(made_up(3, 2_000, 60, tmp_path / "r.parquet"), tmp_path / "page.html"), tmp_path / "profile")
    assert re.search(r'<output id="stretch"[^>]*>[−+\d. s]+ to ', dom)
    assert len(re.findall(r'class="uplot', dom)) == 5
    assert "ok 2,000" in dom
    assert "cut finished 12" in dom


def test_a_page_of_a_million_requests_opens(tmp_path: Path) -> None:
    run = made_up(60, 1_000_000, 30_000, tmp_path / "r.parquet")
    page = written(run, tmp_path / "page.html")
    assert page.stat().st_size < 8_000_000
    assert "ok 1,000,000" in dom_of(page, tmp_path / "profile")


def test_a_script_that_got_into_the_page_does_not_run(tmp_path: Path) -> None:
    run = made_up(1, 100, 3, tmp_path / "r.parquet")
    events = [msgspec.structs.replace(event, why=EVIL, kind=EVIL) for event in run.document.loss_events]
    document = msgspec.structs.replace(run.document, loss_events=events, notes=[EVIL], stack=EVIL)
    page = written(Run(document, run.seconds, run.requests), tmp_path / "page.html", addition=FORBIDDEN)
    dom = dom_of(page, tmp_path / "profile")
    assert FORBIDDEN in dom
    assert "<title>ran</title>" not in dom
    assert "ok 100" in dom
