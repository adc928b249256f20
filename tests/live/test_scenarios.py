"""Each scenario passes on the reference stack, and on a stack that's made to fail it fails as the header says.

Once for each mechanism always; all of them, and five times, with the long repeats.
"""

from __future__ import annotations

import os
import time

import pytest

from tests.live.conftest import ROOT, Live, LiveRun, docker, ours
from tests.live.headers import assert_as_promised, read_header, stacks
from tests.live.test_bad_input import message, refused
from tests.live.truth import assert_every_class_is_right

pytestmark = pytest.mark.live

FAILING = [path for path in stacks("broken") if read_header(ROOT / path).scenario is not None]
ONCE = (
    "stacks/broken/closes-at-once.yml",
    "stacks/broken/front-door-never-probes.yml",
    "stacks/broken/health-asks-the-bank.yml",
    "stacks/broken/release-never-healthy.yml",
)
"""One for each mechanism that the gallery of rollouts doesn't show."""
REPEATS = 5

PASSED = (
    "baseline",
    "burst",
    "crash-loop",
    "dependency",
    "forced-termination",
    "freeze",
    "kill",
    "kill-two",
    "overlong-shutdown",
    "release",
    "reload",
    "rollback",
    "rolling",
    "scale-in",
    "scale-out",
    "slow-shutdown",
    "start-first",
    "stop",
    "stop-first",
    "unhealthy",
    "unhealthy-late",
    "unhealthy-soon",
)
"""What the reference stack passes."""


def run_of(live: Live, path: str) -> LiveRun:
    return live.once(path, *read_header(ROOT / path).flags)


@pytest.mark.parametrize("path", ONCE)
def test_a_scenario_fails_on_a_stack_that_is_made_to_fail_it(live: Live, path: str) -> None:
    run = run_of(live, path)
    assert_as_promised(run, read_header(ROOT / path))
    assert_every_class_is_right(run)


def update_state(service: str) -> str:
    """How the update ended; the CLI may have come back while the rollback's monitor time still runs."""
    deadline = time.monotonic() + 60
    while True:
        state = docker("service", "inspect", "--format", "{{.UpdateStatus.State}}", service).strip()
        if state not in ("updating", "rollback_started") or time.monotonic() > deadline:
            return state
        time.sleep(0.2)


def remove(service: str) -> None:
    """Removes a service, and waits for its containers: `docker service rm` comes back while they're still stopping."""
    docker("service", "rm", service)
    deadline = time.monotonic() + 60
    while left := docker("ps", "--all", "--quiet", "--filter", f"label=com.docker.swarm.service.name={service}"):
        assert time.monotonic() < deadline, f"containers of {service} were left: {left}"
        time.sleep(0.2)


def test_a_bad_release_is_a_failure_though_all_that_docker_says_is_well(live: Live) -> None:
    """The docker CLI ends with 0 after a rollback: docker/cli #6752."""
    name = f"live-{os.getpid()}-cli"
    health = ("--health-cmd", "/app/healthy", "--health-interval", "1s", "--health-retries", "3")
    update = ("--update-order", "start-first", "--update-monitor", "1s", "--update-failure-action", "rollback")
    try:
        docker("service", "create", "--quiet", "--replicas", "3", "--name", name, *health, *update, "swarmtest-api:1")
        docker("service", "update", "--quiet", "--env-add", "NEVER_HEALTHY=1", name)  # raises unless it exits with 0
        state = update_state(name)
        replicas = docker("service", "ls", "--filter", f"name={name}", "--format", "{{.Replicas}}").strip()
    finally:
        remove(name)
    assert (state, replicas) == ("rollback_completed", "3/3")
    run = run_of(live, "stacks/broken/release-never-healthy.yml")
    assert run.document.outcome == "failed"
    found = next(check for check in run.document.checks if check.name == "replaced_every_instance")
    assert "rolled back" in found.sentence, run.explain()
    assert any(line.startswith("lost before the rollback began: ") for line in found.evidence), run.explain()


def test_the_only_node_is_not_drained(live: Live) -> None:
    """Nothing could be placed anywhere: moby/moby #34139."""
    done = refused("stacks/api.yml", "--scenario", "drain")
    assert done.returncode == 2
    assert "node" in message(done)
    assert "kill" in message(done), "what to run in its place"
    assert ours() == []


@pytest.mark.repeats
@pytest.mark.parametrize("path", FAILING)
def test_five_runs_of_a_scenario_agree(live: Live, path: str) -> None:
    header = read_header(ROOT / path)
    for _ in range(REPEATS):
        run = live.again(path, *header.flags)
        assert_as_promised(run, header)
        assert_every_class_is_right(run)


@pytest.mark.repeats
@pytest.mark.parametrize("scenario", PASSED)
def test_the_reference_stack_passes(live: Live, scenario: str) -> None:
    run = live.once("stacks/api.yml", "--scenario", scenario)
    assert run.failed() == set(), run.explain()
    assert run.exit_code == 0, run.explain()
    assert_every_class_is_right(run)
