"""The streams' counts in the document, apart from those of requests."""

from __future__ import annotations

import io

from swarmtest.reports import Document, markdown
from swarmtest.reports.console import render
from tests.judge.builder import T0
from tests.judge.holding import Holding


def broken() -> Holding:
    holding = Holding()
    holding.change("chat-s10", 1, client_outcome="cut", code=None, lost=2, error="closed without a close frame")
    return holding


def console(document: Document) -> str:
    out = io.StringIO()
    render(document, out, width=110)
    return out.getvalue()


def test_streams_are_counted_by_kind_and_are_no_requests() -> None:
    document = broken().document()
    chat, feed = document.stream_rows
    assert (chat.kind, chat.protocol, chat.sessions) == ("chat", "websocket", 6)
    assert (chat.cut, chat.lost, chat.untold, feed.cut, feed.lost) == (1, 2, 0, 0, 0)
    assert chat.told + chat.cut == chat.back == chat.opened - chat.sessions
    assert (chat.back_median_seconds, chat.back_longest_seconds) == (0.2, 0.2)
    assert document.losses["sent"] == document.losses["ok"]


def test_a_stream_that_ended_badly_is_listed_with_its_instance() -> None:
    holding = broken()
    (event,) = holding.document().stream_events
    assert (event.id, event.ending, event.lost, event.instance) == ("chat-s10-1", "cut", 2, holding.old[0].task)
    assert event.closed == T0 + (holding.old[0].closed or 0)


def test_a_broken_stream_fails_the_run_though_no_request_was_lost() -> None:
    document = broken().document()
    failed = [check.name for check in document.checks if check.outcome == "failed"]
    assert (document.outcome, failed) == ("failed", ["streams_closed_in_order", "no_message_lost"])
    assert "close frame (1001 or 1012)" in document.advice[0]


def test_a_rollout_that_tells_every_stream_passes() -> None:
    document = Holding().document()
    assert (document.outcome, document.notes) == ("passed", [])
    assert document.stream_events == []


def test_reports_show_streams_only_where_there_are_any() -> None:
    holding = Holding()
    text = console(broken().document())
    assert "Streams" in text
    assert "chat-s10-1: cut at 7.00 s, api.1 (old); 2 lost, 0 repeated" in text
    out = io.StringIO()
    markdown.render(broken().document(), out)
    assert "| chat | 6 |" in out.getvalue()
    assert "chat-s10-1: cut" in out.getvalue()
    holding.streams.clear()
    assert "Streams" not in console(holding.document())
