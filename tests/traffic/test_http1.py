"""The client against real sockets: what the server does to a request is what its record says.

Each script treats one connection. The client runs on plain sockets here; under Locust the same code
runs on gevent's, which ``test_child`` and the calibration shot cover.
"""

from __future__ import annotations

import errno
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from swarmtest.evidence import request as evidence
from swarmtest.traffic import answers
from swarmtest.traffic.targets import Target

OK = b"HTTP/1.1 200 OK\r\nX-Instance-ID: a1\r\nX-Request-ID: r-1\r\n"
WHOLE = OK + b"Content-Length: 4\r\n\r\nfour"
Fixture = Callable[..., Any]


def whole(visit: Any) -> None:
    while head := visit.read_request():
        request_id = head.split(b"X-Request-ID: ")[1].split(b"\r\n")[0]
        visit.say(WHOLE.replace(b"r-1", request_id))


def saying(data: bytes) -> Callable[[Any], None]:
    def script(visit: Any) -> None:
        visit.read_request()
        visit.say(data)

    return script


def test_a_whole_answer_is_complete_with_all_that_proves_it(serve: Fixture, make_sender: Fixture) -> None:
    server = serve(whole)
    before = time.time()
    record = make_sender(server.address).send("/work?ms=20")
    assert (record.client_outcome, record.error, record.status) == ("complete", None, 200)
    assert (record.instance, record.echoed, record.framing, record.bytes_received) == ("a1", True, "length", 4)
    assert (record.connection, record.reused, record.target) == ("c1", False, server.address)
    assert before <= record.sent <= record.first_byte <= record.done <= time.time()
    assert record.bytes_sent == len(server.requests[0])
    assert server.requests[0].startswith(f"GET /work?ms=20 HTTP/1.1\r\nHost: {server.address}\r\n".encode())


@pytest.mark.parametrize(
    ("data", "outcome", "framing"),
    [
        (b"", "closed_unanswered", None),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "closed_unanswered", None),
        (b"H", "closed_in_headers", None),
        (OK + b"Content-Len", "closed_in_headers", "length"),
        (OK, "closed_in_headers", None),
        (OK + b"Content-Length: 100\r\n\r\n", "closed_in_body", "length"),
        (OK + b"Content-Length: 100\r\n\r\nfour", "closed_in_body", "length"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n", "closed_in_body", "chunked"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n0\r\n", "closed_in_body", "chunked"),
        (OK + b"Connection: close\r\n\r\nfour", "closed_in_body", "close"),
        (b"SPAM\r\n", "malformed", None),
        (WHOLE + b"more", "malformed", "length"),
    ],
)
@pytest.mark.parametrize("ending", ["close", "reset"])
def test_a_cut_is_named_by_how_far_the_answer_came(
    serve: Fixture, make_sender: Fixture, data: bytes, outcome: str, framing: str | None, ending: str
) -> None:
    """locustio/locust #1472, #2236: cuts that other clients report as success."""

    def script(visit: Any) -> None:
        visit.read_request()
        visit.say(data)
        if ending == "reset":
            visit.reset()

    server = serve(script)
    record = make_sender(server.address, keeps=True).send()
    assert record.client_outcome == outcome
    assert record.error
    assert record.framing in (framing, None)
    assert len(server.requests) == server.connections == 1


def test_a_body_that_only_closing_ends_says_why_it_is_not_believed(serve: Fixture, make_sender: Fixture) -> None:
    record = make_sender(serve(saying(OK + b"Connection: close\r\n\r\nfour of hundred")).address).send()
    assert (record.client_outcome, record.framing) == ("closed_in_body", "close")
    assert record.error == "no length: completeness can't be proved"
    assert record.status == 200


def test_a_body_that_only_closing_ends_is_complete_with_its_end_marker(serve: Fixture, make_sender: Fixture) -> None:
    server = serve(saying(OK + b"Connection: close\r\n\r\nall.END"))
    record = make_sender(server.address, end_marker=b".END").send()
    assert (record.client_outcome, record.framing) == ("complete", "marker")


@pytest.mark.parametrize(("expected", "outcome"), [(4, "complete"), (100, "closed_in_body")])
def test_a_body_that_only_closing_ends_is_complete_with_the_expected_length(
    serve: Fixture, make_sender: Fixture, expected: int, outcome: str
) -> None:
    server = serve(saying(OK + b"\r\nfour"))
    record = make_sender(server.address, expect_bytes=expected).send()
    assert record.client_outcome == outcome
    assert record.framing == ("length" if outcome == "complete" else "close")
    assert outcome == "complete" or record.error == "closed after a body of 4 bytes, expected 100"


