"""What goes with a grace: warnings, other settings, the patch, and the same for others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from swarmtest.reports.tune import Recommendation
from swarmtest.stack import UpdatePolicy
from swarmtest.stack.syntax.editing import diff, edited
from swarmtest.tune.emit import EMITTERS
from swarmtest.tune.entries import entry_of
from swarmtest.tune.minds import warnings
from swarmtest.tune.recommend import Needs, recommend
from swarmtest.tune.settings import DELAY, MONITOR, edits
from tests.tune.stand_ins import STACK, stop, tuned

NEEDS = Needs(7.0, 7.1, 0.9, 0.9)


def recommendation(folder: Path, text: str = STACK) -> Recommendation:
    wanted = tuned(folder, text)
    found = recommend([stop(run=place % 3) for place in range(24)], NEEDS, wanted.brief.front_door)
    assert found is not None
    return entry_of(found, wanted)


def test_each_setting_says_what_it_is_now_and_whether_that_may_stay(tmp_path: Path) -> None:
    found = {each.key: each for each in recommendation(tmp_path).settings}
    assert (found[DELAY].now, found[DELAY].wanted, found[DELAY].fits) == ("5s", "8s", False)
    assert (found[MONITOR].now, found[MONITOR].wanted, found[MONITOR].fits) == ("15s", "20s", False)
    assert found["the app's own wait before it closes"].fits
    assert found["the app's own shutdown limit"].wanted == "above 7 s, up to 8.0 s"


def test_what_fits_stays_and_the_monitor_is_more_than_a_delay_that_stays(tmp_path: Path) -> None:
    text = STACK.replace("delay: 5s, monitor: 15s", "delay: 30s, monitor: 60s")
    assert [each.fits for each in recommendation(tmp_path, text).settings[:2]] == [True, True]
    text = STACK.replace("delay: 5s, monitor: 15s", "delay: 30s, monitor: 25s")
    assert [each.wanted for each in recommendation(tmp_path, text).settings[:2]] == ["8s", "31s"]


def test_an_app_that_closes_before_its_front_door_notices_is_told_to_wait(tmp_path: Path) -> None:
    found = recommendation(tmp_path, STACK.replace("detects: dns, within: 1s", "detects: probe, within: 4s"))
    wait = found.settings[2]
    assert (wait.fits, wait.wanted) == (False, "5 s at least")


def test_the_patch_changes_only_the_lines_that_it_means_to(tmp_path: Path) -> None:
    wanted, found = tuned(tmp_path), recommendation(tmp_path)
    after = edited(STACK, edits(wanted.service, found.grace_seconds, found.settings), Path("stack.yml"))
    changed = [line for line in diff(STACK, after, Path("stack.yml")).splitlines() if line[0] in "+-"][2:]
    assert changed == [
        "-    stop_grace_period: 30s",
        "+    stop_grace_period: 12s",
        "-      update_config: {order: start-first, parallelism: 1, delay: 5s, monitor: 15s}",
        "+      update_config: {order: start-first, parallelism: 1, delay: 8s, monitor: 20s}",
    ]


def test_nothing_is_patched_where_all_fits(tmp_path: Path) -> None:
    text = STACK.replace("30s", "12s").replace("delay: 5s, monitor: 15s", "delay: 8s, monitor: 20s")
    wanted, found = tuned(tmp_path, text), recommendation(tmp_path, text)
    assert edits(wanted.service, found.grace_seconds, found.settings) == []


def test_stop_first_beyond_sixty_seconds_is_warned_of(tmp_path: Path) -> None:
    """moby/swarmkit #3274."""
    service = tuned(tmp_path).service
    slow = replace(service, update=UpdatePolicy(order="stop-first"))
    assert any("update_config say" in line and "60 s" in line for line in warnings(slow, 61))
    assert not any("60 s" in line for line in warnings(slow, 60))
    assert not any("60 s" in line for line in warnings(service, 61))
    back = replace(service, rollback=UpdatePolicy(order="stop-first"))
    assert any("rollback_config" in line for line in warnings(back, 90))


def test_streams_are_said_to_have_no_part_in_it(tmp_path: Path) -> None:
    service = tuned(tmp_path).service
    assert any(
        line.startswith("chat, feed: how long streams stay open") for line in warnings(service, 12, ["chat", "feed"])
    )
    assert not any("streams" in line for line in warnings(service, 12))


def test_a_stop_by_hand_and_compose_are_always_warned_of(tmp_path: Path) -> None:
    words = " ".join(warnings(tuned(tmp_path).service, 30))
    assert "docker stop -t 30" in words
    assert "Compose" in words
    assert "next replacement" not in words, "a value that stays comes with no update"
    assert "made with 30 s" in " ".join(warnings(tuned(tmp_path).service, 12))


@pytest.mark.parametrize("kind", ["kubernetes", "compose"])
def test_what_is_emitted_can_be_read(tmp_path: Path, kind: str) -> None:
    tree = yaml.safe_load(EMITTERS[kind]("api", recommendation(tmp_path)))
    if kind == "compose":
        assert tree == {"services": {"api": {"stop_grace_period": "12s"}}}
        return
    pod = tree["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] == 14, "preStop is part of the grace there"
    (container,) = pod["containers"]
    assert container["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "2"]
    assert container["readinessProbe"] == {"periodSeconds": 3, "failureThreshold": 1}


def test_the_command_for_a_running_service_has_what_doesnt_fit(tmp_path: Path) -> None:
    said = EMITTERS["service-update"]("api", recommendation(tmp_path))
    assert said == "docker service update --stop-grace-period 12s --update-delay 8s --update-monitor 20s STACK_api\n"
