"""The service's end by HTTP/2, seen by the client that swarmtest itself sends with."""

from __future__ import annotations

import asyncio
import itertools
import signal

from hpack import NeverIndexedHeaderTuple

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.http1 import Limits
from swarmtest.traffic.http2_connections import ConnectionRecord
from swarmtest.traffic.http2_session import Terms
from swarmtest.traffic.http2_sharing import Connections, Dialer
from swarmtest.traffic.http2_stream import StreamRequest
from swarmtest.traffic.records import Record
from swarmtest.traffic.targets import FrontDoor, Target
from tests.stacks.test_sample_service import Service, events, run


class Sender:
    """Sends orders over one connection for as long as that lives."""

    def __init__(self, served: Service) -> None:
        self.ended: list[ConnectionRecord] = []
        target = FrontDoor(Target.from_text(f"127.0.0.1:{served.port}"))
        dialer = Dialer(target, Limits(10.0, 2.0), Terms(8), "k", itertools.count(1), self.ended.append)
        self.shared = Connections(dialer, Expectation(b"x-instance-id", b"x-request-id"))

    async def order(self, request_id: str, milliseconds: int) -> Record:
        """One order, sent in a thread of its own."""
        record = Record(id=request_id, kind="k", method="POST", path="/work", planned=0.0)
        named = NeverIndexedHeaderTuple(b"x-request-id", request_id.encode())
        request = StreamRequest(b"POST", f"/work?ms={milliseconds}", [named, (b"content-length", b"0")])
        await asyncio.to_thread(self.shared.send, request, record)
        return record


async def started(sender: Sender, count: int, milliseconds: int) -> list[asyncio.Task[Record]]:
    """So many orders that are surely begun: a short one that's sent after them is answered."""
    tasks = [asyncio.create_task(sender.order(f"long-{n}", milliseconds)) for n in range(count)]
    await asyncio.sleep(0.2)
    assert (await sender.order("short", 0)).client_outcome == "complete"
    return tasks


def test_it_says_goodbye_twice_and_answers_what_is_open() -> None:
    async def story(served: Service) -> None:
        sender = Sender(served)
        tasks = await started(sender, 4, 700)
        served.signal(signal.SIGTERM)
        records = await asyncio.gather(*tasks)
        assert [record.client_outcome for record in records] == ["complete"] * 4
        code, lines = await served.exit()
        assert code == 0
        assert events(lines).count("commit") == 5
        [told] = sender.ended
        assert (told.goaway, told.code, told.open) == (9, "NO_ERROR", 0)
        assert told.goaways >= 2  # Hypercorn says it once more with its last answer

    run(story)


def test_what_comes_after_the_goodbye_goes_to_a_new_connection_while_the_listener_is_open() -> None:
    async def story(served: Service) -> None:
        sender = Sender(served)
        tasks = await started(sender, 1, 1000)
        served.signal(signal.SIGTERM)
        await asyncio.sleep(0.3)
        later = await sender.order("later", 0)
        first, *_ = await asyncio.gather(*tasks)
        assert later.client_outcome == first.client_outcome == "complete"
        assert later.connection != first.connection
        assert (await served.exit())[0] == 0

    run(story, SHUTDOWN_WAIT_SECONDS="0.8")


def test_without_a_word_all_that_is_open_is_lost_by_one_socket_and_the_work_is_done() -> None:
    async def story(served: Service) -> None:
        sender = Sender(served)
        tasks = await started(sender, 4, 700)
        served.signal(signal.SIGTERM)
        records = await asyncio.gather(*tasks)
        assert [record.client_outcome for record in records] == ["closed_unanswered"] * 4
        assert {record.error for record in records} == {"closed without GOAWAY, with 4 streams open"}
        code, lines = await served.exit()
        assert code == 0
        done = [line for line in lines if line["event"] == "finish"]
        assert len(done) == 5
        [lost] = sender.ended
        assert (lost.goaways, lost.open, lost.ended_by) == (0, 4, "peer")

    run(story, HTTP2_GOAWAY="0", SHUTDOWN_WAIT_SECONDS="0")


def test_an_idle_connection_is_told_too() -> None:
    async def story(served: Service) -> None:
        sender = Sender(served)
        assert (await sender.order("one", 0)).client_outcome == "complete"
        served.signal(signal.SIGTERM)
        assert (await served.exit())[0] == 0
        await asyncio.sleep(0.1)
        [told] = sender.ended
        assert told.goaways >= 1  # its client leaves at the first one
        assert (told.ended_by, told.open) == ("client", 0)

    run(story)
