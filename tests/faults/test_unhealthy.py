"""The health check of a bad release fails at the right time, in any stack's own terms."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swarmtest.engine import Pace
from swarmtest.errors import UsageError
from swarmtest.faults import Aim
from swarmtest.faults import unhealthy as module
from swarmtest.faults.unhealthy import NEVER, Unhealthy, passing_for
from tests.faults.deployment import FakeDeployment

PACE = Pace(3, 1, "start-first", 0.0, 5.0, 30.0, 2.5)


def health_of(fault: Unhealthy, deployment: FakeDeployment | None = None) -> dict[str, Any]:
    deployment = deployment or FakeDeployment()
    fault.hurt(deployment, Aim("api"))
    [(what, service, image, environment, health, command)] = deployment.done
    assert (what, service, image, environment, command) == ("release", "api", None, {}, None)
    return dict(health)


def test_a_release_that_is_never_healthy_has_a_check_that_cannot_be_started() -> None:
    health = health_of(Unhealthy("never"))
    assert health["test"] == NEVER
    assert (health["interval_seconds"], health["retries"], health["start_period_seconds"]) == (1.0, 1, 0.0)


def test_the_check_that_turns_bad_is_the_service_s_own_with_a_clock() -> None:
    health = health_of(Unhealthy("soon"))
    kind, text = health["test"]
    assert kind == "CMD-SHELL"
    assert text.startswith("/app/healthy || exit 1\n")
    assert "-lt 2 ]" in text
    assert health["start_period_seconds"] == 60.0, "an app that's slow to start fails no sooner than it passes"


def test_an_app_that_starts_very_slowly_has_a_longer_start_period() -> None:
    deployment = FakeDeployment()
    deployment.paced = replace(PACE, start_seconds=100.0)
    assert health_of(Unhealthy("late"), deployment)["start_period_seconds"] == 200.0


@pytest.mark.parametrize(("monitor", "seconds"), [(3.0, 1), (4.9, 1), (5.0, 2), (60.0, 2)])
def test_soon_is_within_the_monitor(monitor: float, seconds: int) -> None:
    assert Unhealthy("soon").passes_seconds(replace(PACE, monitor_seconds=monitor)) == seconds


def test_a_monitor_that_is_too_short_for_soon_is_refused() -> None:
    with pytest.raises(UsageError, match=r"monitor of 2\.5 s"):
        Unhealthy("soon").passes_seconds(replace(PACE, monitor_seconds=2.5))


@pytest.mark.parametrize(
    ("pace", "rollout"),
    [
        (PACE, 3 * 3.5 + 5 + 1),
        (replace(PACE, parallelism=2), 2 * 3.5 + 5 + 1),
        (replace(PACE, parallelism=0), 3.5 + 5 + 1),
        (replace(PACE, delay_seconds=10.0), 3 * 13.5 + 10 + 1),
        (replace(PACE, order="stop-first"), 3 * (3.5 + 32) + 5 + 1),
        (replace(PACE, order="stop-first", grace_seconds=600.0), 3 * (3.5 + 60) + 5 + 1),
        (replace(PACE, replicas=0), 5 + 1),
    ],
)
def test_late_is_after_the_whole_rollout(pace: Pace, rollout: float) -> None:
    assert pace.rollout_seconds == rollout
    assert rollout < (Unhealthy("late").passes_seconds(pace) or 0) < rollout + 4


def test_a_time_of_one_s_own_goes_before_what_is_derived() -> None:
    assert Unhealthy("late", after_seconds=7.5).passes_seconds(PACE) == 8


def test_what_was_derived_is_written_down_and_there_is_nothing_to_heal() -> None:
    deployment, fault = FakeDeployment(), Unhealthy("soon")
    assert fault.before(deployment, Aim("api")) == {"after_seconds": 2}
    assert Unhealthy("never").before(deployment, Aim("api")) == {"after_seconds": None}
    fault.heal(deployment, Aim("api"), {"after_seconds": 2})
    fault.heal(deployment, Aim("api"), {})
    assert deployment.done == []
    assert fault.settings() == {"way": "soon", "after_seconds": None}


def passes(text: str) -> bool:
    return subprocess.run(["/bin/sh", "-c", text], check=False, timeout=10).returncode == 0


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "_CLOCK", str(tmp_path / "first-pass"))
    return tmp_path / "first-pass"


def uptime(minus: int = 0) -> str:
    return str(int(float(Path("/proc/uptime").read_text().split()[0])) - minus)


@pytest.mark.parametrize(
    "own", [(), ("NONE",), ("CMD", "/bin/true"), ("CMD", "sh", "-c", "exit 0"), ("CMD-SHELL", "true # fine")]
)
def test_a_shell_passes_it_at_first_and_not_when_the_time_is_over(own: tuple[str, ...], clock: Path) -> None:
    text = passing_for(30, own)
    assert passes(text)
    assert abs(int(clock.read_text()) - int(uptime())) <= 2
    assert passes(text)
    clock.write_text(uptime(minus=30))
    assert not passes(text)


@pytest.mark.parametrize(
    "own", [("CMD", "/bin/false"), ("CMD-SHELL", "false"), ("CMD-SHELL", "exit 3"), ("CMD", "/no/such")]
)
def test_the_time_does_not_run_before_the_service_s_own_check_has_passed(own: tuple[str, ...], clock: Path) -> None:
    assert not passes(passing_for(30, own))
    assert not clock.exists()


def test_a_clock_that_cannot_be_kept_fails_from_the_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CLOCK", str(tmp_path / "no" / "folder" / "first-pass"))
    assert not passes(passing_for(30, ()))
