"""Waiting at a front door: a toy server on loopback that opens when it likes."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from swarmtest.errors import EngineError, UsageError
from swarmtest.running import frontdoor
from swarmtest.running.frontdoor import STEADY_ANSWERS, Door, wait_until_open
from tests.ports import free_port

Answer = tuple[int, str | None]
Serve = Callable[[Iterator[Answer]], str]


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def told() -> list[str | None]:
    return []


@pytest.fixture
def serve(asked: list[str], told: list[str | None]) -> Iterator[Serve]:
    servers: list[ThreadingHTTPServer] = []

    def served(answers: Iterator[Answer]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_args: object) -> None:
                pass

            def do_GET(self) -> None:
                asked.append(self.path)
                told.append(self.headers.get("Host"))
                status, instance = next(answers)
                self.send_response(status)
                if instance:
                    self.send_header("X-Instance-ID", instance)
                self.send_header("Content-Length", "0")
                self.end_headers()

        server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield served
    for server in servers:
        server.shutdown()
        server.server_close()


def wait(url: str, instances: int = 1, seconds: float = 5.0, path: str = "/") -> set[str]:
    return wait_until_open(Door(url, path, "X-Instance-ID", instances), timeout_seconds=seconds)


def test_a_door_is_open_when_all_instances_have_answered_steadily(serve: Serve, asked: list[str]) -> None:
    closed: list[Answer] = [(503, None), (502, None)]
    answers = itertools.chain(closed, itertools.cycle([(200, "a"), (200, "b"), (503, "c")]))
    assert wait(serve(answers), 3) == {"a", "b", "c"}
    assert len(asked) >= STEADY_ANSWERS + 2


def test_a_bad_answer_starts_the_count_anew(serve: Serve, asked: list[str]) -> None:
    good: list[Answer] = [(200, "a")] * (STEADY_ANSWERS - 1)
    answers = itertools.chain(good, [(502, None)], itertools.repeat((200, "a")))
    wait(serve(answers))
    assert len(asked) == 2 * STEADY_ANSWERS


def test_an_app_that_does_not_name_its_instances_is_open_too(serve: Serve) -> None:
    assert wait(serve(itertools.repeat((404, None))), 3) == set()


def test_a_balancer_that_shows_too_few_instances_is_waited_for_only_for_a_while(serve: Serve) -> None:
    assert wait(serve(itertools.repeat((200, "a"))), 3, seconds=0.9) == {"a"}


def test_the_door_is_asked_as_the_traffic_asks_it(serve: Serve, told: list[str | None]) -> None:
    """Behind a proxy that chooses by the host's name, any other question is answered by somebody else."""
    door = Door(serve(itertools.repeat((200, "a"))), "/", "X-Instance-ID", 1, {"Host": "shop.example"})
    wait_until_open(door, timeout_seconds=5.0)
    assert set(told) == {"shop.example"}


def test_a_path_of_the_address_comes_before_that_of_the_request(serve: Serve, asked: list[str]) -> None:
    wait(serve(itertools.repeat((200, "a"))) + "/base/", path="/work?ms=1")
    assert set(asked) == {"/base/work?ms=1"}


def test_a_door_that_stays_shut_is_said_with_the_last_answer(serve: Serve) -> None:
    with pytest.raises(UsageError, match="last: 503 Service Unavailable"):
        wait(serve(itertools.repeat((503, None))), seconds=0.3)
    with pytest.raises(UsageError, match="last: ConnectionRefusedError"):
        wait("http://127.0.0.1:1", seconds=0.2)


def test_while_it_is_shut_the_last_answer_is_told_now_and_then(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontdoor, "TELL_SECONDS", 0.2)
    told: list[tuple[str, float]] = []
    answers: list[Answer] = [(503, None)] * 6
    door = Door(serve(itertools.chain(answers, itertools.repeat((200, "a")))), "/", "X-Instance-ID", 1)
    wait_until_open(door, timeout_seconds=5.0, tell=lambda *said: told.append(said))
    assert 1 <= len(told) <= 3
    assert (told[0][0], told[0][1] >= 0.2) == ("503 Service Unavailable", True)


def test_of_a_door_that_shows_some_instances_it_is_told_how_many(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontdoor, "TELL_SECONDS", 0.05)
    told: list[str] = []
    door = Door(serve(itertools.repeat((200, "a"))), "/", "X-Instance-ID", 3)
    wait_until_open(door, timeout_seconds=0.9, tell=lambda last, _spent: told.append(last))
    assert told[-1] == "200 OK, from 1 of 3 instances"


def test_waiting_ends_when_there_is_nothing_to_wait_for() -> None:
    def tick() -> None:
        raise EngineError("lost")

    with pytest.raises(EngineError, match="lost"):
        wait_until_open(Door("http://127.0.0.1:1", "/", "X", 1), timeout_seconds=5.0, tick=tick)
