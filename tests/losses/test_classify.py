"""The classifier over every combination of what can be known of a request."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from swarmtest.evidence.request import NO_LENGTH, OUTCOMES, Request
from swarmtest.losses import Known, Loss, classify
from swarmtest.reports import CLASSES
from swarmtest.timeline import Proxied, Step, Trail

STEPS = ((), ("start",), ("start", "intent"), ("start", "commit"), ("start", "intent", "commit"), ("start", "finish"))
GAP = "api.1: its log wasn't read to the end"


def trail(*steps: str) -> Trail | None:
    if not steps:
        return None
    return Trail(**{name: [Step("box", 1.0, 0.0, 1)] for name in steps})


def request(outcome: str, **fields: Any) -> Request:
    return Request(id="r", client_outcome=outcome, **fields)


def complete(status: int, **fields: Any) -> Request:
    return request("complete", status=status, **{"framing": "length", **fields})


def test_the_classes_are_those_of_the_document() -> None:
    assert tuple(loss.value for loss in Loss) == CLASSES


WITHOUT_ANSWER = ("no_connection", "closed_unanswered", "closed_in_headers", "closed_in_body", "malformed")


@pytest.mark.parametrize(
    ("outcome", "steps", "gap"), list(itertools.product(WITHOUT_ANSWER, STEPS, (None, GAP))), ids=str
)
def test_without_a_complete_answer_the_record_of_the_instance_decides(
    outcome: str, steps: tuple[str, ...], gap: str | None
) -> None:
    found = classify(Known(request(outcome), trail(*steps), gap))
    if "commit" in steps or "finish" in steps:
        expected = Loss.CUT_FINISHED
    elif "intent" in steps:
        expected = Loss.UNKNOWN
    elif "start" in steps:
        expected = Loss.CUT
    elif outcome in ("no_connection", "malformed"):
        expected = {"no_connection": Loss.REFUSED, "malformed": Loss.UNEXPECTED}[outcome]
    else:
        expected = Loss.UNSERVED if gap is None else Loss.UNKNOWN
    assert found.loss is expected
    if found.loss is Loss.UNKNOWN and not steps:
        assert GAP in found.why


@pytest.mark.parametrize(
    ("status", "steps", "gap"), list(itertools.product((502, 503, 504), STEPS, (None, GAP))), ids=str
)
def test_a_502_of_the_proxy_is_cut_when_an_instance_had_started_it(
    status: int, steps: tuple[str, ...], gap: str | None
) -> None:
    found = classify(Known(complete(status), trail(*steps), gap))
    if "commit" in steps or "finish" in steps:
        assert found.loss is Loss.CUT_FINISHED
    elif "intent" in steps:
        assert found.loss is Loss.UNKNOWN
    elif "start" in steps:
        assert found.loss is Loss.CUT
    else:
        assert found.loss is (Loss.GATEWAY if gap is None else Loss.UNKNOWN)


@pytest.mark.parametrize(("connected", "server"), [(False, "10.0.1.5:8000"), (None, None), (False, None)])
def test_a_proxy_that_reached_nobody_proves_that_no_handler_saw_it(connected: bool | None, server: str | None) -> None:
    proxied = Proxied(1.0, server, connected, 503, "SC--", 0.0)
    assert classify(Known(complete(503), None, GAP, proxied)).loss is Loss.GATEWAY
    assert classify(Known(request("closed_unanswered"), None, GAP, proxied)).loss is Loss.UNSERVED


def test_a_proxy_that_did_connect_proves_nothing() -> None:
    proxied = Proxied(1.0, "10.0.1.5:8000", True, 502, "SH--", 0.0)
    assert classify(Known(complete(502), None, GAP, proxied)).loss is Loss.UNKNOWN


@pytest.mark.parametrize(
    ("status", "instance", "retry_after", "expected"),
    [
        (200, "a", False, Loss.OK),
        (204, "a", False, Loss.OK),
        (200, None, False, Loss.UNEXPECTED),
        (301, "a", False, Loss.UNEXPECTED),
        (404, "a", False, Loss.UNEXPECTED),
        (404, None, False, Loss.UNEXPECTED),
        (429, "a", False, Loss.SHED),
        (429, None, False, Loss.SHED),
        (500, "a", False, Loss.ERROR),
        (500, None, False, Loss.UNEXPECTED),
        (502, "a", False, Loss.ERROR),
        (503, "a", False, Loss.ERROR),
        (503, "a", True, Loss.SHED),
        (503, None, True, Loss.SHED),
        (999, "a", False, Loss.UNEXPECTED),
    ],
)
def test_a_complete_answer_goes_by_status_and_origin(
    status: int, instance: str | None, retry_after: bool, expected: Loss
) -> None:
    assert classify(Known(complete(status, instance=instance, retry_after=retry_after))).loss is expected


@pytest.mark.parametrize("name", ["10.0.1.5:8000", "10.0.1.5", "10.0.1.4:8000, 10.0.1.5:8000", "[fd00::5]:80"])
@pytest.mark.parametrize(
    ("steps", "gap", "expected"),
    [(("start",), None, Loss.CUT), (("start", "commit"), None, Loss.CUT_FINISHED), ((), None, Loss.GATEWAY)],
)
def test_an_upstream_address_on_a_bad_gateway_is_the_proxy_s_own_word(
    name: str, steps: tuple[str, ...], gap: str | None, expected: Loss
) -> None:
    """nginx's `add_header X-Instance-ID $upstream_addr always` names the instance on its own 502, too."""
    assert classify(Known(complete(502, instance=name), trail(*steps), gap)).loss is expected
    assert classify(Known(complete(500, instance=name), trail(*steps), gap)).loss is Loss.ERROR


