"""The trace file: whole after a crash, and never a reason to crash."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.errors import RunFolderError, StillWritten
from swarmtest.events import (
    TRACE_VERSION,
    Event,
    TraceWriter,
    Unlockable,
    decode_event,
    encode_event,
    is_still_written,
    read_events,
)

values = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.text(), st.lists(st.text(), max_size=2))


@given(
    st.floats(0, 1e10).map(lambda t: round(t, 6)),
    st.text(min_size=1),
    st.dictionaries(st.text().filter(lambda key: key not in ("t", "kind")), values, max_size=4),
)
def test_an_event_is_read_as_it_was_written(t: float, kind: str, data: dict[str, object]) -> None:
    line = encode_event(Event(t, kind, data))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode_event(line) == Event(t, kind, data)


@given(st.binary())
def test_any_line_is_an_event_or_a_value_error(line: bytes) -> None:
    with contextlib.suppress(ValueError):
        decode_event(line)


@pytest.mark.parametrize("line", ["{}", '{"t":1}', '{"t":null,"kind":"a"}', '{"t":"x","kind":"a"}', "[]", "", "{"])
def test_a_line_that_is_no_event_is_refused(line: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - msgspec's own errors are among them
        decode_event(line)


def test_events_are_appended_heard_and_stamped(tmp_path: Path) -> None:
    heard: list[Event] = []
    with TraceWriter(tmp_path / "events.jsonl", clock=lambda: 5.0) as trace:
        trace.add("early")
        trace.listen(heard.append)
        trace.add("act", t=3.25, id=1, kind_of="x")
        assert trace.now() == 5.0
    assert heard == [Event(3.25, "act", {"id": 1, "kind_of": "x"})]
    assert list(read_events(tmp_path / "events.jsonl")) == [Event(5.0, "early"), *heard]
    with TraceWriter(tmp_path / "events.jsonl", clock=lambda: 6.0) as trace:
        trace.add("again")
    assert [event.kind for event in read_events(tmp_path / "events.jsonl")] == ["early", "act", "again"]


def test_an_event_after_the_end_is_dropped_without_harm(tmp_path: Path) -> None:
    trace = TraceWriter(tmp_path / "events.jsonl")
    trace.close()
    trace.add("late")
    trace.close()
    assert list(read_events(tmp_path / "events.jsonl")) == []


def test_threads_never_mix_their_lines(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "events.jsonl") as trace:

        def add(name: str) -> None:
            for number in range(200):
                trace.add("note", who=name, number=number, text="x" * 300)

        threads = [threading.Thread(target=add, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    events = list(read_events(tmp_path / "events.jsonl"))
    assert {event.kind for event in events} == {"note"}
    for name in "abcd":
        assert [event.get("number") for event in events if event.get("who") == name] == list(range(200))


def test_a_line_that_a_crash_cut_short_is_said_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(encode_event(Event(1.0, "a")) + b'{"t":2,"ki\n' + encode_event(Event(3.0, "b")) + b'{"t":4')
    first, broken, second, last = read_events(path)
    assert (first.kind, second.kind) == ("a", "b")
    assert (broken.t, broken.kind, broken.get("what")) == (1.0, "stream_broken", "trace")
    assert "line 2" in broken.get("error")
    assert (last.t, last.kind) == (3.0, "stream_broken")


def test_unknown_kinds_and_fields_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"t":1,"kind":"of tomorrow","news":[1]}\n')
    assert list(read_events(path)) == [Event(1.0, "of tomorrow", {"news": [1]})]


@pytest.mark.parametrize("version", [str(TRACE_VERSION + 1), '"x"', "null", "[1]"])
def test_a_trace_of_another_version_is_refused(tmp_path: Path, version: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text(f'{{"t":1,"kind":"trace","version":{version}}}\n')
    with pytest.raises(RunFolderError, match="trace version"):
        list(read_events(path))


def test_a_missing_trace_is_said(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="no such trace"):
        list(read_events(tmp_path / "events.jsonl"))


def test_a_trace_is_written_by_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with TraceWriter(path) as trace:
        trace.add("mine")
        assert trace.locked
        assert is_still_written(path)
        with pytest.raises(StillWritten, match="still written by a run that goes on"):
            TraceWriter(path)
    assert not is_still_written(path)
    assert [event.kind for event in read_events(path)] == ["mine"]


def test_a_killed_writer_leaves_its_trace_to_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    program = (
        "import pathlib, subprocess, sys; from swarmtest.events import TraceWriter;"
        "trace = TraceWriter(pathlib.Path(sys.argv[1])); trace.add('act');"
        "child = subprocess.Popen(['sleep', '30'], start_new_session=True, stdout=subprocess.DEVNULL);"
        "print(child.pid, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        child = int(writer.stdout.readline())
        try:
            assert is_still_written(path)
            writer.kill()
            writer.wait()
            assert not is_still_written(path), "its child, which lives on, mustn't hold the lock"
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_line_that_was_cut_short_spoils_no_line_after_it(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(encode_event(Event(1.0, "trace", {"version": TRACE_VERSION})) + b'{"t":2,"kind":"a')
    with TraceWriter(path) as trace:
        trace.add("heal")
    assert [event.kind for event in read_events(path)] == ["trace", "stream_broken", "heal"]


def test_a_file_system_without_locks_is_written_to_all_the_same_and_the_trace_can_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_file: object, _flags: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with TraceWriter(tmp_path / "events.jsonl") as trace:
        trace.add("act")
        assert not trace.locked
    assert [event.kind for event in read_events(tmp_path / "events.jsonl")] == ["act"]
    with pytest.raises(Unlockable):
        is_still_written(tmp_path / "events.jsonl")
