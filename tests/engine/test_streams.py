"""Events and logs: what's told of a life, and what's said when the telling breaks off."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.engine.client import Client, NoAnswer, NotThere, Refused
from swarmtest.engine.streams import EventStream, LogStream, container_event, demultiplexed
from tests.engine.fake_engine import Chunks, FakeEngine, frame

T0 = 1_795_990_500_000_000_000


def raw_event(action: str, at: float = 0.0, **attributes: str) -> dict[str, Any]:
    about = {
        "name": "ours_api.2.abc",
        "com.docker.swarm.service.name": "ours_api",
        "com.docker.swarm.task.name": "ours_api.2.abc",
        "com.docker.swarm.task.id": "abc",
        "com.docker.swarm.node.id": "node1",
        **attributes,
    }
    actor = {"ID": "c" * 64, "Attributes": about}
    return {"Type": "container", "Action": action, "Actor": actor, "timeNano": T0 + int(at * 1e9)}


def lines(*events: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def test_a_stop_is_its_signal_and_its_exit_and_probes_are_left_out() -> None:
    # moby/swarmkit #1372, moby/moby #37520, #10654, docker/for-linux #1529
    told = [
        raw_event("kill", 0.0, signal="15"),
        raw_event("exec_create: /bin/probe", 0.5),
        raw_event("exec_start: /bin/probe", 0.5),
        raw_event("exec_die", 0.6, exitCode="0"),
        raw_event("health_status: healthy", 1.0),
        raw_event("die", 3.2, exitCode="0"),
        raw_event("stop", 3.2),
        raw_event("destroy", 3.3),
    ]
    events = [event for raw in told if (event := container_event(raw, "ours")) is not None]
    assert [event.fields["action"] for event in events] == ["kill", "health_status", "die", "stop", "destroy"]
    kill, health, die = events[:3]
    assert die.t - kill.t == pytest.approx(3.2, abs=1e-6)
    assert (kill.fields["signal"], kill.fields["exit_code"]) == (15, None)
    assert (die.fields["signal"], die.fields["exit_code"]) == (None, 0)
    assert health.fields["health"] == "healthy"
    assert kill.fields["service"] == "api"
    assert (kill.fields["task"], kill.fields["slot"], kill.fields["node"]) == ("abc", 2, "node1")


def test_a_second_signal_is_told_from_the_first() -> None:
    # moby/moby #24720
    events = [container_event(raw_event("kill", signal=number), "ours") for number in ("15", "9")]
    assert [event.fields["signal"] for event in events if event] == [15, 9]


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"Type": "network", "Action": "connect"},
        {"Type": "container", "Action": "exec_die"},
        {"Type": "container", "Action": "start"},
        {"Type": "container", "Action": "die", "Actor": {"ID": "x", "Attributes": {"exitCode": "?"}}},
        {"Type": "container", "Action": "start", "Actor": {"Attributes": {"com.docker.swarm.task.name": "a.node.b"}}},
    ],
)
def test_an_event_of_which_little_is_known_is_no_crash(raw: dict[str, Any]) -> None:
    event = container_event(raw, "ours")
    assert event is None or event.fields["exit_code"] is None


def taken(stream: EventStream) -> Iterator[str]:
    for event in stream:
        yield event.fields["action"]


def test_events_are_followed_from_before_the_deploy_and_only_of_our_stack(client: Client, engine: FakeEngine) -> None:
    whole = lines(raw_event("start"), raw_event("die", 1))
    engine.streams["/events"] = [[whole[:50], whole[50:], b"\n", b""]]
    assert list(taken(EventStream(client, "ours", 123.5))) == ["start", "die"]
    query = engine.queries[-1]
    assert query["since"] == "123.500000"
    assert json.loads(query["filters"]) == {"type": ["container"], "label": ["com.docker.stack.namespace=ours"]}


def test_a_broken_stream_is_an_engine_error_and_goes_on_without_doubles(client: Client, engine: FakeEngine) -> None:
    start, kill, die = raw_event("start"), raw_event("kill", 1, signal="15"), raw_event("die", 1)
    engine.streams["/events"] = [[lines(start, kill)], [lines(kill, die), b""]]
    stream, seen = EventStream(client, "ours", 5.0), list[str]()

    def read() -> None:
        for action in taken(stream):
            seen.append(action)

    with pytest.raises(NoAnswer, match="following the engine's events"):
        read()
    assert seen == ["start", "kill"]
    stream.reopen()
    assert list(taken(stream)) == ["die"]
    assert float(engine.queries[-1]["since"]) == pytest.approx(T0 / 1e9 + 1, abs=0.002)


def test_a_broken_line_breaks_the_stream(client: Client, engine: FakeEngine) -> None:
    engine.streams["/events"] = [[b'{"Type": "contai', b""]]
    with pytest.raises(NoAnswer, match="broken line"):
        list(EventStream(client, "ours", 0.0))


def test_a_closed_stream_ends_its_reader_in_another_thread(client: Client, engine: FakeEngine) -> None:
    held, came = threading.Event(), threading.Event()
    engine.streams["/events"] = [[lines(raw_event("start")), lambda: held.wait(10)]]
    stream, seen = EventStream(client, "ours", 0.0), list[str]()

    def read() -> None:
        for action in taken(stream):
            seen.append(action)
            came.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert came.wait(5)
    stream.close()
    reader.join(5)
    assert not reader.is_alive()
    held.set()
    assert seen == ["start"]


@given(
    st.lists(st.tuples(st.sampled_from([1, 2]), st.text("ab\n", max_size=12).map(str.encode)), max_size=12),
    st.lists(st.integers(1, 30), min_size=1, max_size=30),
)
def test_logs_are_whole_whatever_the_borders_of_frames_and_chunks(
    frames: list[tuple[int, bytes]], sizes: list[int]
) -> None:
    stream = b"".join(frame(text, kind) for kind, text in frames)
    chunks, place, turn = list[bytes](), 0, 0
    while place < len(stream):
        chunks.append(stream[place : place + sizes[turn % len(sizes)]])
        place, turn = place + len(chunks[-1]), turn + 1
    expected = []
    for kind in (1, 2):
        text = b"".join(body for of, body in frames if of == kind)
        expected += text.split(b"\n")[: -1 if text.endswith(b"\n") or not text else None]
    assert sorted(demultiplexed(iter(chunks))) == sorted(expected)


def test_lines_of_one_output_keep_their_order() -> None:
    chunks = [frame(b"1\n2\n") + frame(b"x", 2) + frame(b"3\n4"), frame(b"\n5\n") + frame(b"y\n", 2)]
    assert list(demultiplexed(iter(chunks))) == [b"1", b"2", b"3", b"4", b"5", b"xy"]


def test_a_container_with_a_terminal_has_lines_without_frames() -> None:
    assert list(demultiplexed(iter([b"hel", b"lo\r\nwor", b"ld\r\nend"]))) == [b"hello", b"world", b"end"]


def log_of(client: Client, engine: FakeEngine, chunks: Chunks) -> list[bytes]:
    engine.streams["/containers/c1/logs"] = [chunks]
    return list(LogStream(client, "c1", None))


def test_a_log_is_read_from_its_first_line_to_its_end(client: Client, engine: FakeEngine) -> None:
    assert log_of(client, engine, [frame(b"one\ntw"), frame(b"o\nthree"), b""]) == [b"one", b"two", b"three"]
    assert engine.queries[-1] == {"follow": "true", "stdout": "true", "stderr": "true", "tail": "all"}


def test_a_log_that_is_cut_is_not_whole(client: Client, engine: FakeEngine) -> None:
    with pytest.raises(NoAnswer):
        log_of(client, engine, [frame(b"one\n")])
    with pytest.raises(NoAnswer, match="bytes into a frame"):
        log_of(client, engine, [frame(b"one\n") + frame(b"two\n")[:-2], b""])


def test_a_log_that_cannot_be_had_says_why(client: Client, engine: FakeEngine) -> None:
    with pytest.raises(NotThere):
        list(LogStream(client, "gone", None))
    engine.before = lambda _verb, _path: (501, {"message": "configured logging driver does not support reading"})
    with pytest.raises(Refused, match="does not support reading"):
        list(LogStream(client, "c1", None))


def test_a_log_elsewhere_is_read_through_its_task(client: Client, engine: FakeEngine) -> None:
    engine.streams["/tasks/t1/logs"] = [[frame(b"far\n"), b""]]
    assert list(LogStream(client, None, "t1")) == [b"far"]


def test_reading_is_quick_about_a_close_before_it_began(client: Client) -> None:
    log, began = LogStream(client, "c1", None), time.monotonic()
    log.close()
    assert time.monotonic() - began < 1
