"""The same app behind four front doors: what's lost is decided by how soon the door learns of a stop.

Swarm announces two seconds before the signal. Reported by people whose proxies poll more rarely:
traefik/traefik #7886, #11252; whose proxies only probe: dotnet/aspnetcore #30387; whose proxies resolve
once: langgenius/dify #40448. `tests/live/test_gallery.py` holds verdicts and classes.
"""

from __future__ import annotations

import pytest

from tests.live.conftest import Live, LiveRun

pytestmark = pytest.mark.live


def noticed_after(run: LiveRun) -> list[float]:
    """Seconds from the announcement of each old instance to the last new request that reached it."""
    lives = [life for life in run.document.instances if life.generation == "old"]
    marks = [(life.marks["announced"], life.marks["last_new"]) for life in lives]
    assert marks
    assert all(told is not None and last is not None for told, last in marks), run.explain()
    return [last.at - told.at for told, last in marks if told is not None and last is not None]


def advice(run: LiveRun) -> str:
    return " ".join(run.document.advice)


@pytest.mark.repeats
def test_a_door_that_asks_dns_twice_a_second_hears_of_the_stop_before_the_app_does(live: Live) -> None:
    run = live.once("stacks/doors/dns-each-half-second.yml")
    assert run.exit_code == 0, run.explain()
    assert max(noticed_after(run)) < 1.0, run.explain()


@pytest.mark.repeats
def test_a_door_that_asks_dns_each_15_seconds_is_told_to_ask_more_often_and_nobody_to_wait_longer(live: Live) -> None:
    run = live.once("stacks/doors/dns-each-15-seconds.yml")
    assert max(noticed_after(run)) > 1.5, "it was only the closed listener that ended it"
    assert "16 s" in advice(run), run.explain()
    assert "grace" not in advice(run), run.explain()


def test_a_door_that_only_probes_hears_of_the_stop_after_the_listener_has_closed(live: Live) -> None:
    run = live.once("stacks/doors/probes-only.yml")
    assert max(noticed_after(run)) > 1.5, run.explain()
    assert "4 s" in advice(run), run.explain()
    assert "grace" not in advice(run), run.explain()


def test_a_door_that_resolves_once_goes_on_losing_when_the_rollout_is_over(live: Live) -> None:
    run = live.once("stacks/doors/resolves-once.yml")
    exits = [life.marks["exited"] for life in run.document.instances if life.generation == "old"]
    last_exit = max(mark.at for mark in exits if mark is not None)
    sent = {request["id"]: request["sent"] for request in run.folder.read_requests()}
    late = [event.id for event in run.document.loss_events if sent[event.id] > last_exit + 0.5]
    assert late, run.explain()  # traffic goes on for a second beyond the last exit
    assert "resolve" in advice(run), run.explain()
    assert "grace" not in advice(run), run.explain()
