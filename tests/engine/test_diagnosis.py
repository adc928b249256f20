"""Why a service isn't up, in words."""

from __future__ import annotations

from typing import Any

from swarmtest.engine.client import Client
from swarmtest.engine.diagnosis import health_output, why_not_up
from swarmtest.engine.tasks import task_view
from tests.engine.fake_engine import FakeEngine


def task(identity: str, created: str, **status: Any) -> Any:
    raw = {"ID": identity, "Slot": 1, "DesiredState": "running", "CreatedAt": created, "Status": status}
    return task_view(raw, "api")


def test_the_last_word_of_the_health_check_is_shown(client: Client, engine: FakeEngine) -> None:
    log = [{"ExitCode": 1, "Output": "early"}, {"ExitCode": 7, "Output": "line\ncurl: not found\n"}]
    engine.before = lambda _verb, _path: (200, {"State": {"Health": {"Status": "unhealthy", "Log": log}}})
    assert health_output(client, "c1") == "unhealthy, last probe exited 7: curl: not found"
    tasks = [
        task("old", "2026-11-29T22:15:00Z", State="failed", Err="task: non-zero exit (1)"),
        task("new", "2026-11-29T22:16:00Z", State="starting", ContainerStatus={"ContainerID": "c1"}),
    ]
    newest, oldest = why_not_up(client, "api", tasks).splitlines()
    assert newest == "api.1: starting (wanted: running); health: unhealthy, last probe exited 7: curl: not found"
    assert oldest.strip() == "api.1: failed (wanted: running): task: non-zero exit (1)"


def test_the_one_that_isnt_up_is_named_and_not_the_others(client: Client) -> None:
    tasks = [
        task("stuck", "2026-11-29T22:15:00Z", State="preparing"),
        *(task(f"up{n}", "2026-11-29T22:16:00Z", State="running") for n in range(4)),
    ]
    (line,) = why_not_up(client, "api", tasks).splitlines()
    assert line.startswith("api.1: preparing (wanted: running), which fetches its image")
    assert len(why_not_up(client, "api", tasks[1:]).splitlines()) == 1


def test_a_container_without_health_or_gone_says_nothing(client: Client, engine: FakeEngine) -> None:
    assert health_output(client, "gone") is None
    engine.before = lambda _verb, _path: (200, {"State": {}})
    assert health_output(client, "c1") is None
    engine.before = lambda _verb, _path: (200, {"State": {"Health": {"Status": "starting", "Log": None}}})
    assert health_output(client, "c1") == "starting, last probe exited ?: (no output)"


def test_a_service_without_tasks_says_so(client: Client) -> None:
    assert why_not_up(client, "api", []) == "api: no task was ever made"
