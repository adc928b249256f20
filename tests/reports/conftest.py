"""Runs as a person would meet them, and a way to look at them:

python tests/reports/conftest.py failed console
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest

from swarmtest.reports import (
    CLASSES,
    ActEntry,
    CheckEntry,
    Document,
    FrontDoorEntry,
    Hurt,
    InstanceEntry,
    LossEvent,
    LossRow,
    Mark,
    UpdateEntry,
    VersionEntry,
)

T0 = 1796163331.25  # 2026-12-01 22:15:31 UTC

SENTENCES = {
    "answered_every_request": "All 2,143 requests were answered in full by an instance that named itself.",
    "exited_within_grace": "All 3 old instances exited by themselves, the slowest 4.17 s after its signal.",
    "front_door_let_go_in_time": "The last new request came at most 0.58 s after the announcement, of 1.00 s.",
    "nothing_arrived_after_close": "No request arrived at an instance after it had stopped accepting.",
    "drained_before_exit": "Each of 3 old instances had a long request at its signal and finished it.",
    "new_served_only_when_ready": "All 3 new instances served their first request after they were warm.",
    "kept_capacity": "Never fewer than 3 instances were ready; 3 were promised (start-first).",
    "replaced_every_instance": "3 of 3 instances were replaced, and Swarm says that this update completed.",
    "delivered_the_traffic": "2,143 of 2,150 planned requests were sent; at most 12 ms late; client at 14 % of a core.",
    "exercised_every_instance": "Each of 6 instances served at least 288 requests.",
    "ids_on_every_record": "All 2,143 answers and 6,429 records carry both IDs.",
    "handled_each_request_once": "No request was handled twice.",
}


def mark(seconds: float, error: float = 0.0, source: str = "engine event") -> Mark:
    return Mark(at=T0 + seconds, error=error, source=source)


def old_instance(slot: int, at: float, **changes: Any) -> InstanceEntry:
    """An old instance whose stop began ``at`` seconds after T0."""
    entry = InstanceEntry(
        id=f"k{slot}xj3v9qw7c2m5t8n1r4b6y0a",
        name=f"st-api-ab12_api.{slot}.k{slot}xj3v9qw7c2m5t8n1r4b6y0a",
        slot=slot,
        node="node-1",
        generation="old",
        exit_code=0,
        signal=None,
        served=288 + slot,
        cause="stopped as asked",
        cpu_max=0.31,
        memory_max=61 * 1024 * 1024,
        marks={
            "started": mark(-21.4),
            "healthy": mark(-16.2),
            "warm": mark(-16.9, source="app record"),
            "first_served": mark(-9.8, source="app record"),
            "announced": mark(at, 0.1, "DNS"),
            "unready": mark(at + 2.02, source="app record"),
            "signalled": mark(at + 2.01),
            "closed": mark(at + 4.04, source="app record"),
            "last_new": mark(at + 0.58, source="app record"),
            "last_done": mark(at + 6.11, source="app record"),
            "killed": None,
            "exited": mark(at + 6.18),
        },
    )
    return msgspec.structs.replace(entry, **changes)


def new_instance(slot: int, at: float, **changes: Any) -> InstanceEntry:
    """A new instance, started ``at`` seconds after T0."""
    entry = InstanceEntry(
        id=f"n{slot}p6f2z8s4d1g9h3l7u5w0ie",
        name=f"st-api-ab12_api.{slot}.n{slot}p6f2z8s4d1g9h3l7u5w0ie",
        slot=slot,
        node="node-1",
        generation="new",
        exit_code=None,
        signal=None,
        served=421 + slot,
        cpu_max=0.35,
        memory_max=58 * 1024 * 1024,
        marks={
            "started": mark(at),
            "healthy": mark(at + 5.2),
            "warm": mark(at + 4.4, source="app record"),
            "first_served": mark(at + 5.71, source="app record"),
        },
    )
    return msgspec.structs.replace(entry, **changes)


def passed_run() -> Document:
    """The model stack, rolled without a loss."""
    return Document(
        version=1,
        run="20261201T221440Z-rolling-ab12",
        outcome="passed",
        exit_code=0,
        scenario="rolling",
        stack="stacks/api.yml",
        engine={"version": "20.10.24", "api": "1.41", "nodes": 1, "ipvs": False},
        settings={
            "service": "api",
            "image": "swarmtest-api:1",
            "replicas": 3,
            "grace_seconds": 30.0,
            "update": {"order": "start-first", "parallelism": 1, "failure_action": "rollback"},
            "front_door": {"mode": "proxy", "service": "edge", "detects": "dns", "within_seconds": 1.0},
            "traffic": {
                "timeout_seconds": 30,
                "kinds": [
                    {"name": "short", "rate": 34.0, "milliseconds": [20, 300]},
                    {"name": "long", "rate": 6.0, "milliseconds": [4000, 6000]},
                ],
            },
            "seed": 42,
            "swarmtest": "0.1.0",
        },
        checks=[CheckEntry(name=name, outcome="passed", sentence=text) for name, text in SENTENCES.items()],
        losses=dict.fromkeys(CLASSES, 0) | {"sent": 2143, "ok": 2143, "duplicates": 0},
        instances=[old_instance(slot, 7.3 + 13.4 * (slot - 1)) for slot in (1, 2, 3)]
        + [new_instance(slot, 0.9 + 13.4 * (slot - 1)) for slot in (1, 2, 3)],
        start=T0,
        seconds=53.6,
        acts=[ActEntry(1, "update", "api", "ok", T0, T0 + 0.02, settings={"force": True})],
        update=UpdateEntry(
            "update", "completed", "update completed", [VersionEntry("new", [new_instance(n, 0).id for n in (1, 2, 3)])]
        ),
        front_door=FrontDoorEntry("proxy", "edge", "dns", 1.0, 0.58, 3),
        loss_rows=[
            LossRow("short", "kept", 911, {"ok": 911}, 161.2, 298.7),
            LossRow("short", "fresh", 911, {"ok": 911}, 163.0, 301.4),
            LossRow("long", "kept", 160, {"ok": 160}, 5003.1, 5991.0),
            LossRow("long", "fresh", 161, {"ok": 161}, 5011.9, 5996.2),
        ],
        proof={
            "sent": 2143,
            "lost": 0,
            "upper_bound": 3 / 2143,
            "stops": 3,
            "stops_with_loss": 0,
            "stop_upper_bound": 1 - 0.05 ** (1 / 3),
        },
    )


def _verdict(document: Document, name: str, check: CheckEntry) -> list[CheckEntry]:
    return [check if entry.name == name else entry for entry in document.checks]


def _lost(index: int, loss: str, kind: str, at: float, instance: str | None, why: str) -> LossEvent:
    return LossEvent(
        id=f"5f0c{index:04d}-8d7e-4a51-9b3c-2f6e7d8a9b0c",
        loss=loss,
        kind=kind,
        reused=index % 2 == 0,
        sent=T0 + at,
        done=T0 + at + 1.1,
        instance=instance,
        charge="shutdown" if instance else "front_door",
        why=why,
    )


def failed_run() -> Document:
    """Exits at once on TERM behind a slow proxy: running requests are cut, new ones get a 502."""
    document = passed_run()
    checks = _verdict(
        document,
        "answered_every_request",
        CheckEntry(
            "answered_every_request",
            "failed",
            "11 of 2,143 requests were lost: 7 cut, 4 gateway.",
            [
                "5f0c0001-8d7e-4a51-9b3c-2f6e7d8a9b0c was cut: api.1 wrote its start at +9.02 s and exited at +9.33 s",
                "5f0c0008-8d7e-4a51-9b3c-2f6e7d8a9b0c got 502 from the proxy (termination SC--), no start record",
            ],
            "let the app finish running requests on SIGTERM: in exec form it gets the signal itself (PID 1)",
        ),
    )
    document = msgspec.structs.replace(document, checks=checks)
    checks = _verdict(
        document,
        "drained_before_exit",
        CheckEntry(
            "drained_before_exit",
            "failed",
            "2 of 3 old instances exited while they were still handling requests.",
            [f"api.{slot} exited with {count} requests running" for slot, count in ((1, 4), (2, 3))],
            "stop accepting, wait for running requests, then exit",
        ),
    )
    document = msgspec.structs.replace(document, checks=checks)
    checks = _verdict(
        document,
        "exited_within_grace",
        CheckEntry(
            "exited_within_grace",
            "failed",
            "api.3 was killed by SIGKILL at the end of its grace of 30 s.",
            ["api.3: signalled +36.11 s, SIGKILL +66.12 s, exit code 137"],
            "make stop_grace_period longer than the longest request plus the wait after withdrawal",
        ),
    )
    ids = [old.id for old in document.instances[:3]]
    events = [
        _lost(n, "cut", "long" if n < 6 else "short", 9.0 + n / 10, ids[n % 2], "started, then exit")
        for n in range(1, 8)
    ]
    events += [
        _lost(n, "gateway", "short", 9.4 + n / 10, None, "502, termination SC--, no start record") for n in range(8, 12)
    ]
    sudden = {
        "unready": None,
        "closed": None,
        "last_new": mark(9.2, source="app record"),
        "last_done": mark(8.9, source="app record"),
        "exited": mark(9.33),
    }
    hanging = {"killed": mark(66.12), "exited": mark(66.2), "last_done": None}
    first, second, third = document.instances[:3]
    return msgspec.structs.replace(
        document,
        outcome="failed",
        exit_code=1,
        stack="stacks/broken/exits-at-once.yml",
        checks=checks,
        losses=document.losses | {"ok": 2132, "cut": 7, "gateway": 4},
        instances=[
            msgspec.structs.replace(first, marks=first.marks | sudden, lost=4),
            msgspec.structs.replace(second, lost=3),
            msgspec.structs.replace(
                third,
                marks=third.marks | hanging,
                exit_code=137,
                signal="SIGKILL",
                cause="SIGKILL at the end of the grace",
            ),
            *document.instances[3:],
        ],
        loss_rows=[
            LossRow("short", "kept", 911, {"ok": 910, "cut": 1}, 161.2, 298.7),
            LossRow("short", "fresh", 911, {"ok": 906, "cut": 1, "gateway": 4}, 163.0, 301.4),
            LossRow("long", "kept", 160, {"ok": 158, "cut": 2}, 5003.1, 5991.0),
            LossRow("long", "fresh", 161, {"ok": 158, "cut": 3}, 5011.9, 5996.2),
        ],
        loss_events=events,
        proof={"sent": 2143, "lost": 11, "stops": 3, "stops_with_loss": 2},
        advice=[
            "Let the app finish what it runs: an exec-form CMD and a shutdown limit above 6 s (the longest request).",
            "Let the front door find out sooner: `hold valid 500ms` in the resolver of stacks/edge/haproxy.cfg.",
        ],
        notes=["Processor use never passed 0.4 cores: nothing was lost for want of capacity."],
    )


def not_proved_run() -> Document:
    """An app that names no instance and writes no records, under too little traffic."""
    document = passed_run()
    unseen = {
        "drained_before_exit": "No instance wrote records, so nobody knows what ran at the signal.",
        "ids_on_every_record": "None of 212 answers carried X-Instance-ID.",
        "exercised_every_instance": "Without X-Instance-ID nobody knows which instance answered.",
    }
    checks = [
        CheckEntry(
            entry.name,
            "not_proved",
            unseen[entry.name],
            ["0 records of 212 requests"],
            "add the middleware of docs/app-contract.md, or set the header from Swarm's {{.Task.ID}}",
        )
        if entry.name in unseen
        else entry
        for entry in document.checks
    ]
    blank = dict.fromkeys(("unready", "closed", "last_new", "last_done", "warm", "first_served"))
    return msgspec.structs.replace(
        document,
        run="20261201T221440Z-rolling-cd34",
        outcome="not_proved",
        exit_code=3,
        checks=checks,
        losses=document.losses | {"sent": 212, "ok": 212},
        instances=[
            msgspec.structs.replace(entry, marks=entry.marks | blank, served=0, cpu_max=None, memory_max=None)
            for entry in document.instances
        ],
        loss_rows=[LossRow("short", "fresh", 212, {"ok": 212}, 161.2, None)],
        proof=document.proof | {"sent": 212, "upper_bound": 3 / 212},
        advice=["Let the app name itself in X-Instance-ID (docs/app-contract.md): three checks hang on it."],
    )


STACK = {
    "order": "start-first",
    "parallelism": 1,
    "delay_seconds": 0.0,
    "monitor_seconds": 10.0,
    "failure_action": "rollback",
    "rollback": {"order": "stop-first", "parallelism": 0, "monitor_seconds": 5.0, "failure_action": "pause"},
    "healthcheck": {"test": ["CMD", "/app/healthy"], "interval_seconds": 2.0, "timeout_seconds": 2.0, "retries": 3},
    "restart_condition": "any",
    "restart_delay_seconds": 5.0,
}


def hurt_run() -> Document:
    """One instance is killed, one stands still, and a third step is forbidden; all that's lost is theirs."""
    document = passed_run()
    first, second, third = document.instances[:3]
    none = dict.fromkeys(("announced", "unready", "signalled", "closed"))
    dead = none | {"last_new": mark(0.41), "last_done": mark(-0.2), "killed": mark(0.03), "exited": mark(0.05)}
    stays = none | {"last_new": None, "last_done": None, "exited": None}
    events = [
        LossEvent(
            id=f"5f0c00{n:02}-8d7e-4a51-9b3c-2f6e7d8a9b0c",
            loss="cut",
            kind="long",
            reused=n % 2 == 0,
            sent=T0 - 2.0 + n / 10,
            done=T0 + 0.06,
            instance=first.id,
            charge="fault",
            why="a handler had started, then SIGKILL",
        )
        for n in (1, 2)
    ]
    return msgspec.structs.replace(
        document,
        run="20261201T221440Z-chaos-ef56",
        scenario="chaos",
        kind="destructive",
        settings=document.settings | {"stack": STACK},
        checks=[
            CheckEntry("hurt_what_was_planned", "not_proved", "It isn't proved that all that was planned was done."),
            CheckEntry("lost_only_to_the_fault", "passed", "All 2 lost requests belong to what was hurt."),
        ],
        outcome="not_proved",
        exit_code=3,
        losses=document.losses | {"ok": 2141, "cut": 2},
        instances=[
            msgspec.structs.replace(
                first,
                marks=first.marks | dead,
                exit_code=137,
                cause="killed by swarmtest",
                lost=2,
                hurts=[Hurt(1, "kill", T0, T0 + 0.02, None, "ok", T0 + 8.15)],
            ),
            msgspec.structs.replace(
                second,
                marks=second.marks | stays,
                exit_code=None,
                cause=None,
                hurts=[Hurt(2, "freeze", T0 + 20.0, T0 + 20.01, T0 + 25.02, "ok")],
            ),
            msgspec.structs.replace(third, marks=third.marks | stays, exit_code=None, cause=None),
            new_instance(1, 5.3),
        ],
        acts=[
            ActEntry(1, "kill", "api", "ok", T0, T0 + 0.02, [first.id]),
            ActEntry(2, "freeze", "api", "ok", T0 + 20.0, T0 + 20.01, [second.id]),
            ActEntry(3, "heal", "api", "ok", T0 + 25.0, T0 + 25.02, [second.id], heals=2),
            ActEntry(4, "kill", "api", "skipped", reason="only 1 instance would be left, and the floor is 2"),
            ActEntry(5, "scale", "api", "failed", T0 + 40.0, T0 + 40.1, settings={"by": -1}, reason="out of sequence"),
        ],
        update=None,
        front_door=FrontDoorEntry("proxy", "edge", "dns", 1.0),
        loss_events=events,
        proof={"sent": 2143, "lost": 2, "stops": 1, "stops_with_loss": 0},
    )


