from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swarmtest.checks import Outcome
from swarmtest.evidence.request import OUTCOMES
from swarmtest.losses import Charge, upper_bound
from tests.judge.builder import Rollout

times = st.floats(min_value=-8.0, max_value=30.0)
rows = st.fixed_dictionaries(
    {
        "client_outcome": st.sampled_from(OUTCOMES),
        "status": st.sampled_from((None, 200, 302, 404, 429, 500, 502, 503, 504)),
        "instance": st.sampled_from((None, "oldtask1".ljust(25, "o"), "newtask2".ljust(25, "n"), "stranger")),
        "echoed": st.sampled_from((None, True, False)),
        "framing": st.sampled_from((None, "length", "chunked", "close")),
        "retry_after": st.booleans(),
        "reused": st.booleans(),
        "done": st.none() | times.map(lambda t: 1_000_000.0 + t),
    }
)
steps = st.lists(st.sampled_from(("start", "intent", "commit", "finish")), unique=True)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(times, rows, st.integers(0, 5), steps), max_size=25))
def test_sent_is_the_sum_of_all_classes(sent: list[tuple[float, dict[str, Any], int, list[str]]]) -> None:
    rollout = Rollout()
    rollout.rates = {"short": 1.0, "long": 0.5}
    for n, (at, row, life, lines) in enumerate(sent):
        one = rollout.request(f"any-{n}", at, at + 1.0, None, **row)
        one.on, one.steps = rollout.lives[life], dict.fromkeys(lines, at + 0.1)
    document = rollout.document()
    counts = {name: count for name, count in document.losses.items() if name not in ("sent", "duplicates")}
    assert document.losses["sent"] == sum(counts.values()) == len(rollout.sent)
    assert sum(row.sent for row in document.loss_rows) == document.losses["sent"]
    assert len(document.loss_events) == document.losses["sent"] - document.losses["ok"]
    assert all(sum(row.counts.values()) == row.sent for row in document.loss_rows)


def test_a_gap_in_the_records_makes_a_silent_close_unknown_and_says_whose() -> None:
    rollout = Rollout()
    rollout.old[0].log_complete = False
    rollout.unanswered("silent", 1.0, 1.1)
    event = rollout.document().loss_events[0]
    assert event.loss == "unknown"
    assert "api.1" in event.why


@pytest.mark.parametrize(
    ("row", "saw"),
    [
        ({"status": 503, "framing": "length"}, "503"),
        ({"status": 200, "client_outcome": "closed_in_body"}, "closed_in_body"),
        ({"status": None, "client_outcome": "closed_unanswered"}, "closed_unanswered"),
    ],
)
def test_a_lost_request_tells_what_its_client_saw(row: dict[str, Any], saw: str) -> None:
    rollout = Rollout()
    rollout.request("one", 1.0, 1.1, None, **row)
    assert [event.saw for event in rollout.document().loss_events] == [saw]


def test_a_gap_of_an_instance_that_was_gone_by_then_matters_not() -> None:
    rollout = Rollout()
    rollout.old[0].log_complete = False
    rollout.unanswered("silent", 20.0, 20.1)
    assert rollout.document().loss_events[0].loss == "unserved"


def test_records_that_do_not_match_the_baseline_prove_nothing() -> None:
    rollout = Rollout()
    rollout.request("unrecorded", -5.0, -4.9, rollout.old[0])
    rollout.unanswered("silent", 20.0, 20.1)
    document = rollout.document()
    assert [event.loss for event in document.loss_events] == ["unknown"]
    assert "baseline" in document.loss_events[0].why


def test_a_whole_answer_without_a_start_record_stays_ok_and_is_noted() -> None:
    rollout = Rollout()
    rollout.request("unrecorded", 20.0, 20.1, rollout.new[0])
    document = rollout.document()
    assert document.losses["ok"] == document.losses["sent"]
    assert any("no start record" in note for note in document.notes)
    assert document.outcome != "passed"


def test_an_intent_without_a_commit_on_an_instance_that_died_is_unknown() -> None:
    rollout = Rollout()
    life = rollout.old[0]
    life.killed, life.exited, life.exit_code = 6.0, 6.01, 137
    one = rollout.unanswered("perhaps", 5.0, 6.0)
    one.on, one.steps = life, {"start": 5.01, "intent": 5.99}
    losses = {event.id: event.loss for event in rollout.document().loss_events}
    assert losses["perhaps"] == "unknown"


