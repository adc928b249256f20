"""How long it takes to send what has a number."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.stack.block.brief import Overrides, read_brief
from swarmtest.stack.block.kinds import Kind, seconds_to_send
from swarmtest.stack.services import read_stack


@pytest.mark.parametrize(
    ("kinds", "seconds"),
    [
        ([], 0.0),
        ([Kind("a", "GET", "/", 20.0)], 0.0),
        ([Kind("a", "GET", "/", 20.0, count=480)], 24.0),
        (
            [Kind("a", "GET", "/", 20.0, count=480), Kind("b", "GET", "/", 1.0), Kind("c", "GET", "/", 1.0, count=30)],
            30.0,
        ),
    ],
)
def test_all_are_sent_when_the_slowest_number_is(kinds: list[Kind], seconds: float) -> None:
    assert seconds_to_send(kinds) == seconds


def _brief(tmp_path: Path, kinds: str, rate: float | None = None) -> tuple[Kind, ...]:
    file = tmp_path / "stack.yml"
    lines = [kinds] if kinds.startswith("short") else ["short: {rate: 30/s}", kinds]
    head = "".join(f"      {line}\n" for line in lines)
    services = 'version: "3.8"\nservices:\n  api: {image: api, ports: ["80:80"]}\n'
    file.write_text(f"x-swarmtest:\n  traffic:\n    kinds:\n{head}{services}")
    return read_brief(read_stack(file, {}), Overrides(rate=rate)).kinds


def test_a_kind_of_stream_has_sessions_a_message_rate_and_a_budget(tmp_path: Path) -> None:
    *_, chat = _brief(tmp_path, "chat: {protocol: websocket, path: /ws, sessions: 3, rate: 2/s, reconnect_within: 4s}")
    assert (chat.is_stream, chat.sessions, chat.rate, chat.reconnect_seconds) == (True, 3, 2.0, 4.0)


def test_streams_have_defaults_and_events_no_rate(tmp_path: Path) -> None:
    *_, feed = _brief(tmp_path, "feed: {protocol: sse}")
    assert (feed.sessions, feed.rate, feed.reconnect_seconds) == (20, 0.0, 5.0)


def test_a_rate_for_all_kinds_leaves_streams_as_they_are(tmp_path: Path) -> None:
    short, chat = _brief(tmp_path, "chat: {protocol: websocket}", rate=60.0)
    assert (short.rate, chat.rate) == (60.0, 1.0)


@pytest.mark.parametrize(
    ("kinds", "problem"),
    [
        ("a: {protocol: gopher}", "expected one of http1"),
        ("a: {protocol: sse, rate: 1/s}", "says nothing to a kind with the protocol sse"),
        ("a: {protocol: websocket, method: POST}", "says nothing to a kind with the protocol websocket"),
        ("a: {sessions: 3}", "says nothing to a kind with the protocol http1"),
        ("a: {protocol: websocket, sessions: 0}", "whole number of 1 or more"),
        ("a: {protocol: websocket, sessions: 30000}", "can hold 20,000"),
        ("a: {protocol: websocket, reconnect_within: 0s}", "above zero"),
    ],
)
def test_keys_that_are_of_no_use_to_a_protocol_are_refused(tmp_path: Path, kinds: str, problem: str) -> None:
    with pytest.raises(StackError, match=problem):
        _brief(tmp_path, kinds)


def test_streams_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="streams alone"):
        _brief(tmp_path, "short: {protocol: sse}")


def test_http2_has_so_many_streams_on_a_connection_and_other_kinds_have_none(tmp_path: Path) -> None:
    [plain, multiplexed] = _brief(tmp_path, "many: {protocol: h2, streams: 20, rate: 5/s}")
    assert (plain.streams, multiplexed.streams, multiplexed.protocol) == (None, 20, "h2")
    assert _brief(tmp_path, "many: {protocol: h2}")[1].streams == 8
    for wrong, said in (
        ("many: {protocol: h2, streams: 0}", "streams"),
        ("many: {protocol: h2, streams: 2000}", "expected up to 1,000 streams on a connection, found 2,000"),
        ("many: {streams: 4}", "this key says nothing to a kind with the protocol http1"),
        ("many: {protocol: h2, sessions: 4}", "this key says nothing to a kind with the protocol h2"),
    ):
        with pytest.raises(StackError, match=said):
            _brief(tmp_path, wrong)