def rolled_back_run() -> Document:
    """A release that never got healthy: taken back by Swarm, with all replicas up, and the run's own guard quiet."""
    document = passed_run()
    stays = dict.fromkeys(("announced", "unready", "signalled", "closed", "last_new", "last_done", "exited"))
    old = [
        msgspec.structs.replace(one, marks=one.marks | stays, exit_code=None, cause=None, image="swarmtest-api:1")
        for one in document.instances[:3]
    ]
    bad = new_instance(1, 0.9, exit_code=137, cause="health check", served=0, image="swarmtest-api:2")
    bad = msgspec.structs.replace(bad, marks={"started": mark(0.9), "killed": mark(7.9), "exited": mark(8.0)})
    return msgspec.structs.replace(
        document,
        run="20261201T221440Z-release-ab78",
        outcome="failed",
        exit_code=1,
        scenario="release",
        settings=document.settings | {"stack": STACK},
        checks=[
            CheckEntry(
                "replaced_every_instance",
                "failed",
                "The update failed and was rolled back.",
                ["UpdateStatus rollback_completed +9.10 s from the beginning: rollback completed"],
                "see the health log of a new task (docker inspect, State.Health)",
            )
        ],
        instances=[*old, bad],
        acts=[ActEntry(1, "release", "api", "ok", T0, T0 + 0.02, settings={"image": "swarmtest-api:2"})],
        update=UpdateEntry(
            "release",
            "rolled back",
            "rollback completed",
            [VersionEntry("old", [one.id for one in old], ["swarmtest-api:1"])],
            [],
            0,
            0,
        ),
        front_door=FrontDoorEntry("proxy", "edge", "dns", 1.0),
        guard=None,
    )


