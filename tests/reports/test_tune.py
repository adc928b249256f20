"""The reports of a tune: what a person reads in a terminal, on the page, and in the document."""

from __future__ import annotations

import io
import re
from pathlib import Path

import msgspec
import pytest

from swarmtest.errors import RunFolderError
from swarmtest.reports.console import tune as console
from swarmtest.reports.html import tune as html
from swarmtest.reports.tune import (
    TUNE_FILE,
    BoundEntry,
    EdgeEntry,
    Recommendation,
    Setting,
    StopRow,
    SumEntry,
    Tried,
    Tune,
    TuneRun,
    read_tune,
    tables,
    write_tune,
)

STOPS = [
    StopRow(run, f"api.{n}", f"task{run}{n}", 60.0, 0.2, 3.0, 4.0 + n / 10, 0.2, 4.2 + n / 10, 0.01)
    for run in (2, 3, 4)
    for n in range(8)
]
TUNE = Tune(
    version=1,
    tune="20261130T104204Z-tune-api-ab12cd",
    stack="stacks/api.yml",
    service="api",
    seed=42,
    coverage=0.9,
    confidence=0.9,
    replicas=8,
    runs=[
        TuneRun("signal path", 30, 3, "run-1", "finished", None, "passed", 2153, 0, 0, 3, 0, 64.0),
        *(TuneRun("measure", 60, 8, f"run-{n}", "finished", None, "passed", 2641, 0, 0, 8, 0, 75.0) for n in (2, 3, 4)),
        TuneRun("proof", 12, 8, "run-5", "finished", None, "passed", 2641, 0, 0, 8, 0, 75.0),
    ],
    stops=[*STOPS, StopRow(1, "api.1", "task1", 30.0, why_not="made with a grace of 30 s")],
    signal_path=["3 of 3 stops ended by themselves, 4.7 to 5.0 s after the signal"],
    recommendation=Recommendation(
        grace_seconds=12,
        decided_by="the mechanism's sum",
        now_seconds=30.0,
        sum=SumEntry(3.0, "measured, to the close", 7.0, "planned", 0.2, 1.0, 11.2),
        bound=BoundEntry(24, 3, 22, 0.9, 0.9, 0.9202, 5.0),
        settings=[
            Setting("deploy.update_config.delay", "5s", False, "8s", "an old one is gone before the next ones go", 8),
            Setting("deploy.update_config.monitor", "60s", True, "20s", "as long as a new one takes to fail", 20),
            Setting("the app's own shutdown limit", None, False, "above 7 s, up to 8.0 s", "counted from the close"),
        ],
    ),
    proof="0 of 8 stops ended in SIGKILL, 0 of 2,641 requests were lost",
    edge=EdgeEntry([Tried(4, 8, 3), Tried(5, 8, 0)], 4, 5),
    warnings=["`docker stop` by hand knows nothing of it <script>"],
    ended="finished",
    outcome="passed",
    exit_code=0,
    patch="--- a/stacks/api.yml\n+++ b/stacks/api.yml\n-    stop_grace_period: 30s\n+    stop_grace_period: 12s\n",
    emitted="docker service update --stop-grace-period 12s STACK_api\n",
)


def on_the_console(tune: Tune, width: int = 110) -> str:
    out = io.StringIO()
    console.render(tune, out, width=width)
    return out.getvalue()


def on_the_page(tune: Tune) -> str:
    out = io.StringIO()
    html.render(tune, out)
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 80, 140])
def test_the_console_has_the_value_its_reasons_and_its_proof(width: int) -> None:
    text = " ".join(on_the_console(TUNE, width).split())
    assert (
        "3.0 s wait (measured, to the close) + 7.0 s longest request (planned) + 0.2 s closing + 1 s abort = 11.2 s"
        in text
    )
    assert "longest of 24 stops in 3 rollouts took 5.0 s, which covers 90 % of stops at a confidence of 92 %" in text
    assert "the mechanism's sum decides; whole seconds, rounded up: 12 s (the file says 30 s)" in text
    assert "killed with a grace of 4 s, and none with 5 s (4 s: 3 of 8 stops killed, 5 s: 0 of 8 stops killed)" in text
    assert "deploy.update_config.delay: 8s (now 5s)" in text
    assert "deploy.update_config.monitor: 60s may stay (20s or more)" in text
    assert "stop_grace_period: 12s, proved." in text
    assert "passed · exit code 0 · 20261130T104204Z-tune-api-ab12cd" in text
    assert all(len(line) <= width for line in on_the_console(TUNE, width).splitlines() if "exit code" not in line)


