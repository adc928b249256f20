from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest
from swarmtest_contract import ContractMiddleware, Journal

Message = dict[str, Any]


def scope(path: str = "/work", request_id: str | None = "r1", kind: str = "http") -> Message:
    headers = [(b"host", b"x")] + ([(b"X-Request-Id", request_id.encode())] if request_id else [])
    return {"type": kind, "path": path, "headers": headers}


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 201, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"he", "more_body": True})
    await send({"type": "http.response.body", "body": b"llo"})


class Seen:
    """Lines and messages in the order in which they came."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.lines: list[Message] = []
        self.sent: list[Message] = []

    def write(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        self.lines.append(json.loads(line))
        self.order.append(self.lines[-1]["event"])

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        self.order.append(message["type"])

    async def receive(self) -> Message:
        return {"type": "http.request"}


def call(app: Any, asked: Message) -> Seen:
    seen = Seen()
    asyncio.run(ContractMiddleware(app, "task-1", seen.write)(asked, seen.receive, seen.send))
    return seen


def test_a_request_leaves_a_line_before_any_work_and_one_after_the_whole_answer() -> None:
    seen = call(hello, scope())
    assert seen.order == ["start", "http.response.start", "http.response.body", "http.response.body", "finish"]


def test_lines_bear_version_instance_request_id_and_a_count_without_gaps() -> None:
    start, finish = call(hello, scope()).lines
    assert {key: start[key] for key in ("v", "event", "request_id", "instance", "seq")} == {
        "v": 1,
        "event": "start",
        "request_id": "r1",
        "instance": "task-1",
        "seq": 1,
    }
    assert (finish["seq"], finish["status"]) == (2, 201)
    assert finish["t"] >= start["t"] > 1e9


def test_the_answer_names_the_instance_and_echoes_the_request_id() -> None:
    headers = call(hello, scope()).sent[0]["headers"]
    assert headers == [(b"content-length", b"5"), (b"x-instance-id", b"task-1"), (b"x-request-id", b"r1")]


def test_a_request_without_an_id_is_marked_but_not_logged() -> None:
    seen = call(hello, scope(request_id=None))
    assert seen.lines == []
    assert seen.sent[0]["headers"][-1] == (b"x-instance-id", b"task-1")


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/healthz"])
def test_probes_are_not_logged(path: str) -> None:
    assert call(hello, scope(path)).lines == []


def test_a_handler_that_breaks_leaves_no_finish() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("no")

    seen = Seen()
    with pytest.raises(RuntimeError):
        asyncio.run(ContractMiddleware(broken, "task-1", seen.write)(scope(), seen.receive, seen.send))
    assert seen.order == ["start"]


def test_an_answer_that_cannot_be_handed_over_leaves_no_finish() -> None:
    seen = Seen()

    async def gone(message: Message) -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        asyncio.run(ContractMiddleware(hello, "task-1", seen.write)(scope(), seen.receive, gone))
    assert seen.order == ["start"]


def test_a_websocket_is_finished_when_its_handler_returns() -> None:
    async def socket(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})

    seen = call(socket, scope(kind="websocket"))
    assert seen.order == ["start", "websocket.accept", "finish"]
    assert (b"x-instance-id", b"task-1") in seen.sent[0]["headers"]


def test_lifespan_passes_through_untouched() -> None:
    passed: list[Message] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope)

    assert call(app, {"type": "lifespan"}).lines == []
    assert passed == [{"type": "lifespan"}]


def test_the_app_adds_its_own_steps_to_the_same_count() -> None:
    seen = Seen()
    contract = ContractMiddleware(hello, "task-1", seen.write)
    contract.lifecycle("booted", version="2")
    contract.record("commit", "r9")
    assert [(line["event"], line["seq"]) for line in seen.lines] == [("booted", 1), ("commit", 2)]
    assert seen.lines[0]["version"] == "2"


def test_the_instance_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSTANCE_ID", "from-the-stack-file")
    assert Journal().instance == "from-the-stack-file"


def test_without_an_environment_the_instance_is_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INSTANCE_ID", raising=False)
    monkeypatch.setattr("socket.gethostname", lambda: "abc123")
    assert Journal().instance == "abc123"


def test_many_threads_share_one_count_in_the_order_of_the_lines() -> None:
    seen = Seen()
    journal = Journal("task-1", seen.write)

    def work() -> None:
        for _ in range(200):
            journal.record("commit", "r")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [line["seq"] for line in seen.lines] == list(range(1, 1601))


def test_a_line_that_could_not_be_written_is_not_counted() -> None:
    seen, broken = Seen(), [True]

    def write(line: bytes) -> None:
        if broken:
            raise BrokenPipeError
        seen.write(line)

    journal = Journal("task-1", write)
    with pytest.raises(BrokenPipeError):
        journal.record("start", "r1")
    broken.clear()
    journal.record("start", "r2")
    assert seen.lines[0]["seq"] == 1