def test_a_503_that_the_instance_recorded_itself_is_its_own_error_whatever_names_it() -> None:
    finished = Trail(start=[Step("box", 1.0, 0.0, 1)], finish=[Step("box", 1.1, 0.0, 2, 503)])
    assert classify(Known(complete(503, instance="10.0.1.5:8000"), finished)).loss is Loss.ERROR


def test_turned_away_by_a_proxy_while_a_handler_ran_is_cut() -> None:
    assert classify(Known(complete(503, retry_after=True), trail("start"))).loss is Loss.CUT


@pytest.mark.parametrize(
    ("framing", "echoed", "echoes", "expected", "unproved"),
    [
        ("length", True, True, Loss.OK, False),
        ("chunked", True, True, Loss.OK, False),
        ("marker", None, False, Loss.OK, False),
        ("length", None, True, Loss.UNEXPECTED, False),
        ("length", False, True, Loss.SILENT_LOSS, False),
        ("close", True, True, Loss.UNKNOWN, True),
        (None, True, True, Loss.UNKNOWN, True),
    ],
)
def test_a_success_is_proved_by_its_content(
    framing: str | None, echoed: bool | None, echoes: bool, expected: Loss, unproved: bool
) -> None:
    """locustio/locust #1472: a body that's ended by closing is taken for whole when it's cut."""
    known = Known(complete(200, instance="a", framing=framing, echoed=echoed), trail("start", "finish"), echoes=echoes)
    found = classify(known)
    assert (found.loss, found.unproved) == (expected, unproved)


def test_a_body_ended_by_closing_is_cut_where_the_handler_never_finished() -> None:
    known = Known(complete(200, instance="a", framing="close"), trail("start"))
    assert classify(known).loss is Loss.CUT


@pytest.mark.parametrize("steps", [(), ("start", "commit", "finish")])
@pytest.mark.parametrize("gap", [None, GAP])
def test_a_whole_looking_body_without_length_is_unproved_and_no_loss(steps: tuple[str, ...], gap: str | None) -> None:
    """H4 (b): a server that ends its answers by closing loses nothing by that; it only proves nothing."""
    one = request("closed_in_body", status=200, instance="a", framing="close", error=NO_LENGTH + ": completeness …")
    found = classify(Known(one, trail(*steps), gap))
    assert (found.loss, found.unproved) == (Loss.UNKNOWN, True)