def test_only_stops_of_the_measuring_runs_count() -> None:
    proof = StopRow(5, "api.1", "task5", 12.0, stop_seconds=5.0)
    rows = tables.stop_rows(msgspec.structs.replace(TUNE, stops=[*TUNE.stops, proof]))
    assert [row[-1] for row in rows] == ["yes"] * 24 + ["made with a grace of 30 s", "no, proof"]


def test_the_console_has_a_bar_for_the_stops_that_count() -> None:
    text = on_the_console(TUNE)
    bars = re.findall(r"^ *([\d.]+)–([\d.]+) s +(\d+) +(█*)$", text, re.MULTILINE)
    assert sum(int(count) for *_, count, _ in bars) == 24
    assert all(bool(blocks) == (count != "0") for *_, count, blocks in bars)


def test_a_tune_that_found_another_cure_says_that_first() -> None:
    tune = msgspec.structs.replace(
        TUNE, cures=["make the stop signal reach the app"], recommendation=None, outcome="failed", exit_code=1, patch=""
    )
    for text in (on_the_console(tune), on_the_page(tune)):
        assert "make the stop signal reach the app" in text
        assert "A longer grace isn" in text
        assert "12s, proved" not in text


def test_one_without_a_value_says_what_is_missing() -> None:
    tune = msgspec.structs.replace(TUNE, recommendation=None, missing=["5 of 40 stops count"], outcome="not_proved")
    for text in (on_the_console(tune), on_the_page(tune)):
        assert "5 of 40 stops count" in text
        assert "No value is recommended" in text


def test_the_page_needs_nothing_else_and_runs_nothing_of_what_it_shows() -> None:
    page = on_the_page(TUNE)
    assert "<script>`" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", page)
    assert 'href="run-3/report.html"' in page
    assert page.count("<rect") == len(tables.histogram(STOPS))
    assert "+    stop_grace_period: 12s" in page


@pytest.mark.parametrize(
    ("seconds", "bars"),
    [
        ([], []),
        ([5.2], [(5.2, 1)]),
        ([3.0, 3.1, 5.0], [(3.0, 2), (3.2, 0), (5.0, 1)]),
        ([0.0, 120.0], [(0.0, 1), (120.0, 1)]),
        ([1.0] * 30, [(1.0, 30)]),
    ],
)
def test_the_histogram_has_every_stop_in_one_bar(seconds: list[float], bars: list[tuple[float, int]]) -> None:
    found = tables.histogram([StopRow(2, "api.1", "t", 60.0, stop_seconds=each) for each in seconds])
    assert sum(bar.count for bar in found) == len(seconds)
    assert len(found) <= tables.MOST_BARS
    by_low = {round(bar.low, 3): bar.count for bar in found}
    assert all(by_low.get(low) == count for low, count in bars), by_low


def test_the_document_is_written_whole_and_reads_back(tmp_path: Path) -> None:
    write_tune(TUNE, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [TUNE_FILE]
    assert read_tune(tmp_path) == TUNE


@pytest.mark.parametrize(
    ("text", "problem"),
    [("{", "not a tune"), ('{"version": 1}', "not a tune"), (None, "can't be read"), ("later", "version 2")],
)
def test_a_document_that_cant_be_read_is_named(tmp_path: Path, text: str | None, problem: str) -> None:
    if text == "later":
        write_tune(msgspec.structs.replace(TUNE, version=2), tmp_path)
    elif text is not None:
        (tmp_path / TUNE_FILE).write_text(text)
    with pytest.raises(RunFolderError, match=problem):
        read_tune(tmp_path)