def stopped_run() -> Document:
    """A rollout that lost so much that the run's own guard stopped it."""
    document = rolled_back_run()
    return msgspec.structs.replace(
        document,
        run="20261201T221440Z-rolling-cd90",
        scenario="rolling",
        outcome="not_proved",
        exit_code=3,
        guard="9.1 % lost over 5 s: 20 of 220; limit 5 %",
        notes=["the run was stopped early, and is judged as far as it got: 9.1 % lost over 5 s: 20 of 220; limit 5 %"],
        checks=[
            CheckEntry("replaced_every_instance", "not_proved", "It isn't proved that every instance was replaced.")
        ],
        acts=[ActEntry(1, "update", "api", "ok", T0, T0 + 0.02, settings={"force": True})],
        update=UpdateEntry(
            "update",
            "paused",
            "update paused due to failure or early termination of task n1p6",
            [VersionEntry("old", [document.instances[1].id]), VersionEntry("new", [document.instances[3].id])],
            [3],
        ),
    )


RUNS: dict[str, Callable[[], Document]] = {
    "passed": passed_run,
    "failed": failed_run,
    "not_proved": not_proved_run,
    "hurt": hurt_run,
    "rolled_back": rolled_back_run,
    "stopped": stopped_run,
}


@pytest.fixture(params=sorted(RUNS))
def run_name(request: pytest.FixtureRequest) -> str:
    """The name of each run in turn."""
    return str(request.param)


@pytest.fixture
def document(run_name: str) -> Document:
    """Each run in turn."""
    return RUNS[run_name]()


@pytest.fixture
def runs() -> dict[str, Callable[[], Document]]:
    """The runs by name."""
    return RUNS


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares with a file in ``golden/``, or writes it where SWARMTEST_UPDATE_GOLDEN is set."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if os.environ.get("SWARMTEST_UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return compare


if __name__ == "__main__":
    import_module(f"swarmtest.reports.{sys.argv[2]}").render(RUNS[sys.argv[1]](), sys.stdout)
