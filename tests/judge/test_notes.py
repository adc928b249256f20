"""Notes: what a person should know beside the verdicts."""

from __future__ import annotations

import pytest

from tests.judge.builder import Rollout


def refused(*, later: bool = False, died: float | None = None, target: str = "127.0.0.1:8080") -> list[str]:
    """The notes of a run whose door refuses everybody from 2 s before T0 on, unless something is answered later."""
    run = Rollout(update=False)
    run.rates = {"short": 0.0, "long": 0.0}
    run.event(-30.0, "container", service="edge", container="e1", action="start")
    if died is not None:
        run.event(died, "container", service="edge", container="e1", action="die", exit_code=1)
    run.request("ok", -6.0, -5.9, run.old[0])
    for n in range(3):
        run.request(f"refused-{n}", -2.0 + n, -1.9 + n, client_outcome="no_connection", status=None, instance=None,
                    target=target)  # fmt: skip
    if later:
        run.request("later", 4.0, 4.1, run.old[0])
    return [note for note in run.document().notes if "docker-proxy" in note]


def test_a_loopback_door_that_ends_for_good_while_its_container_runs_is_docker_proxys() -> None:
    (note,) = refused()
    assert note.startswith("3 connections to 127.0.0.1:8080 were refused, and none made any more, while the container")
    assert "--url" in note


@pytest.mark.parametrize("how", [{"later": True}, {"died": -1.0}, {"target": "10.0.0.5:8080"}])
def test_one_that_comes_back_went_with_its_container_or_has_another_address_is_not(how: dict[str, object]) -> None:
    assert refused(**how) == []  # type: ignore[arg-type]
