from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from swarmtest.errors import RunFolderError
from swarmtest.events import Event, encode_event, read_events
from swarmtest.evidence.database import database_of, database_of_folder, is_about_a_request
from swarmtest.evidence.request import Request
from swarmtest.store import RunFolder
from swarmtest.timeline.lines import sound

EVENTS = [
    Event(1.0, "trace", {"version": 1}),
    Event(2.0, "record", {"event": "booted", "seq": 1, "instance": "i", "container": "c"}),
    Event(3.0, "record", {"event": "start", "request_id": "r", "seq": "2", "instance": "i", "container": "c"}),
    Event(4.5, "proxied", {"request_id": "r", "status": 200, "server": "10.0.0.1:80", "connected": True,
                           "termination": "--", "duration_s": "0.004, 0.010", "container": "p"}),
    Event(5.0, "ended", {"outcome": "finished"}),
]  # fmt: skip
LINES = (
    "SELECT kind, event, request_id, seq, container, server, connected, round(duration, 3), t FROM lines ORDER BY rowid"
)


def folder_of(path: Path, events: bytes, requests: str = "") -> RunFolder:
    (path / "requests").mkdir()
    (path / "events.jsonl").write_bytes(events)
    if requests:
        (path / "requests" / "requests-1.jsonl").write_text(requests)
    return RunFolder(path)


def test_a_folder_and_what_is_in_memory_give_the_same_tables(tmp_path: Path) -> None:
    request = Request(id="r", client_outcome="complete", sent=1.5, status=200)
    folder = folder_of(tmp_path, b"".join(map(encode_event, EVENTS)), msgspec.json.encode(request).decode() + "\n")
    read, made = database_of_folder(folder), database_of(map(sound, EVENTS), [request])
    assert read.rows(LINES) == made.rows(LINES)
    assert len(read.rows(LINES)) == 3
    told = "SELECT n, id, sent, status FROM requests"
    assert read.rows(told) == made.rows(told) == [(0, "r", 1.5, 200)]


def test_sealed_requests_are_read_as_they_were(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"id": f"r{n}", "sent": float(n)}) + "\n" for n in range(3))
    folder = folder_of(tmp_path, b"", lines)
    before = database_of_folder(folder).rows("SELECT n, id FROM requests ORDER BY n")
    folder.seal()
    assert database_of_folder(folder).rows("SELECT n, id FROM requests ORDER BY n") == before


def test_a_folder_without_requests_or_with_an_empty_trace_has_empty_tables(tmp_path: Path) -> None:
    database = database_of_folder(folder_of(tmp_path, b""))
    assert database.value("SELECT count(*) FROM requests") == 0
    assert database.value("SELECT count(*) FROM lines") == 0


def test_requests_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, b"")
    folder.sealed.write_bytes(b"no parquet")
    with pytest.raises(RunFolderError, match="can't be read"):
        database_of_folder(folder)


def test_lines_about_requests_are_left_to_the_database_but_for_broken_ones(tmp_path: Path) -> None:
    cut = encode_event(EVENTS[2])[:-9]
    folder = folder_of(tmp_path, b"".join(map(encode_event, EVENTS)) + cut + b"\n")
    kinds = [event.kind for event in read_events(folder.events, is_about_a_request)]
    assert kinds == ["trace", "record", "ended", "stream_broken"]