def test_a_body_without_length_whose_handler_never_finished_is_cut() -> None:
    one = request("closed_in_body", status=200, instance="a", framing="close", error=NO_LENGTH)
    assert classify(Known(one, trail("start"))).loss is Loss.CUT
    assert classify(Known(one, trail("start", "commit"))).loss is Loss.CUT_FINISHED


def test_a_body_without_length_that_was_reset_or_lacks_its_end_is_cut() -> None:
    for error in ("ConnectionResetError: [Errno 104]", "closed before the body's end, which is b'END'"):
        one = request("closed_in_body", status=200, instance="a", framing="close", error=error)
        assert classify(Known(one, None, GAP)).loss is Loss.CUT


def test_an_error_page_without_length_goes_by_its_status() -> None:
    """HAProxy before 2.2 gives its own 502 no length."""
    one = request("closed_in_body", status=502, framing="close", error=NO_LENGTH)
    assert classify(Known(one, None, None)).loss is Loss.GATEWAY


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("DELETE", 204)])
def test_an_answer_that_has_no_body_is_proved_by_its_head(method: str, status: int) -> None:
    one = request("complete", method=method, status=status, instance="a", echoed=True)
    assert classify(Known(one, trail("start", "finish"), echoes=True)).loss is Loss.OK


def test_an_answer_cut_in_its_body_was_begun_by_a_handler_even_without_a_log_line() -> None:
    """locustio/locust #2236: cut inside the body, whatever the status field says."""
    assert classify(Known(request("closed_in_body", status=200, instance="a"), None, GAP)).loss is Loss.CUT


def test_where_no_answer_of_the_run_names_an_instance_a_whole_one_is_unproved() -> None:
    found = classify(Known(complete(200), names_itself=False))
    assert (found.loss, found.unproved) == (Loss.UNKNOWN, True)


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("timed_out", Loss.TIMED_OUT),
        ("still_open", Loss.UNRESOLVED),
        ("local_error", Loss.CLIENT_ERROR),
        ("of_a_later_version", Loss.UNKNOWN),
    ],
)
@pytest.mark.parametrize("steps", STEPS)
def test_the_clients_own_outcomes_stay_whatever_ran(outcome: str, expected: Loss, steps: tuple[str, ...]) -> None:
    assert classify(Known(request(outcome), trail(*steps))).loss is expected


def test_every_combination_has_one_class_and_says_why() -> None:
    statuses = (None, 101, 200, 302, 404, 429, 500, 502, 503, 504)
    space = itertools.product(OUTCOMES, statuses, (None, "a"), STEPS, (None, GAP), ("length", "close"), (True, False))
    for outcome, status, instance, steps, gap, framing, echoed in space:
        one = request(outcome, status=status, instance=instance, framing=framing, echoed=echoed)
        found = classify(Known(one, trail(*steps), gap, None, True, True))
        assert found.why
        if found.loss in (Loss.REFUSED, Loss.UNSERVED, Loss.GATEWAY):
            assert not steps, "these are safe to send again, so no handler may have started"
        if found.loss is Loss.OK:
            assert (outcome, instance, framing) == ("complete", "a", "length")
        if found.loss is Loss.UNSERVED:
            assert gap is None


def test_a_handler_whose_end_may_have_gone_unrecorded_leaves_the_class_unknown() -> None:
    known = Known(request("closed_unanswered"), trail("start"), unheard="2 later lines are missing")
    assert classify(known).loss is Loss.UNKNOWN
    assert (
        classify(Known(request("closed_unanswered"), trail("start", "commit"), unheard="x")).loss is Loss.CUT_FINISHED
    )


def test_an_error_of_a_run_without_names_is_the_instance_s_where_its_record_says_so() -> None:
    said = Trail(start=[Step("c", 1.0, 0.0, 1)], finish=[Step("c", 2.0, 0.0, 2, status=503)])
    assert classify(Known(complete(503), said, names_itself=False)).loss is Loss.ERROR
    assert classify(Known(complete(503, retry_after=True), said, names_itself=False)).loss is Loss.SHED
    assert classify(Known(complete(502), said, names_itself=False)).loss is Loss.UNKNOWN
