"""HTTP/2's shot lets a client that can count pass, and finds out each way of not being able to."""

from __future__ import annotations

import socket
import time

from h2.connection import H2Connection

from swarmtest.traffic.calibration import Calibration
from swarmtest.traffic.http2_calibration import SHOTS, calibrate_http2, with_http2
from swarmtest.traffic.http2_range import BATCH, Http2Range
from swarmtest.traffic.http2_sharing import Connections
from swarmtest.traffic.http2_stream import StreamRequest
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings


def wrongs(make_shared: type[Connections]) -> str:
    return "\n".join(calibrate_http2("X-Instance-ID", "X-Request-ID", make_shared).wrong)


def settings(protocol: str) -> TrafficSettings:
    kind = Kind(name="k", path="/", rate=1.0, protocol=protocol)
    return TrafficSettings(run="r", out="/nowhere", url="http://h", kinds=[kind])


def test_our_own_client_can_count() -> None:
    shot = calibrate_http2("X-Instance-ID", "X-Request-ID")
    assert shot.wrong == []
    assert shot.ok
    assert shot.counted["closed_unanswered"] == 10  # eight of two sockets, two below a GOAWAY
    assert shot.counted["refused_stream"] == 16
    assert shot.counted["connections"] == sum(one.connections for one in SHOTS)


def test_a_client_that_writes_late_is_not_reset_by_the_server() -> None:
    request = [(":method", "GET"), (":path", "/"), (":scheme", "http"), (":authority", "h"), ("x-request-id", "1")]
    with Http2Range("X-Instance-ID", "X-Request-ID") as server:
        door = server.door_of(0, "goaway_then_close")
        with socket.create_connection((door.host, door.port), timeout=10) as client:
            wire = H2Connection()
            wire.initiate_connection()
            for number in range(1, 2 * BATCH, 2):
                wire.send_headers(number, request, end_stream=True)
            client.sendall(wire.data_to_send())
            while b"four" not in client.recv(65536, socket.MSG_PEEK):
                time.sleep(0.01)
            for _ in range(3):  # to a closed socket the first is taken, the second fails
                wire.ping(b"too late")
                client.sendall(wire.data_to_send())
                time.sleep(0.05)


def test_a_refused_stream_that_is_sent_again_is_found_out() -> None:
    class Persistent(Connections):
        def send(self, request: StreamRequest, record: Record) -> None:
            super().send(request, record)
            if record.kind == "refused_stream":
                super().send(request, record)

    assert "h2 refused_stream: a request reached the server 2 times, expected 1" in wrongs(Persistent)


def test_one_loss_for_a_whole_connection_is_found_out() -> None:
    class Counting(Connections):
        def send(self, request: StreamRequest, record: Record) -> None:
            super().send(request, record)
            if record.stream != 1:
                record.client_outcome = "complete"

    assert "h2 closed: closed_in_body, complete_unproved" in wrongs(Counting)


def test_a_goaway_that_is_not_noted_is_found_out() -> None:
    class Deaf(Connections):
        def send(self, request: StreamRequest, record: Record) -> None:
            super().send(request, record)
            record.goaway = None

    assert "h2 goaway_below: GOAWAY of None recorded, expected 3" in wrongs(Deaf)


def test_it_is_fired_only_where_a_kind_asks_for_http2() -> None:
    plain = Calibration({"hits": 1}, {"hits": 1})
    assert with_http2(plain, settings("http1")) is plain
    both = with_http2(plain, settings("h2"))
    assert both.ok
    assert both.counted["hits"] == 1
    assert both.counted["refused_stream"] == 16