def test_a_body_that_closing_ends_before_its_marker_says_so(serve: Fixture, make_sender: Fixture) -> None:
    record = make_sender(serve(saying(OK + b"\r\nfour")).address, end_marker=b".END").send()
    assert (record.client_outcome, record.error) == ("closed_in_body", "closed before the body's end, which is b'.END'")


def test_both_sides_know_the_word_for_a_body_without_any_proof() -> None:
    assert answers.NO_LENGTH.startswith(evidence.NO_LENGTH)


def test_an_answer_without_the_headers_leaves_them_open(serve: Fixture, make_sender: Fixture) -> None:
    record = make_sender(serve(saying(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfour")).address).send()
    assert (record.client_outcome, record.instance, record.echoed) == ("complete", None, None)


def test_another_requests_id_is_no_echo(serve: Fixture, make_sender: Fixture) -> None:
    record = make_sender(serve(saying(WHOLE.replace(b"r-1", b"r-7"))).address).send()
    assert (record.client_outcome, record.echoed) == ("complete", False)


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_head_has_no_body_and_leaves_the_connection_usable(serve: Fixture, make_sender: Fixture, method: str) -> None:
    def script(visit: Any) -> None:
        while head := visit.read_request():
            visit.say(OK + b"Content-Length: 4\r\n\r\n" + (b"" if head.startswith(b"HEAD") else b"four"))

    sender = make_sender(serve(script).address, keeps=True)
    records = [sender.send(method=method) for _ in range(2)]
    assert [record.client_outcome for record in records] == ["complete"] * 2
    assert records[1].reused


def test_a_kept_connection_carries_request_after_request(serve: Fixture, make_sender: Fixture) -> None:
    server = serve(whole)
    sender = make_sender(server.address, keeps=True)
    records = [sender.send() for _ in range(5)]
    assert [record.reused for record in records] == [False, True, True, True, True]
    assert {record.connection for record in records} == {"c1"}
    assert server.connections == 1


def test_a_fresh_user_opens_a_connection_for_each_request(serve: Fixture, make_sender: Fixture) -> None:
    server = serve(whole)
    sender = make_sender(server.address, keeps=False)
    assert [sender.send().connection for _ in range(3)] == ["c1", "c2", "c3"]
    assert server.connections == 3


@pytest.mark.parametrize("stray", [b"", b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"])
@pytest.mark.parametrize("ending", ["close", "reset"])
def test_an_idle_close_is_a_reconnect_and_no_loss(
    serve: Fixture, make_sender: Fixture, stray: bytes, ending: str
) -> None:
    read, closed = threading.Semaphore(0), threading.Semaphore(0)

    def script(visit: Any) -> None:
        visit.read_request()
        visit.say(WHOLE)
        assert read.acquire(timeout=5)  # and the connection is idle
        visit.say(stray)
        visit.reset() if ending == "reset" else visit.socket.close()
        closed.release()

    server = serve(script)
    sender = make_sender(server.address, keeps=True)
    records = []
    for _ in range(3):
        records.append(sender.send())
        read.release()
        assert closed.acquire(timeout=5)
    assert [record.client_outcome for record in records] == ["complete"] * 3
    assert [record.reused for record in records] == [False] * 3
    assert len(server.requests) == server.connections == 3


@pytest.mark.parametrize("ending", ["close", "reset"])
def test_a_request_cut_on_a_kept_connection_is_recorded_and_never_sent_again(
    serve: Fixture, make_sender: Fixture, ending: str
) -> None:
    """geventhttpclient/geventhttpclient #54, #69 and locustio/locust #2676: silent repeats."""

    def script(visit: Any) -> None:
        visit.read_request()
        visit.say(WHOLE)
        visit.read_request()
        if ending == "reset":
            visit.reset()

    server = serve(script)
    sender = make_sender(server.address, keeps=True)
    first, second = sender.send(), sender.send()
    assert (first.client_outcome, second.client_outcome) == ("complete", "closed_unanswered")
    assert second.reused
    assert second.bytes_sent == len(server.requests[1])
    assert len(server.requests) == 2
    assert server.connections == 1
    third = sender.send()
    assert (third.client_outcome, third.reused, third.connection) == ("complete", False, "c2")


def test_an_answer_that_ends_the_connection_is_obeyed(serve: Fixture, make_sender: Fixture) -> None:
    def script(visit: Any) -> None:
        visit.read_request()
        visit.say(OK + b"Connection: close\r\nContent-Length: 4\r\n\r\nfour")
        visit.wait_for_the_client_to_close()

    sender = make_sender(serve(script).address, keeps=True)
    assert [sender.send().reused for _ in range(2)] == [False, False]


def test_a_refused_connection_is_no_connection(make_sender: Fixture) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        record = make_sender(f"127.0.0.1:{held.getsockname()[1]}").send()
    assert (record.client_outcome, record.connection, record.bytes_sent) == ("no_connection", None, 0)
    assert "refused" in record.error
    assert record.done is not None


@pytest.fixture
def full_listener() -> Iterator[str]:
    """A listener that nobody accepts from and whose queue is full, so that connecting takes forever."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        for one in waiting:
            one.close()


def test_a_connect_that_takes_too_long_is_no_connection(full_listener: str, make_sender: Fixture) -> None:
    record = make_sender(full_listener, connect_timeout_seconds=0.1).send()
    assert (record.client_outcome, record.connection) == ("no_connection", None)
    assert record.done - record.sent < 2


@pytest.mark.parametrize("error", [socket.gaierror(socket.EAI_NONAME, "name not known"), UnicodeError("label empty")])
def test_a_name_that_is_not_known_is_no_connection(
    make_sender: Fixture, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    record = make_sender("nowhere.invalid:80").send()
    assert record.client_outcome == "no_connection"


def test_no_listed_target_is_no_connection(make_sender: Fixture) -> None:
    class Nothing:
        def pick(self) -> Target | None:
            return None

    record = make_sender(Nothing()).send()
    assert (record.client_outcome, record.error, record.target) == ("no_connection", "no target listed", "")


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENOBUFS, errno.EADDRNOTAVAIL, errno.EPERM])
def test_what_is_our_own_fault_is_never_put_down_to_the_server(
    serve: Fixture, make_sender: Fixture, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    server = serve(whole)

    def fail(self: socket.socket, address: object) -> None:
        raise OSError(code, "own fault")

    monkeypatch.setattr(socket.socket, "connect", fail)
    record = make_sender(server.address).send()
    assert (record.client_outcome, server.connections) == ("local_error", 0)
    assert "own fault" in record.error


def test_running_out_of_file_descriptors_is_our_own_fault(serve: Fixture, make_sender: Fixture) -> None:
    server = serve(whole)
    sender = make_sender(server.address)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        record = sender.send()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert record.client_outcome == "local_error"
    assert "Too many open files" in record.error


@pytest.mark.parametrize("answered", [b"", OK, OK + b"Content-Length: 100\r\n\r\nfour"])
def test_our_own_deadline_is_a_time_out_wherever_the_answer_is(
    serve: Fixture, make_sender: Fixture, answered: bytes
) -> None:
    def script(visit: Any) -> None:
        visit.read_request()
        visit.say(answered)
        visit.wait_for_the_client_to_close()

    record = make_sender(serve(script).address, keeps=True, timeout_seconds=0.15).send()
    assert record.client_outcome == "timed_out"
    assert (record.first_byte is None) == (not answered)
    assert 0.1 < record.done - record.sent < 2


def test_the_deadline_is_for_the_whole_request_and_not_for_each_byte(serve: Fixture, make_sender: Fixture) -> None:
    def script(visit: Any) -> None:
        visit.read_request()
        visit.say(OK + b"Content-Length: 1000\r\n\r\n")
        while True:
            visit.say(b"x")
            time.sleep(0.03)

    record = make_sender(serve(script).address, timeout_seconds=0.3).send()
    assert record.client_outcome == "timed_out"
    assert record.done - record.sent < 2


def test_the_kernels_giving_up_on_a_peer_is_a_close_and_not_our_time_out(
    serve: Fixture, make_sender: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_up(self: socket.socket, size: int, flags: int = 0) -> bytes:
        raise TimeoutError(errno.ETIMEDOUT, "Connection timed out")

    server = serve(lambda visit: visit.wait_for_the_client_to_close())
    sender = make_sender(server.address)
    with monkeypatch.context() as patch:
        patch.setattr(socket.socket, "recv", give_up)
        record = sender.send()
    assert record.client_outcome == "closed_unanswered"


@pytest.mark.parametrize("call", ["send", "recv"])
def test_an_error_that_is_not_the_peers_is_our_own(
    serve: Fixture, make_sender: Fixture, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fail(self: socket.socket, *args: object) -> None:
        raise OSError(errno.ENOBUFS, "No buffer space available")

    # The server's side reads with patience of its own; only the client's call is broken.
    server = serve(lambda visit: time.sleep(0.1))
    sender = make_sender(server.address)
    with monkeypatch.context() as patch:
        patch.setattr(socket.socket, call, fail)
        record = sender.send()
    assert (record.client_outcome, record.error) == ("local_error", "OSError: [Errno 105] No buffer space available")


def test_an_interim_answer_has_no_first_byte(serve: Fixture, make_sender: Fixture) -> None:
    record = make_sender(serve(saying(b"HTTP/1.1 100 Continue\r\n\r\n")).address).send()
    assert (record.client_outcome, record.first_byte) == ("closed_unanswered", None)


def test_an_end_marker_does_not_make_up_for_a_missing_length(serve: Fixture, make_sender: Fixture) -> None:
    server = serve(saying(OK + b"Content-Length: 100\r\n\r\nall.END"))
    record = make_sender(server.address, end_marker=b".END").send()
    assert (record.client_outcome, record.framing) == ("closed_in_body", "length")


def test_an_answer_that_came_before_a_reset_is_read_though_the_body_could_not_be_sent(
    serve: Fixture, make_sender: Fixture
) -> None:
    def script(visit: Any) -> None:
        visit.socket.recv(100)
        visit.say(b"HTTP/1.1 413 Too Large\r\nX-Instance-ID: a1\r\nContent-Length: 2\r\n\r\nno")
        # Closing with bytes unread makes the kernel send a reset after the answer.

    body = b"x" * 20_000_000
    record = make_sender(serve(script).address, keeps=True).send(method="POST", body=body)
    assert (record.client_outcome, record.status, record.instance) == ("complete", 413, "a1")
    assert record.bytes_sent < len(body)


def test_an_answer_that_comes_in_mid_upload_ends_the_request(serve: Fixture, make_sender: Fixture) -> None:
    judged = threading.Event()

    def script(visit: Any) -> None:
        visit.socket.recv(100)
        visit.say(WHOLE)
        judged.wait(5)

    sender = make_sender(serve(script).address, keeps=True)
    record = sender.send(method="POST", body=b"x" * 20_000_000)
    second = sender.send()
    judged.set()
    assert record.client_outcome == "complete"
    assert record.done - record.sent < 2
    # Half a request is still in the first connection, so it can't carry another one.
    assert (second.client_outcome, second.reused) == ("complete", False)


def test_a_large_upload_goes_out_whole(serve: Fixture, make_sender: Fixture) -> None:
    received = []

    def script(visit: Any) -> None:
        head = visit.read_request()
        received.append(len(head))
        expected = 5_000_000 + head.index(b"\r\n\r\n") + 4
        while sum(received) < expected:
            received.append(len(visit.socket.recv(65536)))
        visit.say(WHOLE)

    record = make_sender(serve(script).address).send(method="POST", body=b"x" * 5_000_000)
    assert record.client_outcome == "complete"
    assert record.bytes_sent == sum(received)


def test_a_reset_in_mid_upload_is_closed_unanswered(serve: Fixture, make_sender: Fixture) -> None:
    def script(visit: Any) -> None:
        visit.socket.recv(100)
        visit.reset()

    record = make_sender(serve(script).address).send(method="POST", body=b"x" * 20_000_000)
    assert record.client_outcome == "closed_unanswered"
    assert 0 < record.bytes_sent < 20_000_000


def test_a_connection_closed_unread_is_closed_unanswered(serve: Fixture, make_sender: Fixture) -> None:
    """pgjones/hypercorn #128, benoitc/gunicorn #2529: connected, sent, never served."""
    server = serve(lambda visit: visit.socket.recv(1, socket.MSG_PEEK))
    record = make_sender(server.address).send()
    assert (record.client_outcome, server.requests) == ("closed_unanswered", [])


@pytest.mark.parametrize("status", [429, 503])
def test_a_shed_request_is_a_complete_answer_that_says_when_to_come_back(
    serve: Fixture, make_sender: Fixture, status: int
) -> None:
    server = serve(saying(f"HTTP/1.1 {status} Later\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n".encode()))
    record = make_sender(server.address).send()
    assert (record.client_outcome, record.status, record.retry_after) == ("complete", status, True)
