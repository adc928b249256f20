"""What each thing that a peer says means for the streams, without a socket."""

from __future__ import annotations

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from hyperframe.frame import GoAwayFrame, RstStreamFrame

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.http2_connections import ConnectionRecord
from swarmtest.traffic.http2_session import Session, Terms
from swarmtest.traffic.http2_stream import Stream, StreamRequest
from swarmtest.traffic.http2_wire import OPEN_END, StreamAnswer
from swarmtest.traffic.records import Record
from swarmtest.traffic.targets import Target

TARGET = Target.from_text("127.0.0.1:80")


class Talk:
    """A session and the server's side of it, joined by bytes alone."""

    def __init__(self, at_once: int = 4, in_all: int | None = None) -> None:
        record = ConnectionRecord(connection="h1", kind="k", target=TARGET.label, opened=1.0)
        self.session = Session(record, Terms(at_once, in_all))
        self.server = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self.server.initiate_connection()
        self.ended: list[ConnectionRecord] = []

    def open(self, count: int = 1) -> list[Stream]:
        made = []
        for n in range(count):
            record = Record(id=f"r{n}", kind="k", method="GET", path="/", planned=0.0)
            made.append(Stream(record, StreamAnswer(Expectation(b"x-instance-id", b"x-request-id"), False), b""))
            self.session.open(made[-1], StreamRequest(b"GET", "/", [(b"x-request-id", b"r0")]), TARGET)
        return made

    def exchange(self) -> None:
        """Lets both sides read all that the other has said."""
        for _ in range(2):
            self.server.receive_data(self.session.data_to_send())
            assert self.session.receive(self.server.data_to_send()) is None

    def say(self, frame: GoAwayFrame | RstStreamFrame) -> None:
        assert self.session.receive(frame.serialize()) is None

    def answer(self, number: int) -> None:
        self.server.send_headers(number, [(b":status", b"200")])
        self.server.send_data(number, b"four", end_stream=True)
        self.exchange()


def outcomes(streams: list[Stream]) -> list[str]:
    return [stream.outcome for stream in streams]


def test_an_announced_goaway_ends_nothing_and_takes_nothing_new() -> None:
    talk = Talk()
    streams = talk.open(2)
    talk.exchange()
    talk.say(GoAwayFrame(0, last_stream_id=OPEN_END))
    assert not talk.session.has_room
    assert outcomes(streams) == ["still_open"] * 2
    talk.answer(1)
    talk.answer(3)
    assert outcomes(streams) == ["complete"] * 2
    assert talk.session.is_idle


def test_the_second_goaway_ends_what_is_above_it_at_once() -> None:
    talk = Talk()
    streams = talk.open(3)
    talk.exchange()
    talk.say(GoAwayFrame(0, last_stream_id=OPEN_END))
    talk.say(GoAwayFrame(0, last_stream_id=3))
    assert outcomes(streams) == ["still_open", "still_open", "refused_stream"]
    assert streams[2].goaway == 3
    talk.answer(1)
    assert streams[0].outcome == "complete"
    assert talk.session.record.goaways == 2


def test_frames_after_a_goaway_in_the_same_bytes_are_read() -> None:
    talk = Talk()
    [stream] = talk.open()
    talk.exchange()
    talk.server.send_headers(1, [(b":status", b"200")], end_stream=True)
    data = GoAwayFrame(0, last_stream_id=1).serialize() + talk.server.data_to_send()
    assert talk.session.receive(data) is None
    assert stream.outcome == "complete"


def test_a_pings_answer_and_the_settings_acknowledgement_survive_a_goaway() -> None:
    talk = Talk()
    talk.open()
    talk.exchange()
    talk.server.ping(b"roundtri")
    data = talk.server.data_to_send() + GoAwayFrame(0, last_stream_id=1).serialize()
    assert talk.session.receive(data) is None
    events = talk.server.receive_data(talk.session.data_to_send())
    assert [type(event).__name__ for event in events] == ["PingAckReceived"]


def test_a_reset_is_a_refusal_only_by_its_code_and_before_an_answer() -> None:
    talk = Talk()
    streams = talk.open(3)
    talk.exchange()
    talk.server.send_headers(5, [(b":status", b"200")])
    talk.exchange()
    for number, code in (
        (1, ErrorCodes.REFUSED_STREAM),
        (3, ErrorCodes.INTERNAL_ERROR),
        (5, ErrorCodes.REFUSED_STREAM),
    ):
        talk.say(RstStreamFrame(number, error_code=code))
    assert outcomes(streams) == ["refused_stream", "closed_unanswered", "closed_in_body"]
    assert streams[1].error == "RST_STREAM: INTERNAL_ERROR"


def test_fewer_streams_at_once_where_the_peer_says_so() -> None:
    talk = Talk()
    talk.open(1)
    talk.server.update_settings({3: 2})  # MAX_CONCURRENT_STREAMS
    talk.exchange()
    assert talk.session.has_room
    talk.open(1)
    assert not talk.session.has_room


def test_a_connection_that_has_carried_all_that_it_may_winds_up() -> None:
    talk = Talk(in_all=2)
    talk.open(1)
    assert not talk.session.is_winding_up
    talk.open(1)
    assert talk.session.is_winding_up


def test_the_end_is_on_record_before_the_streams_are_told() -> None:
    talk = Talk()
    streams = talk.open(2)
    seen: list[str] = []

    def told(record: ConnectionRecord) -> None:
        seen.extend(outcomes(streams))
        talk.ended.append(record)

    talk.session.end("peer", None, told)
    assert seen == ["still_open"] * 2
    assert outcomes(streams) == ["closed_unanswered"] * 2
    assert streams[0].error == "closed without GOAWAY, with 2 streams open"
    assert talk.ended[0].open == 2


def test_nonsense_is_malformed_for_all_that_is_open() -> None:
    talk = Talk()
    streams = talk.open(2)
    assert "takes no HTTP/2 on this port" in (talk.session.receive(b"HTTP/1.1 400 Bad Request\r\n\r\n") or "")
    assert outcomes(streams) == ["malformed"] * 2
