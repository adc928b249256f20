"""Downloads against real sockets: a whole length isn't enough, the content has to be the right one."""

from __future__ import annotations

import hashlib
import itertools
import tracemalloc
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.download import DownloadClient, DownloadTemplate
from swarmtest.traffic.http1 import Limits
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.targets import FrontDoor, Target

BODY = bytes(range(256)) * 1000
Fixture = Callable[..., Any]


def fetch(address: str, sha256: str | None = None, expect_bytes: int | None = len(BODY)) -> Record:
    kind = Kind(name="down", path="/download?bytes={bytes}", protocol="download", rate=1.0, bytes=len(BODY))
    template = DownloadTemplate(TrafficSettings(run="r", out="", url="http://x", kinds=[kind]), kind)
    expectation = Expectation(b"x-instance-id", b"x-request-id", None, expect_bytes, sha256)
    target = FrontDoor(Target.from_text(address))
    client = DownloadClient(target, Limits(5.0, 5.0), expectation, keeps=False, numbers=itertools.count(1))
    record = Record(id="r-1", kind="down", method="GET", path="/download", planned=0.0, protocol="download")
    client.send(template.request("r-1", 0, keeps=False), record)
    return record


def saying(body: bytes, digest_of: bytes | None = BODY, length: int = len(BODY)) -> Callable[[Any], None]:
    def script(visit: Any) -> None:
        visit.read_request()
        line = b""
        if digest_of is not None:
            line = b"Repr-Digest: sha-256=:" + b64encode(hashlib.sha256(digest_of).digest()) + b":\r\n"
        head = b"HTTP/1.1 200 OK\r\nX-Instance-ID: a1\r\n" + line + b"Content-Length: %d\r\n\r\n" % length
        visit.say(head + body)

    return script


def test_a_download_with_the_promised_content_matches(serve: Fixture) -> None:
    server = serve(saying(BODY))
    record = fetch(server.address)
    assert (record.client_outcome, record.matched, record.bytes_received) == ("complete", True, len(BODY))
    assert record.sha256 == hashlib.sha256(BODY).hexdigest()
    assert server.requests[0].startswith(b"GET /download?bytes=256000 HTTP/1.1")


def test_one_that_is_altered_on_the_way_does_not(serve: Fixture) -> None:
    record = fetch(serve(saying(BODY[:-1] + b"!")).address)
    assert (record.client_outcome, record.matched) == ("complete", False)


def test_one_that_says_nothing_of_its_content_proves_nothing(serve: Fixture) -> None:
    assert fetch(serve(saying(BODY, digest_of=None)).address).matched is None


@pytest.mark.parametrize(("known", "matched"), [(BODY, True), (b"another", False)])
def test_a_known_checksum_counts_more_than_the_answer_s_own(serve: Fixture, known: bytes, matched: bool) -> None:
    record = fetch(serve(saying(BODY)).address, hashlib.sha256(known).hexdigest())
    assert record.matched is matched


def test_a_large_body_is_never_whole_in_memory(serve: Fixture) -> None:
    pieces = 128

    def script(visit: Any) -> None:
        visit.read_request()
        visit.say(b"HTTP/1.1 200 OK\r\nX-Instance-ID: a1\r\nContent-Length: %d\r\n\r\n" % (len(BODY) * pieces))
        for _ in range(pieces):
            visit.say(BODY)

    address = serve(script).address
    tracemalloc.start()
    try:
        record = fetch(address, expect_bytes=len(BODY) * pieces)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert record.client_outcome == "complete"
    assert record.sha256 == hashlib.sha256(BODY * pieces).hexdigest()
    assert peak < len(BODY) * pieces / 8


def test_one_that_is_truncated_is_cut_whatever_its_status_says(serve: Fixture) -> None:
    record = fetch(serve(saying(BODY[:1000])).address)
    assert (record.client_outcome, record.status, record.matched) == ("closed_in_body", 200, None)
    assert (record.body_bytes, record.bytes_received) == (len(BODY), 1000)


def test_a_whole_answer_of_another_length_than_the_known_one_is_malformed(serve: Fixture) -> None:
    record = fetch(serve(saying(BODY[:1000], BODY[:1000], 1000)).address)
    assert (record.client_outcome, record.matched) == ("malformed", None)


def test_one_that_only_the_closing_ends_is_held_to_its_known_length(serve: Fixture) -> None:
    """locustio/locust #625: a body without a length passes for whole when it's cut."""

    def script(visit: Any) -> None:
        visit.read_request()
        visit.say(b"HTTP/1.1 200 OK\r\nX-Instance-ID: a1\r\nConnection: close\r\n\r\n" + BODY[:1000])

    record = fetch(serve(script).address)
    assert (record.client_outcome, record.matched) == ("closed_in_body", None)


def test_one_that_is_cut_is_not_sent_again(serve: Fixture) -> None:
    """geventhttpclient/geventhttpclient #68."""
    server = serve(saying(BODY[:1000]))
    assert fetch(server.address).client_outcome == "closed_in_body"
    assert server.connections == 1
