"""Numbers and sentences that the reports share."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from swarmtest.reports import Document, LossRow, Mark, wording
from swarmtest.reports.lifespans import durations, labels, mark_text, with_error, zero
from tests.reports.doubtful import doubtful

Runs = dict[str, Callable[[], Document]]


@pytest.mark.parametrize(
    ("share", "up", "text"),
    [
        (0.0, False, "0 %"),
        (3 / 2143, True, "0.14 %"),
        (0.001441, True, "0.15 %"),
        (0.0015, True, "0.15 %"),
        (0.6316, False, "63 %"),
        (0.95, False, "95 %"),
        (1.0, True, "100 %"),
        (0.0000301, True, "0.0031 %"),
        (0.0998, True, "10.0 %"),
    ],
)
def test_a_share_has_two_digits_and_a_bound_is_never_rounded_down(share: float, up: bool, text: str) -> None:
    assert wording.percent(share, up=up) == text


def test_a_clean_run_says_what_it_proves_in_requests_and_in_stops(runs: Runs) -> None:
    assert wording.proof_sentence(runs["passed"]()) == (
        "0 lost of 2,143 requests: below 0.14 % at 95 %; 0 of 3 stops with a loss: up to 63 % per stop isn't excluded."
    )


def test_a_run_with_losses_gives_counts_and_no_bound(runs: Runs) -> None:
    assert wording.proof_sentence(runs["failed"]()) == "11 lost of 2,143 requests (0.51 %); 2 of 3 stops with a loss."


def test_a_baseline_stops_nobody(runs: Runs) -> None:
    proof = {"sent": 100, "lost": 0, "upper_bound": 0.03, "stops": 0, "stops_with_loss": 0, "stop_upper_bound": None}
    document = msgspec.structs.replace(runs["passed"](), proof=proof)
    assert wording.proof_sentence(document) == "0 lost of 100 requests: below 3.0 % at 95 %; no instance was stopped."


def test_without_requests_nothing_is_proved(runs: Runs) -> None:
    document = msgspec.structs.replace(runs["passed"](), proof={"sent": 0}, losses={})
    assert wording.proof_sentence(document) == "No request was sent: nothing is proved."


@pytest.mark.parametrize(
    ("seconds", "error", "text"),
    [
        (12.344, 0.0, "12.34"),
        (12.344, 0.049, "12.34"),
        (12.344, 0.1, "12.34 ±0.10"),
        (-0.001, 0, "0.00"),
        (-3.2, 0, "-3.20"),
    ],
)
def test_an_error_bar_is_shown_where_it_matters(seconds: float, error: float, text: str) -> None:
    assert with_error(seconds, error) == text


def test_a_mark_that_was_not_seen_is_not_zero() -> None:
    assert mark_text(None, 0.0) == "-"


def test_the_durations_add_up_their_marks_errors(runs: Runs) -> None:
    old = runs["passed"]().instances[0]
    marks = old.marks | {"signalled": Mark(10.0, 0.1, "x"), "exited": Mark(14.0, 0.2, "x"), "last_done": None}
    span = durations(msgspec.structs.replace(old, marks=marks), 30.0)
    assert (str(span.stop), str(span.slack)) == ("4.00 ±0.30", "26.00 ±0.30")
    assert span.drain is None


def test_times_count_from_the_first_mark_where_there_was_no_rollout(runs: Runs) -> None:
    document = msgspec.structs.replace(runs["passed"](), start=None)
    first = document.instances[0].marks["started"]
    assert first is not None
    assert zero(document) == first.at


def test_two_instances_in_one_slot_are_told_apart(runs: Runs) -> None:
    old = runs["passed"]().instances[0]
    twin = msgspec.structs.replace(old, id="zzzzzz")
    assert labels([old, twin]) == {old.id: "api.1 k1xj", "zzzzzz": "api.1 zzzz"}


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ({}, ["-", "-"]),
        ({"p50_ms": 1234.4, "p99_ms": 2500.0}, ["1,234", "2,500"]),
        ({"p50_ms": 12.0, "p99_ms": 2500.0, "p99_sent_ms": 480.2}, ["12", "2,500 (480)"]),
    ],
)
def test_times_from_when_requests_were_due_have_those_from_when_they_were_sent_in_brackets(
    times: dict[str, float], said: list[str]
) -> None:
    assert wording.answer_times(LossRow("short", "kept", 3, {"ok": 3}, **times)) == said


def test_text_that_drives_a_terminal_or_turns_its_surroundings_is_seen_as_that() -> None:
    assert wording.visible("a\tb\nü\x1b[31m\x9b\u202e\u2066c") == "a\tb\nü\ufffd[31m\ufffd\ufffd\ufffdc"


def test_a_class_of_answers_without_a_proof_and_of_losses_says_how_many_of_each(runs: Runs) -> None:
    document = doubtful(runs["passed"]())
    assert wording.meaning(document, "unknown") == (
        "15 answered in full, and not proved to be whole or to be the stack's own answer; the other 3: no complete"
        " answer, and nothing tells whether it was handled; not safe to send again"
    )
