"""The HTTP/2 client against a server that does as it's told, stream by stream."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from h2.events import DataReceived, Event, RequestReceived, StreamReset
from hpack import NeverIndexedHeaderTuple

from swarmtest.traffic import http2_range
from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.http1 import Limits
from swarmtest.traffic.http2_connections import ConnectionRecord
from swarmtest.traffic.http2_range import ANNOUNCED, Http2Range, Visit
from swarmtest.traffic.http2_session import Terms
from swarmtest.traffic.http2_sharing import Connections, Dialer
from swarmtest.traffic.http2_stream import StreamRequest
from swarmtest.traffic.records import Record
from swarmtest.traffic.targets import FrontDoor

Script = Callable[[Visit], None]


@dataclass
class Bench:
    """A server with a script, and connections to it."""

    server: Http2Range
    shared: Connections
    ended: list[ConnectionRecord]
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def send(self, count: int = 1, body: bytes = b"") -> list[Record]:
        """Sends so many at once; in the order of their streams."""
        records = [self._record() for _ in range(count)]
        threads = [threading.Thread(target=self._send, args=(record, body)) for record in records]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        return sorted(records, key=lambda record: record.stream or 0)

    def _record(self) -> Record:
        return Record(id=f"r-{next(self._numbers)}", kind="k", method="POST", path="/", planned=0.0)

    def _send(self, record: Record, body: bytes) -> None:
        named = NeverIndexedHeaderTuple(b"x-request-id", record.id.encode())
        self.shared.send(StreamRequest(b"POST", "/", [named], body), record)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(
        script: Script | None, *, in_all: int | None = None, timeout_seconds: float = 10.0, **expected: object
    ) -> Bench:
        server = Http2Range("X-Instance-ID", "X-Request-ID")
        if script is not None:
            monkeypatch.setitem(http2_range.WAYS, "script", script)  # type: ignore[arg-type]
        target = server.door_of(0, "script") if script is not None else server.closed_door
        ended: list[ConnectionRecord] = []
        limits = Limits(timeout_seconds, 5.0)
        dialer = Dialer(FrontDoor(target), limits, Terms(4, in_all), "k", itertools.count(1), ended.append)
        expectation = Expectation(b"x-instance-id", b"x-request-id", **expected)  # type: ignore[arg-type]
        made.append(Bench(server, Connections(dialer, expectation), ended))
        return made[-1]

    yield make
    for one in made:
        one.shared.leave()
        one.server.__exit__(None, None, None)


def events_of(visit: Visit) -> list[Event]:
    """The next things that the client says; none when it's gone."""
    data = visit._socket.recv(65536)
    events = visit._wire.receive_data(data) if data else []
    visit._flush()
    return events


def take_body(visit: Visit, length: int) -> None:
    """Takes a body in pieces as large as its own windows allow."""
    while length:
        for event in events_of(visit):
            if isinstance(event, RequestReceived):
                visit._note(event)
            elif isinstance(event, DataReceived):
                length -= len(event.data or b"")
                visit._wire.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id or 0)
                visit._flush()


def answer_with(visit: Visit, number: int, length: int) -> None:
    """Answers with a large body, as fast as the client's windows allow."""
    visit._wire.send_headers(number, [(b":status", b"200"), (b"content-length", str(length).encode())])
    while length:
        room = min(visit._wire.local_flow_control_window(number), visit._wire.max_outbound_frame_size, length)
        if room:
            length -= room
            visit._wire.send_data(number, b"b" * room, end_stream=not length)
            visit._flush()
        else:
            events_of(visit)


def whole(visit: Visit) -> None:
    """Answers all that comes."""
    while visit.await_batch(1):
        for number in visit.open:
            visit.answer(number)


def outcomes(records: list[Record]) -> list[str]:
    return [record.client_outcome for record in records]


def test_several_requests_share_a_connection_and_each_has_a_record(bench: Callable[..., Bench]) -> None:
    records = bench(whole).send(4)
    assert outcomes(records) == ["complete"] * 4
    assert [record.stream for record in records] == [1, 3, 5, 7]
    assert len({record.connection for record in records}) == 1
    assert [record.reused for record in records] == [False, True, True, True]
    assert [record.connected is not None for record in records] == [True, False, False, False]
    one = records[0]
    assert (one.status, one.echoed, one.instance, one.framing) == (200, True, "calibration", "length")
    assert one.bytes_received == 4
    assert one.bytes_sent > 0
    assert one.goaway is None


