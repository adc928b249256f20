"""Uploads against real sockets: what the service does to a body is what the record says of it."""

from __future__ import annotations

import hashlib
import itertools
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.http1 import Limits
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.targets import FrontDoor, Target
from swarmtest.traffic.upload import UploadClient, UploadTemplate

LENGTH = 300_000
Fixture = Callable[..., Any]


def send(
    address: str, *, keeps: bool = False, times: int = 1, duration_ms: int = 0, length: int = LENGTH
) -> list[Record]:
    kind = Kind(name="up", method="POST", path="/upload?n={bytes}", protocol="upload", rate=1.0, bytes=length)
    template = UploadTemplate(TrafficSettings(run="r", out="", url="http://x", kinds=[kind]), kind)
    expectation = Expectation(b"x-instance-id", b"x-request-id")
    client = UploadClient(
        FrontDoor(Target.from_text(address)), Limits(5.0, 5.0), expectation, keeps=keeps, numbers=itertools.count(1)
    )
    records = []
    for n in range(times):
        record = Record(id=f"r-{n}", kind="up", method="POST", path="/upload", planned=0.0, protocol="upload")
        client.send(template.request(record.id, duration_ms, keeps=keeps), record)
        records.append(record)
    client.close()
    return records


def read_head(visit: Any) -> bytes:
    """The head alone, to the byte, so that what follows is the body."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = visit.socket.recv(1)
        if not byte:
            return b""
        head += byte
    return head


def read_body(visit: Any, length: int = LENGTH) -> bytes:
    body = b""
    while len(body) < length and (more := visit.socket.recv(min(65536, length - len(body)))):
        body += more
    return body


def stored(body: bytes, **changed: Any) -> bytes:
    word = {"stored": len(body), "sha256": hashlib.sha256(body).hexdigest(), **changed}
    text = json.dumps(word).encode()
    return b"HTTP/1.1 200 OK\r\nX-Instance-ID: a1\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)


def test_an_upload_that_is_stored_as_it_was_sent_matches(serve: Fixture) -> None:
    heads: list[bytes] = []

    def script(visit: Any) -> None:
        while head := read_head(visit):
            heads.append(head)
            visit.say(stored(read_body(visit)))

    server = serve(script)
    first, second = send(server.address, keeps=True, times=2)
    for record in (first, second):
        assert (record.client_outcome, record.status, record.stored, record.matched) == ("complete", 200, LENGTH, True)
        assert record.body_bytes == LENGTH
    assert first.bytes_sent == first.acknowledged == LENGTH + len(heads[0])
    assert b"POST /upload?n=300000 HTTP/1.1\r\n" in heads[0]
    assert heads[0].count(b"Content-Length") == 1
    assert (server.connections, second.reused) == (1, True)
    assert first.sha256 != second.sha256


@pytest.mark.parametrize(
    ("word", "matched"),
    [
        ({"stored": LENGTH - 1}, False),
        ({"sha256": "0" * 64}, False),
        ({"sha256": None}, None),
        ({"stored": None}, True),
        ({"stored": None, "sha256": None}, None),
    ],
)
def test_what_the_service_says_that_it_stored_is_held_against_what_was_sent(
    serve: Fixture, word: dict[str, Any], matched: bool | None
) -> None:
    def script(visit: Any) -> None:
        read_head(visit)
        visit.say(stored(read_body(visit), **word))

    (record,) = send(serve(script).address)
    assert (record.client_outcome, record.matched) == ("complete", matched)


def test_a_success_before_the_end_of_the_upload_stored_less_than_was_to_be_sent(serve: Fixture) -> None:
    def script(visit: Any) -> None:
        read_head(visit)
        visit.say(stored(read_body(visit, 1000)))
        read_body(visit)

    (record,) = send(serve(script).address, duration_ms=1500)
    assert (record.client_outcome, record.stored, record.matched) == ("complete", 1000, False)
    assert record.bytes_sent < LENGTH


def test_a_checksum_of_what_came_so_far_is_not_that_of_what_was_to_be_sent(serve: Fixture) -> None:
    def script(visit: Any) -> None:
        read_head(visit)
        visit.say(stored(read_body(visit, 65536), stored=LENGTH))
        read_body(visit)

    (record,) = send(serve(script).address, duration_ms=3000)
    assert (record.client_outcome, record.stored, record.matched) == ("complete", LENGTH, False)


def test_a_refusal_before_the_end_stops_the_upload(serve: Fixture) -> None:
    def script(visit: Any) -> None:
        read_head(visit)
        visit.say(b"HTTP/1.1 413 Too Large\r\nX-Instance-ID: a1\r\nContent-Length: 0\r\n\r\n")
        read_body(visit)

    (record,) = send(serve(script).address, duration_ms=1500)
    assert (record.client_outcome, record.status, record.matched, record.sha256) == ("complete", 413, None, None)


def test_a_large_body_is_never_whole_in_memory(serve: Fixture) -> None:
    length = 32 * 1024 * 1024

    def script(visit: Any) -> None:
        read_head(visit)
        left = length
        while left and (piece := visit.socket.recv(min(65536, left))):
            left -= len(piece)
        visit.say(b"HTTP/1.1 200 OK\r\nX-Instance-ID: a1\r\nContent-Length: 0\r\n\r\n")

    address = serve(script).address
    tracemalloc.start()
    try:
        (record,) = send(address, length=length)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (record.client_outcome, record.body_bytes) == ("complete", length)
    assert peak < length / 8


def test_an_upload_that_is_cut_says_what_was_sent_and_what_was_acknowledged(serve: Fixture) -> None:
    heads: list[bytes] = []

    def script(visit: Any) -> None:
        heads.append(read_head(visit))
        read_body(visit, 100_000)
        visit.reset()

    (record,) = send(serve(script).address)
    assert record.client_outcome == "closed_unanswered"
    # What was read and not yet acknowledged when the reset came, nobody tells: it's the least that had come.
    assert record.acknowledged is not None
    assert len(heads[0]) < record.acknowledged <= record.bytes_sent <= LENGTH + len(heads[0])
    assert (record.stored, record.matched) == (None, None)


def test_an_upload_that_is_cut_is_not_sent_again(serve: Fixture) -> None:
    """geventhttpclient/geventhttpclient #68: other clients send again, and say nothing of it."""
    server = serve(lambda visit: read_head(visit) and read_body(visit, 1000))
    records = send(server.address, keeps=True, times=3)
    assert [record.client_outcome for record in records] == ["closed_unanswered"] * 3
    assert server.connections == 3


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"st', "closed_in_body"),
        (b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{"stored": 300000}', "closed_in_body"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "closed_in_headers"),
    ],
)
def test_an_answer_that_is_cut_is_no_success_whatever_its_status_says(
    serve: Fixture, said: bytes, outcome: str
) -> None:
    """locustio/locust #1472, #2236: half an answer with the status 200."""

    def script(visit: Any) -> None:
        read_head(visit)
        read_body(visit)
        visit.say(said)

    (record,) = send(serve(script).address)
    assert (record.client_outcome, record.matched) == (outcome, None)


def test_one_whose_peer_reads_nothing_more_is_not_acknowledged_in_full(serve: Fixture) -> None:
    import threading

    over = threading.Event()

    def script(visit: Any) -> None:
        read_head(visit)
        over.wait(10)

    kind = Kind(name="up", method="POST", path="/", protocol="upload", rate=1.0, bytes=64 * 1024 * 1024)
    template = UploadTemplate(TrafficSettings(run="r", out="", url="http://x", kinds=[kind]), kind)
    target = FrontDoor(Target.from_text(serve(script).address))
    client = UploadClient(target, Limits(0.3, 5.0), Expectation(b"i", b"r"), keeps=False, numbers=itertools.count(1))
    record = Record(id="r-1", kind="up", method="POST", path="/", planned=0.0)
    client.send(template.request("r-1", 0, keeps=False), record)
    over.set()
    assert record.client_outcome == "timed_out"
    assert 0 < record.acknowledged <= record.bytes_sent < 64 * 1024 * 1024
