"""What the watch writes down, whatever the engine and the containers say."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest import watch as watch_module
from swarmtest.engine import TaskView, UpdateView
from swarmtest.engine.client import Client, NoAnswer, NotThere
from swarmtest.engine.labels import PROBE_SERVICE
from swarmtest.errors import EngineError
from swarmtest.events import Event, TraceWriter, decode_event, encode_event, read_events
from swarmtest.evidence.database import STEPS
from swarmtest.watch import Focus, Watch
from swarmtest.watch.addresses import targets_of
from swarmtest.watch.logs import RECORDS, parse_line
from tests.engine.fake_engine import FakeEngine, frame
from tests.views import UP


class FakeDeployment:
    """A deployment whose tasks a test sets."""

    name = "ours"

    def __init__(self) -> None:
        self.now: list[TaskView] | EngineError = []
        self.status = UpdateView(None, None, None, "")
        self.asked = threading.Event()

    def tasks(self) -> list[TaskView]:
        self.asked.set()
        if isinstance(self.now, EngineError):
            raise self.now
        return self.now

    def update_status(self, service: str) -> UpdateView:
        return self.status

    def roll(self, service: str) -> None: ...

    def remove(self) -> None: ...


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("POLL_SECONDS", "REOPEN_SECONDS", "SAMPLE_SECONDS"):
        monkeypatch.setattr(watch_module, name, 0.005)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEngine]:
    made = FakeEngine()
    monkeypatch.setenv("DOCKER_HOST", made.address)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("DOCKER_API_VERSION", "DOCKER_TLS_VERIFY"):
        monkeypatch.delenv(name, raising=False)
    yield made
    made.close()


@pytest.fixture
def deployment() -> FakeDeployment:
    return FakeDeployment()


@pytest.fixture
def seen() -> list[Event]:
    return []


@pytest.fixture
def watch(engine: FakeEngine, deployment: FakeDeployment, seen: list[Event], tmp_path: Path) -> Iterator[Watch]:
    client = Client()
    with TraceWriter(tmp_path / "events.jsonl") as trace:
        trace.listen(seen.append)
        made = Watch(client, deployment, trace, Focus("api", "edge", "node1"))
        yield made
        made.stop(quiet_seconds=0.0)
    client.api.close()


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "it didn't happen"
        time.sleep(0.002)


def told(seen: list[Event], kind: str) -> list[dict[str, Any]]:
    return [dict(event.data) for event in list(seen) if event.kind == kind]


def event_line(action: str, container: str, at: float = 0, service: str = "api", **more: str) -> bytes:
    about = {"com.docker.swarm.service.name": f"ours_{service}", **more}
    actor = {"ID": container, "Attributes": about}
    raw = {"Type": "container", "Action": action, "Actor": actor, "timeNano": int((1_800_000_000 + at) * 1e9)}
    return json.dumps(raw).encode() + b"\n"


def hold(until: threading.Event) -> Callable[[], object]:
    return lambda: until.wait(5)


def test_a_container_is_followed_from_its_start_to_its_exit(
    watch: Watch, engine: FakeEngine, seen: list[Event]
) -> None:
    done = threading.Event()
    engine.streams["/events"] = [[event_line("start", "c1"), hold(done), event_line("die", "c1", 1, exitCode="0")]]
    record = b'{"v":1,"event":"start","request_id":"r1","instance":"i1","seq":1,"t":5.5}\n'
    engine.streams["/containers/c1/logs"] = [[frame(record + b"plain\n"), b""]]
    watch.start()
    wait_for(lambda: len(told(seen, "log_stream")) == 2)
    done.set()
    wait_for(lambda: watch.has_exited("c1"))
    assert [event["action"] for event in told(seen, "container")] == ["start", "die"]
    expected = {"event": "start", "request_id": "r1", "instance": "i1", "seq": 1, "t": 5.5, "container": "c1"}
    records = [{"t": event.t, **event.data} for event in seen if event.kind == "record"]
    assert records == [expected]
    assert told(seen, "log") == [{"container": "c1", "service": "api", "line": "plain"}]
    opened, ended = told(seen, "log_stream")
    assert opened["edge"] == "opened"
    assert (ended["edge"], ended["complete"], ended["lines"], ended["reason"]) == ("ended", True, 2, None)
    assert watch.last_lines("api") == ["plain"]


def test_what_an_instance_says_of_itself_is_counted_for_the_runner(watch: Watch, engine: FakeEngine) -> None:
    engine.streams["/events"] = [[event_line("start", "c1"), hold(threading.Event())]]
    asked = b'{"v":1,"event":"asked","seq":%d,"t":5.6}\n'
    lines = b'{"v":1,"event":"start","request_id":"r1","seq":1,"t":5.5}\n' + asked % 2 + asked % 3
    engine.streams["/containers/c1/logs"] = [[frame(lines)]]
    watch.start()
    wait_for(lambda: watch.said("c1", "asked") == 2)
    assert [watch.said("c1", line) for line in ("start", "warm")] == [0, 0]
    assert watch.said("c2", "asked") == watch.said(None, "asked") == 0


def test_a_log_that_breaks_off_is_not_complete(watch: Watch, engine: FakeEngine, seen: list[Event]) -> None:
    engine.streams["/events"] = [[event_line("start", "c1"), event_line("start", "c2", 1), hold(threading.Event())]]
    engine.streams["/containers/c1/logs"] = [[frame(b"one\n")]]
    watch.start()
    wait_for(lambda: len(told(seen, "log_stream")) == 4)
    ended = {event["container"]: event for event in told(seen, "log_stream") if event["edge"] == "ended"}
    assert not ended["c1"]["complete"]
    assert "following a log" in ended["c1"]["reason"]
    assert not ended["c2"]["complete"]
    assert "not there" in ended["c2"]["reason"]


def test_only_logs_of_the_subject_the_front_door_and_the_probe_are_read(
    watch: Watch, engine: FakeEngine, seen: list[Event]
) -> None:
    services = ["bank", "api", "edge", PROBE_SERVICE]
    lines = b"".join(event_line("start", name, n, service=name) for n, name in enumerate(services))
    engine.streams["/events"] = [[lines, hold(threading.Event())]]
    watch.start()
    wait_for(lambda: len(told(seen, "log_stream")) == 6)
    assert {event["service"] for event in told(seen, "log_stream")} == {"api", "edge", PROBE_SERVICE}


def test_a_broken_event_stream_is_said_and_taken_up_again_without_doubles(
    watch: Watch, engine: FakeEngine, seen: list[Event]
) -> None:
    start, die = event_line("start", "c1"), event_line("die", "c1", 1, exitCode="0")
    engine.streams["/events"] = [[start], [start, die, hold(threading.Event())]]
    watch.start()
    wait_for(lambda: watch.has_exited("c1"))
    assert [event["action"] for event in told(seen, "container")] == ["start", "die"]
    broken = told(seen, "stream_broken")
    assert [event["what"] for event in broken] == ["engine events"]
    kinds = [event.kind for event in seen if event.kind in ("container", "stream_broken")]
    assert kinds == ["container", "stream_broken", "container"]


def test_a_stream_that_ends_is_broken_too_and_a_stopped_watch_says_nothing(
    watch: Watch, engine: FakeEngine, seen: list[Event]
) -> None:
    engine.streams["/events"] = [[event_line("start", "x", service="bank"), b""], [hold(threading.Event())]]
    watch.start()
    wait_for(lambda: told(seen, "stream_broken"))
    watch.stop(quiet_seconds=0.0)
    assert [event["error"] for event in told(seen, "stream_broken")] == ["the engine ended the stream"]


def test_each_change_of_a_task_is_told_once_with_the_poll_before_it(
    watch: Watch, engine: FakeEngine, deployment: FakeDeployment, seen: list[Event]
) -> None:
    engine.streams["/events"] = [[hold(threading.Event())]]
    deployment.now = [replace(UP, state="starting", container=None)]
    watch.start()
    wait_for(lambda: told(seen, "task"))
    deployment.now = [replace(UP, state="starting", container=None, desired="shutdown")]
    wait_for(lambda: len(told(seen, "task")) == 2)
    assert [event["desired"] for event in told(seen, "task")] == ["running", "shutdown"]
    changes = [event for event in seen if event.kind == "task"]
    assert all(0 <= event.t - event.get("since") < 1 for event in changes)
    deployment.status = UpdateView("updating", 5.0, None, "going")
    wait_for(lambda: told(seen, "update_status"))
    assert told(seen, "update_status")[0]["state"] == "updating"
    assert watch.status() == deployment.status


def test_a_task_on_another_node_is_read_through_the_manager(
    watch: Watch, engine: FakeEngine, deployment: FakeDeployment, seen: list[Event]
) -> None:
    engine.streams["/events"] = [[hold(threading.Event())]]
    engine.streams["/tasks/t9/logs"] = [[frame(b"far\n"), hold(threading.Event())]]
    far = replace(UP, id="t9", container="c9", node="node2")
    deployment.now = [far]
    watch.start()
    wait_for(lambda: told(seen, "log"))
    assert told(seen, "log")[0] == {"container": "c9", "service": "api", "line": "far"}
    assert not watch.has_exited("c9")
    deployment.now = [replace(far, desired="shutdown", state="shutdown", exit_code=0)]
    wait_for(lambda: watch.has_exited("c9"))
    assert ("GET", "/containers/c9/logs") not in engine.asked
    assert ("GET", "/containers/c9/stats") not in engine.asked


@pytest.mark.parametrize(("after", "left"), [([], {"c1"}), (["health_status: healthy"], set()), (["die"], set())])
def test_one_whose_health_check_has_failed_is_known_until_it_is_well_or_gone(
    watch: Watch, engine: FakeEngine, seen: list[Event], after: list[str], left: set[str]
) -> None:
    actions = ["start", "health_status: unhealthy", *after]
    engine.streams["/events"] = [[*(event_line(action, "c1") for action in actions), hold(threading.Event())]]
    watch.start()
    wait_for(lambda: len(told(seen, "container")) == len(actions))
    wait_for(lambda: watch.unhealthy() == left)


def test_a_container_whose_start_was_not_heard_is_followed_all_the_same(
    watch: Watch, engine: FakeEngine, deployment: FakeDeployment, seen: list[Event]
) -> None:
    engine.streams["/events"] = [[hold(threading.Event())]]
    engine.streams["/containers/c1/logs"] = [[frame(b"near\n"), b""]]
    deployment.now = [UP]
    watch.start()
    wait_for(lambda: told(seen, "log"))
    assert ("GET", "/tasks/t1/logs") not in engine.asked


def test_a_log_is_read_once_though_its_container_is_heard_of_twice(
    watch: Watch, engine: FakeEngine, deployment: FakeDeployment, seen: list[Event]
) -> None:
    engine.streams["/events"] = [[event_line("start", "c1"), hold(threading.Event())]]
    engine.streams["/containers/c1/logs"] = [[frame(b"near\n"), b""]]
    deployment.now = [UP]
    watch.start()
    wait_for(lambda: told(seen, "task") and told(seen, "container") and told(seen, "log"))
    deployment.now = [replace(UP, message="again")]
    wait_for(lambda: len(told(seen, "task")) == 2)
    assert sum(path == "/containers/c1/logs" for _, path in engine.asked) == 1


def test_a_stack_that_is_removed_is_no_lost_engine(
    watch: Watch, engine: FakeEngine, deployment: FakeDeployment, seen: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "LOST_SECONDS", 0.0)
    engine.streams["/events"] = [[hold(threading.Event())]]
    deployment.now = NotThere("gone", 404)
    watch.start()
    for _ in range(3):
        deployment.asked.clear()
        wait_for(deployment.asked.is_set)
    assert watch.tasks() == ()
    assert told(seen, "stream_broken") == []


def test_an_engine_that_stays_away_is_lost_and_the_runner_hears_of_it(
    watch: Watch, engine: FakeEngine, deployment: FakeDeployment, seen: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_module, "LOST_SECONDS", 0.0)
    engine.streams["/events"] = [[hold(threading.Event())]]
    deployment.now = NoAnswer("no engine answers")
    watch.start()
    wait_for(lambda: told(seen, "stream_broken"))
    with pytest.raises(EngineError, match="went away in mid-run"):
        watch.tasks()


def test_an_engine_that_stumbles_is_not_lost(
    watch: Watch, engine: FakeEngine, deployment: FakeDeployment, seen: list[Event]
) -> None:
    engine.streams["/events"] = [[hold(threading.Event())]]
    deployment.now = NoAnswer("no engine answers")
    watch.start()
    wait_for(deployment.asked.is_set)
    deployment.now = [replace(UP, container=None)]
    wait_for(watch.tasks)
    assert told(seen, "stream_broken") == []


def test_stopping_twice_does_no_harm(watch: Watch, engine: FakeEngine) -> None:
    engine.streams["/events"] = [[hold(threading.Event())]]
    watch.start()
    watch.stop(quiet_seconds=0.0)
    watch.stop(quiet_seconds=0.0)


@pytest.mark.parametrize(
    ("line", "kind", "fields"),
    [
        (b'{"v":1,"event":"finish","t":5,"seq":2,"kind":"x"}', "record", {"event": "finish", "t": 5, "seq": 2}),
        (b'{"v":1,"event":"booted","t":5.5}', "record", {"event": "booted", "t": 5.5}),
        (b'{"v":1,"event":"names","t":5,"addresses":["a"]}', "names", {"t": 5, "addresses": ["a"]}),
        (b'{"v":1,"event":"proxied","t":5,"status":502}', "proxied", {"t": 5, "status": 502}),
        (b'{"v":2,"event":"start","t":5}', "log", {}),
        (b'{"v":1,"event":"other","t":5}', "log", {}),
        (b'{"v":1,"event":["start"],"t":5}', "log", {}),
        (b'{"v":1,"event":"start"}', "log", {}),
        (b'{"v":1,"event":"start","t":"5"}', "log", {}),
        (b'{"v":1,"event":"start","t":-5}', "log", {}),
        (b'{"v":1,"event":"start","t":' + b"9" * 400 + b"}", "log", {}),
        (b'{"v":1,"event":"start","t":5,', "log", {}),
        (b'{"a":' * 3000, "log", {}),
        (b" plain", "log", {}),
        (b"", "log", {}),
        (b"\xff{", "log", {}),
    ],
)
def test_a_log_line_is_a_record_only_in_the_form_of_the_contract(
    line: bytes, kind: str, fields: dict[str, Any]
) -> None:
    assert parse_line(line) == (kind, fields)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)
contract_like = st.dictionaries(
    st.sampled_from(["event", "t", "seq", "request_id", "kind", "container", "self", "since"]), json_values
)


@given(
    st.one_of(
        st.binary(), contract_like.map(lambda fields: json.dumps({"v": 1, "event": "start", "t": 1} | fields).encode())
    )
)
def test_any_log_line_can_be_kept_in_the_trace(line: bytes) -> None:
    kind, fields = parse_line(line)
    if kind != "log":
        data = {**fields, "container": "c1"}
        event = Event(data.pop("t"), kind, data)
        assert decode_event(encode_event(event)).kind == kind


def test_targets_are_the_host_ports_of_instances_that_are_up() -> None:
    tasks = (
        replace(UP, host_ports={"8000": 32769}),
        replace(UP, id="t2", host_ports={"8000": 32768}, node="node2"),
        replace(UP, id="t3", host_ports={"8000": 32770}, desired="shutdown"),
        replace(UP, id="t4", host_ports={"8000": 32771}, state="starting"),
        replace(UP, id="t5", service="edge", host_ports={"80": 8080}),
        replace(UP, id="t6"),
    )
    assert targets_of(tasks, "api", lambda node: f"h-{node}") == ["h-node1:32769", "h-node2:32768"]
    assert targets_of(tasks, "api", lambda _node: "::1") == ["[::1]:32768", "[::1]:32769"]


def test_a_bug_in_a_watching_thread_ends_the_run_instead_of_blinding_it(tmp_path: Path) -> None:
    class Broken:
        name = "st"

        def tasks(self) -> list[TaskView]:
            raise ZeroDivisionError("a bug of ours")

    with TraceWriter(tmp_path / "events.jsonl") as trace:
        watch = Watch(None, Broken(), trace, Focus("api"))  # type: ignore[arg-type]
        watch._guard(watch._poll)
        with pytest.raises(EngineError, match="ZeroDivisionError"):
            watch.tasks()
    assert [event.kind for event in read_events(tmp_path / "events.jsonl")] == ["stream_broken"]


def test_every_line_that_the_judging_side_knows_of_a_request_is_taken_as_a_record() -> None:
    """One that isn't would leave a hole in its instance's numbers, and make all its records worth nothing."""
    assert {*STEPS} < RECORDS
    for event in STEPS:
        kind, fields = parse_line(b'{"v":1,"event":"%s","request_id":"r1","seq":1,"t":5.5}' % event.encode())
        assert (kind, fields["event"]) == ("record", event)
