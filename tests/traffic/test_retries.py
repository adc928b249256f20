"""Retries as a policy: what's sent again, how often, within which budget, and that no first loss is hidden by it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.http1 import Client, Limits
from swarmtest.traffic.http2_lanes import StreamLane, StreamTemplate
from swarmtest.traffic.lanes import Lane, Template
from swarmtest.traffic.ledger import Ledger
from swarmtest.traffic.pacing import Pace
from swarmtest.traffic.records import ClientOutcome, Record
from swarmtest.traffic.retries import Budget, Policy, RetryingLane, is_safe, reason_of
from swarmtest.traffic.settings import Kind, Retries, TrafficSettings
from swarmtest.traffic.targets import FrontDoor, Target

Fixture = Callable[..., Any]


def record(outcome: ClientOutcome, status: int | None = None, **fields: Any) -> Record:
    return Record(
        id="r", kind="a", method=fields.pop("method", "POST"), path="/", planned=0.0, client_outcome=outcome,
        status=status, **fields,
    )  # fmt: skip


# ---------------------------------------------------------------- the budget


@pytest.mark.parametrize(
    ("share", "firsts", "asked", "granted"),
    [
        (0.1, 9, 1, 0),
        (0.1, 10, 1, 1),
        (0.1, 10, 2, 1),
        (0.1, 100, 20, 10),
        (0.5, 3, 5, 1),
        (1.0, 4, 5, 4),
        (0.1, 0, 1, 0),
    ],
)
def test_no_more_retries_than_the_budget_s_share_of_the_requests(
    share: float, firsts: int, asked: int, granted: int
) -> None:
    budget = Budget(share)
    for _ in range(firsts):
        budget.count(0.0)
    assert sum(budget.take(0.5) for _ in range(asked)) == granted


def test_the_budget_is_that_of_the_last_seconds_so_a_quiet_hour_saves_nothing_up() -> None:
    budget = Budget(0.1, window_seconds=10.0)
    for n in range(1000):
        budget.count(n * 0.01)
    assert not budget.take(30.0)
    for _ in range(10):
        budget.count(30.0)
    assert budget.take(31.0)
    assert not budget.take(31.0)


@given(
    share=st.sampled_from([0.05, 0.1, 0.5, 1.0]),
    steps=st.lists(st.tuples(st.floats(0.0, 3.0), st.booleans()), max_size=200),
)
def test_no_window_has_more_retries_than_its_share_wherever_it_is_laid(
    share: float, steps: list[tuple[float, bool]]
) -> None:
    budget, now = Budget(share), 0.0
    firsts: list[float] = []
    granted: list[float] = []
    for pause, asks in steps:
        now += pause
        if not asks:
            firsts.append(now)
            budget.count(now)
        elif budget.take(now):
            granted.append(now)
    for t in granted:
        window = [one for one in granted if t - 10.0 < one <= t]
        assert len(window) <= share * sum(t - 10.0 < one <= t for one in firsts)


# ---------------------------------------------------------------- what is sent again


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (record("no_connection"), "refused"),
        (record("refused_stream"), "unserved"),
        (record("closed_unanswered"), "closed"),
        (record("closed_in_body", 200), "closed"),
        (record("timed_out"), "timed_out"),
        (record("complete", 503), "503"),
        (record("complete", 404), "404"),
        (record("complete", 200), None),
        (record("complete", 302), None),
        (record("malformed"), None),
        (record("local_error"), None),
        (record("still_open"), None),
    ],
)
def test_a_try_that_is_over_has_a_reason_for_another_or_none(seen: Record, reason: str | None) -> None:
    assert reason_of(seen) == reason


@pytest.mark.parametrize(
    ("seen", "keyed", "safe"),
    [
        (record("closed_unanswered"), False, False),
        (record("closed_unanswered"), True, True),
        (record("closed_unanswered", method="GET"), False, True),
        (record("closed_unanswered", method="PUT"), False, True),
        (record("closed_unanswered", method="PATCH"), False, False),
        (record("no_connection"), False, True),
        (record("refused_stream"), False, True),
        (record("complete", 502), False, False),
        (record("complete", 503), False, False),
        (record("complete", 503, retry_after=True), False, True),
        (record("complete", 429), False, True),
        (record("timed_out"), False, False),
    ],
)
def test_only_what_cannot_be_done_twice_is_sent_again(seen: Record, keyed: bool, safe: bool) -> None:
    assert is_safe(seen, keyed=keyed) is safe


# ---------------------------------------------------------------- the lane


class Sent:
    """A lane that tries again, and all that came of it."""

    def __init__(self, address: str, method: str = "POST", earlier: int = 9, **policy: Any) -> None:
        kind = Kind(name="pay", path="/pay", rate=1.0, method=method)
        settings = TrafficSettings(run="r", out="", url="http://x", kinds=[kind])
        target = FrontDoor(Target.from_text(address))
        new_client = partial(
            Client, target, Limits(5.0, 5.0), Expectation(b"x-instance-id", b"x-request-id"), keeps=False,
            numbers=itertools.count(1),
        )  # fmt: skip
        self.records: list[Record] = []
        self.pauses: list[float] = []
        self.ledger = Ledger(self.records.append)
        lane = Lane(Template(settings, kind), Pace.of(kind, 42), self.ledger, new_client, keeps=False)
        retries = Retries(**{"budget": 1.0, "on": ["refused", "closed", "503"], **policy})
        budget = Budget(retries.budget)
        for _ in range(earlier):
            budget.count(time.monotonic())
        self.lane = RetryingLane(lane, Policy(retries, budget, Random(7), self.pauses.append))

    def send(self, times: int = 1) -> list[Record]:
        for n in range(times):
            self.lane.send(n, 0.0)
        self.lane.close()
        return self.records


def failing(times: int, answer: bytes = b"") -> Callable[[Any], None]:
    """Closes, or says so, for the first few requests; answers well from then on."""
    left = itertools.count(1)

    def script(visit: Any) -> None:
        head = visit.read_request()
        if next(left) <= times:
            visit.say(answer)
            return
        name = head.split(b"X-Request-ID: ")[1].split(b"\r\n")[0]
        visit.say(b"HTTP/1.1 200 OK\r\nX-Instance-ID: a\r\nX-Request-ID: " + name + b"\r\nContent-Length: 0\r\n\r\n")

    return script


def test_each_try_has_an_id_and_a_record_of_its_own_that_names_the_first(serve: Fixture) -> None:
    server = serve(failing(2))
    sent = Sent(server.address, key_header="Idempotency-Key")
    first, second, third = sent.send()
    assert [one.client_outcome for one in (first, second, third)] == ["closed_unanswered"] * 2 + ["complete"]
    assert (first.attempt, first.again) == (1, None)
    assert [(one.attempt, one.again) for one in (second, third)] == [(2, first.id), (3, first.id)]
    assert len({one.id for one in sent.records}) == 3
    assert sent.ledger.sent == 3
    assert sent.ledger.lost == 2
    keys = [head.split(b"Idempotency-Key: ")[1].split(b"\r\n")[0].decode() for head in server.requests]
    assert keys == [first.id] * 3


def test_it_waits_twice_as_long_before_each_further_try_give_or_take_half(serve: Fixture) -> None:
    sent = Sent(serve(failing(9)).address, "GET", attempts=4, backoff_seconds=1.0)
    assert len(sent.send()) == 4
    assert all(0.5 * 2**n <= pause <= 1.5 * 2**n for n, pause in enumerate(sent.pauses))


def test_a_post_without_a_key_that_may_have_been_served_is_not_sent_again(serve: Fixture) -> None:
    server = serve(failing(1))
    assert len(Sent(server.address).send()) == 1
    assert server.connections == 1


def test_what_is_not_asked_for_is_not_sent_again(serve: Fixture) -> None:
    answer = b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"
    assert len(Sent(serve(failing(1, answer)).address, "GET").send()) == 1


def test_a_budget_that_is_used_up_ends_the_tries(serve: Fixture) -> None:
    sent = Sent(serve(failing(99)).address, "GET", earlier=0, budget=0.25)
    records = sent.send(8)
    assert sum(one.attempt > 1 for one in records) == 2
    assert len(records) == 10


def test_a_request_that_is_answered_well_is_sent_once(serve: Fixture) -> None:
    server = serve(failing(0))
    assert [one.attempt for one in Sent(server.address).send(3)] == [1, 1, 1]
    assert server.connections == 3


# ---------------------------------------------------------------- HTTP/2


class Refused:
    """Connections of which every stream is refused the first time."""

    def __init__(self) -> None:
        self.users = 0
        self.heads: list[list[tuple[bytes, bytes]]] = []

    def send(self, request: Any, made: Record) -> None:
        self.heads.append(request.head(Target.from_text("api:80")))
        made.client_outcome, made.status = ("refused_stream", None) if made.attempt == 1 else ("complete", 200)

    def leave(self) -> None: ...


def test_a_stream_that_no_handler_saw_is_sent_again_whatever_its_method() -> None:
    kind = Kind(name="pay", path="/pay", rate=1.0, method="POST", protocol="h2", streams=8)
    settings = TrafficSettings(run="r", out="", url="http://x", kinds=[kind])
    records: list[Record] = []
    shared = Refused()
    lane = StreamLane(StreamTemplate(settings, kind), Pace.of(kind, 42), Ledger(records.append), shared)  # type: ignore[arg-type]
    retries = Retries(budget=1.0, on=["unserved"], key_header="Idempotency-Key")
    RetryingLane(lane, Policy(retries, Budget(1.0), Random(7), lambda _: None)).send(0, 0.0)
    assert [(one.attempt, one.again, one.client_outcome) for one in records] == [
        (1, None, "refused_stream"),
        (2, records[0].id, "complete"),
    ]
    keys = [dict(head)[b"idempotency-key"].decode() for head in shared.heads]
    assert keys == [records[0].id] * 2
