"""Four ways of stopping an instance, as an article measured them, hold on a real engine, too (docs/stop-modes.md).

The bank's ledger is the oracle here as elsewhere: an order that was cut and is called finished was booked.
"""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from swarmtest.reports import Document, InstanceEntry, read_document
from swarmtest.reports.series import read_series
from swarmtest.reports.series.stop_modes import tried
from swarmtest.store import RunFolder
from tests.live.conftest import ROOT, Live, LiveRun, swarmtest_command
from tests.live.truth import assert_every_class_is_right

pytestmark = pytest.mark.live

STACK = "stacks/payment.yml"
ORDERS = 480
DETECTION_SECONDS = 1.5
"""A second from one probe to the next, and half a second until one has failed."""
SERIES_SECONDS = 25 * 60


def victims(document: Document) -> list[InstanceEntry]:
    """The two that were stopped, the first one first."""
    hurt = [instance for instance in document.instances if instance.hurts]
    return sorted(hurt, key=lambda instance: instance.hurts[0].began)


def assert_as_planned(document: Document) -> None:
    """All orders were sent, and each of two was stopped when the one after it was there and serving."""
    assert document.losses["sent"] == ORDERS
    assert document.exit_code == 0, [check for check in document.checks if check.outcome != "passed"]
    first, second = victims(document)
    for victim, others in ((first, 3), (second, 3)):
        begun = victim.hurts[0].began
        healthy = [mark for one in document.instances if (mark := one.marks["healthy"]) is not None]
        gone = [mark for one in document.instances if (mark := one.marks["exited"]) is not None and mark.at < begun]
        assert sum(mark.at < begun for mark in healthy) - len(gone) == others
    assert first.marks["exited"] is not None
    assert first.marks["exited"].at < second.hurts[0].began


def refused_in_time(document: Document) -> bool:
    """Whether each order that no handler saw was sent to one that was stopping, before its front door could know."""
    began = {victim.id: victim.hurts[0].began for victim in victims(document)}
    lost = [event for event in document.loss_events if event.loss in ("refused", "unserved", "gateway")]
    return all(
        event.instance in began and -0.5 <= (event.sent or 0.0) - began[event.instance] <= DETECTION_SECONDS + 0.2
        for event in lost
    )


def assert_kill_cuts(document: Document) -> None:
    """About all that ran on both is cut, and what was sent until the front door noticed is refused."""
    run = tried([document])[0]
    running = defaultdict(int)
    for event in document.loss_events:
        running[event.instance] += event.loss in ("cut", "cut_finished", "unknown")
    assert len(running) == 2
    assert all(8 <= count <= 32 for count in running.values()), running
    assert run.refused >= 1
    assert refused_in_time(document)
    assert max(run.stopped_ms) < 1500
    assert all(victim.exit_code == 137 for victim in victims(document))


def assert_term_refuses_and_cuts_none(document: Document) -> None:
    run = tried([document])[0]
    assert (run.cut, run.others) == (0, 0)
    assert run.refused >= 1
    assert refused_in_time(document)
    assert set(run.saw) == {"503"}, "the front door passes on that it was refused"
    assert all(1000 <= took <= 5000 for took in run.stopped_ms)


def assert_withdrawal_loses_nothing(document: Document) -> None:
    run = tried([document])[0]
    assert run.ok == run.sent
    assert all(2000 <= took <= 6000 for took in run.stopped_ms)


def assert_what_a_short_limit_cuts_is_finished(document: Document) -> None:
    run = tried([document])[0]
    assert run.cut == run.finished == run.sent - run.ok
    assert {event.instance for event in document.loss_events} <= {victim.id for victim in victims(document)}
    assert all(3000 <= took <= 6000 for took in run.stopped_ms)


FINDINGS = {
    "stop-by-kill": assert_kill_cuts,
    "stop-by-term": assert_term_refuses_and_cuts_none,
    "withdraw-then-term": assert_withdrawal_loses_nothing,
    "withdraw-then-term-1s": assert_what_a_short_limit_cuts_is_finished,
}


def orders_of(folder: RunFolder) -> list[tuple[int, str]]:
    return sorted((int(row["id"].rsplit("-", 1)[1]), row["path"]) for row in folder.read_requests())


def assert_finding(run: LiveRun, scenario: str) -> None:
    assert_as_planned(run.document)
    FINDINGS[scenario](run.document)
    assert_every_class_is_right(run)


@pytest.mark.repeats
@pytest.mark.parametrize("scenario", ["stop-by-kill", "stop-by-term", "withdraw-then-term"])
def test_a_way_of_stopping_loses_what_the_article_found(live: Live, scenario: str) -> None:
    run = live.once(STACK, "--scenario", scenario)
    assert_finding(run, scenario)
    first = live.once(STACK, "--scenario", "stop-by-kill")
    assert orders_of(run.folder) == orders_of(first.folder), "each run sends the same orders"


@pytest.mark.repeats
def test_a_limit_of_one_second_cuts_and_what_it_cuts_is_booked_all_the_same(live: Live) -> None:
    """Which orders are left after three seconds is chance: one run in ten has none that takes long enough."""
    for _ in range(3):
        run = live.again(STACK, "--scenario", "withdraw-then-term-1s")
        assert_finding(run, "withdraw-then-term-1s")
        if run.document.losses["cut_finished"]:
            return
    pytest.fail(f"nothing was cut in three runs: {run.explain()}")


@pytest.mark.repeats
def test_five_runs_of_each_way_agree_and_are_one_table(live: Live, tmp_path: Path) -> None:
    name = f"live-{os.getpid()}-modes"
    words = ("run", STACK, "--scenario", "stop-modes", "--name", name, "--out", str(tmp_path))
    done = subprocess.run(
        swarmtest_command(*words), cwd=ROOT, capture_output=True, text=True, timeout=SERIES_SECONDS, check=False
    )
    (folder,) = tmp_path.iterdir()
    members = read_series(folder).members
    documents = [read_document(folder / str(member.folder) / "verdicts.json") for member in members]
    assert [sum(one.scenario == scenario for one in documents) for scenario in FINDINGS] == [5, 5, 5, 5]
    for document in documents:
        assert_as_planned(document)
        FINDINGS[document.scenario](document)
    assert sum(one.losses["cut_finished"] for one in documents if one.scenario == "withdraw-then-term-1s")
    assert done.returncode == 0, done.stderr
    for run in tried(documents):
        assert run.way in done.stdout