def test_no_more_streams_are_opened_at_once_than_the_connection_may_carry(bench: Callable[..., Bench]) -> None:
    both_are_full = threading.Barrier(2)

    def together(visit: Visit) -> None:
        visit.await_batch(4)
        both_are_full.wait(10)
        whole(visit)

    found = bench(together)
    records = found.send(8)
    assert outcomes(records) == ["complete"] * 8
    assert found.server.connections[0] == 2


def test_a_fresh_connection_carries_so_many_in_all_and_is_closed(bench: Callable[..., Bench]) -> None:
    found = bench(whole, in_all=2)
    for _ in range(4):
        assert outcomes(found.send()) == ["complete"]
    assert found.server.connections[0] == 2
    assert [(one.streams, one.open, one.ended_by) for one in found.ended] == [(2, 0, "client")] * 2


def test_a_goaway_that_only_announces_loses_nothing_and_new_requests_go_elsewhere(bench: Callable[..., Bench]) -> None:
    def twice(visit: Visit) -> None:
        visit.await_batch(2)
        visit.go_away(ANNOUNCED)
        visit.round_trip()
        visit.go_away(max(visit.streams))
        for number in visit.open:
            visit.answer(number)
        visit.read_until(lambda: False)

    found = bench(twice)
    first, second = found.send(2), found.send(2)
    assert outcomes(first + second) == ["complete"] * 4
    assert {record.connection for record in first} != {record.connection for record in second}
    told = found.ended[0]
    assert (told.goaways, told.goaway, told.code, told.open, told.ended_by) == (2, 3, "NO_ERROR", 0, "client")
    assert told.goaway_at is not None
    assert told.opened <= told.goaway_at <= (told.ended or 0.0)


def test_streams_above_the_last_one_were_seen_by_nobody_and_those_below_are_answered(
    bench: Callable[..., Bench],
) -> None:
    def once(visit: Visit) -> None:
        visit.await_batch(4)
        visit.go_away(3)
        visit.round_trip()
        visit.answer(1)
        visit.answer(3)

    records = bench(once).send(4)
    assert outcomes(records) == ["complete", "complete", "refused_stream", "refused_stream"]
    assert records[2].error == "GOAWAY NO_ERROR: 3 is the last stream that was looked at"
    assert [record.goaway for record in records] == [3] * 4


def test_a_socket_without_goaway_costs_as_many_requests_as_it_carries(bench: Callable[..., Bench]) -> None:
    def closes(visit: Visit) -> None:
        visit.await_batch(4)

    found = bench(closes)
    records = found.send(4)
    assert outcomes(records) == ["closed_unanswered"] * 4
    assert records[0].error == "closed without GOAWAY, with 4 streams open"
    assert [(one.open, one.ended_by, one.goaway) for one in found.ended] == [(4, "peer", None)]


def test_one_below_the_last_stream_that_is_cut_all_the_same_is_no_refused_one(bench: Callable[..., Bench]) -> None:
    def leaves(visit: Visit) -> None:
        visit.await_batch(2)
        visit.go_away(3)
        visit.round_trip()
        visit.answer(1)

    records = bench(leaves).send(2)
    assert outcomes(records) == ["complete", "closed_unanswered"]
    assert records[1].goaway == 3
    assert records[1].error == "closed after a GOAWAY that named 3, with 1 streams open"


def test_an_idle_connection_that_ends_costs_nothing_and_the_next_request_dials(bench: Callable[..., Bench]) -> None:
    def one_each(visit: Visit) -> None:
        visit.await_batch(1)
        visit.answer(visit.open[0])
        visit.round_trip()

    found = bench(one_each)
    first = found.send()
    for thread in threading.enumerate():
        if thread.name.startswith("h2 "):
            thread.join(10)
    second = found.send()
    assert outcomes(first + second) == ["complete"] * 2
    assert second[0].connection != first[0].connection
    assert not second[0].reused