def test_an_app_without_intent_lines_says_so_in_its_level_of_proof() -> None:
    rollout = Rollout().drop(lambda e: e.get("event") == "intent")
    assert "no intent lines" in rollout.document().proof["commits"]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("shutdown", "shutdown"),
        ("gone", "front_door"),
        ("cold", "start_up"),
        ("nobody", "front_door"),
        ("calm", "background"),
    ],
)
def test_losses_are_charged_to_what_they_belong_to(kind: str, expected: str) -> None:
    rollout = Rollout()
    old, new = rollout.old[0], rollout.new[0]
    match kind:
        case "shutdown":
            rollout.bad_gateway("x", (old.closed or 0) + 0.1, (old.closed or 0) + 0.2, old)
        case "gone":
            rollout.bad_gateway("x", (old.exited or 0) + 1.0, (old.exited or 0) + 1.1, old)
        case "cold":
            rollout.bad_gateway("x", new.started + 0.2, new.started + 0.3, new)
        case "nobody":
            rollout.bad_gateway("x", 4.0, 4.1, None, status=503)
        case _:
            rollout.bad_gateway("x", -7.0, -6.9, None, status=503)
    assert [event.charge for event in rollout.document().loss_events] == [expected]


@pytest.mark.parametrize(
    ("hits", "trials", "bound"),
    [
        (0, 1, 0.95),
        (0, 3, 0.6316),
        (0, 1000, 0.00299),
        (1, 10, 0.3942),
        (5, 100, 0.1023),
        (3, 3, 1.0),
        (10, 100000, 0.0001696),
    ],
)
def test_bounds_are_those_of_the_exact_binomial(hits: int, trials: int, bound: float) -> None:
    assert upper_bound(hits, trials) == pytest.approx(bound, rel=2e-3)


def test_nothing_tried_proves_nothing() -> None:
    assert upper_bound(0, 0) is None


@given(st.integers(1, 3000), st.integers(0, 50))
def test_a_bound_lies_above_the_share_that_was_seen_and_grows_with_it(trials: int, hits: int) -> None:
    hits = min(hits, trials - 1)
    bound, more = upper_bound(hits, trials), upper_bound(hits + 1, trials)
    assert bound is not None
    assert more is not None
    assert hits / trials < bound <= 1.0
    assert bound < more or more == 1.0


def test_start_records_that_no_request_accounts_for_make_the_records_unreliable() -> None:
    rollout = Rollout()
    strange = {"request_id": "not-ours", "instance": "x", "container": rollout.old[0].container}
    rollout.event(-5.0, "record", event="start", seq=None, **strange)
    rollout.unanswered("silent", 20.0, 20.1)
    assert "the client has no record of" in rollout.document().loss_events[0].why


def test_stops_with_a_loss_are_counted_apart_from_losses() -> None:
    rollout = Rollout()
    for n in range(4):
        rollout.bad_gateway(f"lost-{n}", (rollout.old[0].closed or 0) + 0.1 + n / 10, 9.0, rollout.old[0])
    rollout.bad_gateway("background", -5.0, -4.9, rollout.old[1])
    proof = rollout.document().proof
    assert (proof["lost"], proof["stops"], proof["stops_with_loss"]) == (5, 3, 1)


def test_a_loss_of_nobody_known_is_counted_for_the_stop_that_had_begun_last() -> None:
    rollout = Rollout()
    rollout.bad_gateway("lost", 8.5, 8.6, None, status=503)
    assert rollout.document().proof["stops_with_loss"] == 1


def test_an_address_is_looked_up_by_time() -> None:
    rollout = Rollout()
    first, second = rollout.new[0], rollout.new[2]
    second.address_of = first
    aliases = rollout.judged().aliases
    early, late = (
        aliases.of_address(f"{first.address}:8000", 1_000_000.0 + t) for t in (first.created + 1, second.created + 1)
    )
    assert early is not None
    assert late is not None
    assert (early.task, late.task) == (first.task, second.task)


def test_a_new_instance_that_was_ready_and_is_cut_by_its_own_stop_was_not_cold() -> None:
    """Without a line warm nothing tells how long one is new; that it was asked to stop tells more."""
    rollout = Rollout().at(10.0, 4.0)
    rollout.ends = 40.0
    life = rollout.new[0]
    life.warm = None
    life.announced, life.desired, life.signalled, life.exited = 10.0, 9.9, 12.0, 12.02
    cut = [one for one in rollout.judged().losses.seen if one.life is not None and one.life.task == life.task]
    assert cut
    assert {one.charge for one in cut} == {Charge.SHUTDOWN}
    assert "the drain is missing" in (rollout.verdict("answered_every_request").advice or "")
    assert rollout.verdict("new_served_only_when_ready").outcome is not Outcome.FAILED
