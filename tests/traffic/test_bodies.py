"""The word about a content, in each form in which an app may give it."""

from __future__ import annotations

import hashlib
import socket
from base64 import b64encode

import pytest

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.bodies import ContentAnswer, Word, acknowledged_bytes
from tests.ports import free_port

SUM = hashlib.sha256(b"four").hexdigest()
DIGEST = b"sha-256=:" + b64encode(bytes.fromhex(SUM)) + b":"


def answer(head: bytes, body: bytes, trailer: bytes | None = None) -> ContentAnswer:
    read = ContentAnswer(Expectation(b"x-instance-id", b"x-request-id"))
    if trailer is None:
        read.feed(b"HTTP/1.1 200 OK\r\n" + head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    else:
        chunk = b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(body), body, trailer)
        read.feed(b"HTTP/1.1 200 OK\r\n" + head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk)
    assert read.complete
    return read


@pytest.mark.parametrize(
    ("head", "body", "word"),
    [
        (b"", b'{"stored": 4, "sha256": "AB", "more": []}', Word(4, "ab")),
        (b"", b'{"stored": 4}', Word(4)),
        (b"", b"stored", Word()),
        (b"", b'{"stored": "four"}', Word()),
        (b"X-Stored: 4\r\nX-Stored-SHA256: ab\r\n", b"thanks", Word(4, "ab")),
        (b"X-Stored: 5\r\n", b'{"stored": 4, "sha256": "ab"}', Word(5, "ab")),
        (b"X-Stored: many\r\n", b"", Word()),
    ],
)
def test_what_was_stored_is_told_by_fields_or_by_headers(head: bytes, body: bytes, word: Word) -> None:
    assert answer(head, body).word() == word


@pytest.mark.parametrize(
    ("head", "trailer", "told"),
    [
        (b"Repr-Digest: " + DIGEST + b"\r\n", None, SUM),
        (b"Repr-Digest: md5=:eHh4:, " + DIGEST + b"\r\n", None, SUM),
        (b"", b"Repr-Digest: " + DIGEST + b"\r\n", SUM),
        (b"", None, None),
        (b"Repr-Digest: md5=:eHh4:\r\n", None, None),
        (b"Repr-Digest: sha-256=:no base64:\r\n", None, "unreadable"),
    ],
)
def test_an_answer_tells_of_its_own_content_in_its_head_or_trailer(
    head: bytes, trailer: bytes | None, told: str | None
) -> None:
    read = answer(head, b"four", trailer)
    assert (read.own_word().sha256, read.sha256, read.body_bytes) == (told, SUM, 4)


def test_a_long_body_is_counted_and_not_kept() -> None:
    body = b"{" + b" " * 100_000 + b"}"
    read = answer(b"", body)
    assert read.sha256 == hashlib.sha256(body).hexdigest()
    assert read.word() == Word()


def test_the_kernel_tells_what_the_peer_has_acknowledged() -> None:
    with socket.create_server(("127.0.0.1", free_port())) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
        with ours, theirs:
            before = acknowledged_bytes(ours)
            ours.sendall(b"x" * 1000)
            assert theirs.recv(1000, socket.MSG_WAITALL) == b"x" * 1000
            theirs.sendall(b"y")
            assert ours.recv(1) == b"y"
            assert before is not None
            assert acknowledged_bytes(ours) == before + 1000


def test_what_is_no_tcp_connection_tells_nothing() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert acknowledged_bytes(ours) is None