def test_an_idle_connection_that_is_told_to_go_away_is_closed_by_us(bench: Callable[..., Bench]) -> None:
    left = threading.Event()

    def says_goodbye_when_idle(visit: Visit) -> None:
        visit.await_batch(1)
        visit.answer(1)
        visit.round_trip()
        visit.go_away(ANNOUNCED)
        visit.read_until(lambda: False)
        left.set()

    found = bench(says_goodbye_when_idle)
    assert outcomes(found.send()) == ["complete"]
    assert left.wait(10)
    assert [(one.ended_by, one.goaway, one.open) for one in found.ended] == [("client", ANNOUNCED, 0)]


def test_a_body_waits_for_the_peers_window(bench: Callable[..., Bench]) -> None:
    length = 300_000

    def takes_in_pieces(visit: Visit) -> None:
        take_body(visit, length)
        visit.answer(1)

    [record] = bench(takes_in_pieces).send(body=b"b" * length)
    assert record.client_outcome == "complete"
    assert record.bytes_sent > length


def test_an_answer_before_all_is_sent_ends_the_rest(bench: Callable[..., Bench]) -> None:
    def refuses_early(visit: Visit) -> None:
        visit.await_batch(1)
        visit.answer(1)
        visit.read_until(lambda: False)

    [record] = bench(refuses_early).send(body=b"b" * 300_000)
    assert record.client_outcome == "complete"
    assert record.bytes_sent < 300_000


def test_a_large_answer_comes_through_the_windows(bench: Callable[..., Bench]) -> None:
    def floods(visit: Visit) -> None:
        visit.await_batch(1)
        answer_with(visit, 1, 40_000_000)
        visit.read_until(lambda: False)

    [record] = bench(floods).send()
    assert (record.client_outcome, record.bytes_received) == ("complete", 40_000_000)


def test_our_deadline_ends_one_stream_and_not_its_connection(bench: Callable[..., Bench]) -> None:
    resets: list[int] = []

    def answers_the_second(visit: Visit) -> None:
        visit.await_batch(2)
        visit.answer(3)
        while events := events_of(visit):
            resets.extend(event.stream_id or 0 for event in events if isinstance(event, StreamReset))

    found = bench(answers_the_second, timeout_seconds=0.8)
    records = found.send(2)
    assert outcomes(records) == ["timed_out", "complete"]
    assert found.ended == []
    found.shared.leave()
    for thread in threading.enumerate():
        if "_treat_all" in thread.name:
            thread.join(10)
    assert resets == [1]


def test_a_body_shorter_than_it_says_is_malformed_and_the_others_go_on(bench: Callable[..., Bench]) -> None:
    def short(visit: Visit) -> None:
        visit.await_batch(2)
        visit.answer(1, b"100")
        visit.answer(3)
        visit.read_until(lambda: False)

    records = bench(short).send(2)
    assert outcomes(records) == ["malformed", "complete"]
    assert records[0].error == "the body isn't as long as the answer said"


def test_a_peer_that_knows_http1_only_is_named(bench: Callable[..., Bench]) -> None:
    found = bench(lambda visit: None)
    target = found.server.door_of(1, "malformed")
    shared = Connections(
        Dialer(FrontDoor(target), Limits(5.0, 5.0), Terms(4), "k", itertools.count(1), found.ended.append),
        Expectation(b"x-instance-id", b"x-request-id"),
    )
    [record] = Bench(found.server, shared, found.ended).send()
    assert record.client_outcome == "malformed"
    assert "takes no HTTP/2 on this port" in (record.error or "")


def test_no_connection_is_made_for_any_of_those_that_wait_for_it(bench: Callable[..., Bench]) -> None:
    records = bench(None).send(4)
    assert outcomes(records) == ["no_connection"] * 4
    assert all((record.error or "").startswith("ConnectionRefusedError") for record in records)
    assert {record.bytes_sent for record in records} == {0}


def test_a_body_of_another_length_than_expected_is_malformed(bench: Callable[..., Bench]) -> None:
    [record] = bench(whole, expect_bytes=5).send()
    assert (record.client_outcome, record.error) == ("malformed", "body of 4 bytes, expected 5")


def test_an_end_marker_that_is_missing_is_malformed(bench: Callable[..., Bench]) -> None:
    [good] = bench(whole, end_marker=b"our").send()
    [bad] = bench(whole, end_marker=b"END").send()
    assert good.client_outcome == "complete"
    assert (bad.client_outcome, bad.error) == ("malformed", "body doesn't end with b'END'")
