from __future__ import annotations

from swarmtest.checks import Outcome
from swarmtest.losses import Loss
from swarmtest.losses.mechanisms import Mechanism, mechanism_of
from tests.judge.builder import T0
from tests.judge.multiplexing import CHECK, Multiplexing


def test_passes_when_each_connection_was_told_and_nothing_went_with_it() -> None:
    verdict = Multiplexing().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert verdict.evidence[0].endswith("2 connections told to go away, and no request was lost on them")


def test_a_socket_that_ends_without_a_word_fails_it_and_its_requests_are_counted() -> None:
    # The right answer of line/armeria #1346 and grpc/grpc PR #29050: requests are counted, and not connections.
    rollout = Multiplexing()
    life = rollout.old[0]
    at = life.signalled or 0.0
    rollout.untold("h10", 4)
    for n in range(3):
        one = rollout.lost(f"cut-{n}", life, at - 1.0, at + 1.0, connection="h10")
        one.steps = {"start": at - 0.9, "intent": at + 0.9, "commit": at + 0.95, "finish": at + 1.2}
    rollout.lost("unread", life, at + 0.99, at + 1.0, connection="h10")
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "1 connection told to go away, 1 ended without a word" in verdict.evidence[0]
    assert "3 cut_finished, 1 unserved with 1 connection, up to 4 with one socket: cut-0, cut-1" in verdict.evidence[0]
    assert "send GOAWAY before closing an HTTP/2 connection" in (verdict.advice or "")
    assert "a longer grace does nothing" in (verdict.advice or "")


def test_a_single_goaway_loses_what_is_above_it_and_nobody_saw_that() -> None:
    rollout = Multiplexing()
    life = rollout.old[0]
    at = life.signalled or 0.0
    error = "GOAWAY NO_ERROR: 31 is the last stream that was looked at"
    rollout.lost(
        "above", life, at, at + 0.02, connection="h10", goaway=31, stream=33, client_outcome="refused_stream",
        error=error,
    )  # fmt: skip
    judged = rollout.judged()
    [lost] = judged.losses.lost
    assert lost.loss is Loss.UNSERVED
    assert "31 is the last stream" in lost.why
    assert mechanism_of(lost, judged.timeline, judged.witness, judged.promises) is Mechanism.GOAWAY_AT_ONCE
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "send GOAWAY twice" in (verdict.advice or "")


def test_a_stream_that_was_refused_after_a_handler_had_begun_it_was_cut() -> None:
    rollout = Multiplexing()
    life = rollout.old[0]
    at = life.signalled or 0.0
    one = rollout.lost("both", life, at, at + 0.02, connection="h10", client_outcome="refused_stream")
    one.steps = {"start": at + 0.01}
    assert [lost.loss for lost in rollout.judged().losses.lost] == [Loss.CUT]


def test_a_proxys_word_that_nobody_saw_a_stream_proves_nothing_and_an_instances_does() -> None:
    for door, loss in (("proxy", Loss.UNKNOWN), ("direct", Loss.UNSERVED)):
        rollout = Multiplexing(front_door=door)
        life = rollout.old[0]
        at = life.signalled or 0.0
        life.log_complete = False
        rollout.lost("refused", life, at, at + 0.02, connection="h10", client_outcome="refused_stream")
        [lost] = [one for one in rollout.judged().losses.lost if one.request.id == "refused"]
        assert lost.loss is loss, lost.why


def test_an_untold_connection_fails_it_even_if_nothing_was_open_on_it() -> None:
    rollout = Multiplexing()
    rollout.untold("h10", 0)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "by luck no request was open on them" in verdict.evidence[0]


def test_a_reset_stream_is_no_matter_of_the_goodbye() -> None:
    rollout = Multiplexing()
    life = rollout.old[0]
    at = life.signalled or 0.0
    one = rollout.lost("reset", life, at, at + 0.02, connection="h10", goaway=31, error="RST_STREAM: INTERNAL_ERROR")
    one.steps = {"start": at + 0.01}
    assert rollout.verdict(CHECK).outcome is Outcome.PASSED


def test_an_instance_without_a_connection_at_its_stop_proves_nothing() -> None:
    rollout = Multiplexing()
    rollout.connections = [one for one in rollout.connections if not one["connection"].startswith("h1")]
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.evidence[0].endswith("carried no HTTP/2 connection when it was stopped")
    assert "protocol: h2" in (verdict.advice or "")


def test_without_http2_in_the_traffic_it_was_not_tested() -> None:
    rollout = Multiplexing()
    rollout.plan["traffic"]["kinds"].pop()
    rollout.connections = []
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.evidence == ("no request was sent by HTTP/2",)
    assert "where clients use it" in (verdict.advice or "")


def test_behind_a_proxy_it_is_the_proxys_goodbye_and_a_rollout_does_not_show_it() -> None:
    verdict = Multiplexing(front_door="proxy").verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert verdict.evidence == ("the front door, which ends HTTP/2 itself, wasn't reloaded",)
    assert "--scenario reload" in (verdict.advice or "")


def reloaded() -> Multiplexing:
    """A front door that's reloaded 1 s after T0, and says goodbye on both of its connections."""
    rollout = Multiplexing(front_door="proxy", update=False)
    act = {"id": 1, "name": "reload", "target": "edge", "settings": {"signal": "SIGUSR2"}}
    rollout.event(0.0, "act", edge="began", **act)
    rollout.event(0.1, "act", edge="ended", outcome="ok", **act)
    rollout.connections = []
    for name in ("h1", "h2"):
        told = {"goaway": 2**31 - 1, "goaway_at": T0 + 0.2, "goaways": 1, "code": "NO_ERROR"}
        rollout.connection(name, rollout.old[0], 1.0, **told)
    return rollout


def test_a_front_door_that_is_reloaded_has_to_say_goodbye() -> None:
    verdict = reloaded().verdict(CHECK)
    assert verdict.outcome is Outcome.PASSED, verdict
    assert verdict.evidence == ("front door edge: 2 connections told to go away, and no request was lost on them",)


def test_a_front_door_that_drops_its_connections_fails_it() -> None:
    rollout = reloaded()
    rollout.untold("h1", 1)
    one = rollout.lost("gone", rollout.old[0], 0.1, 0.3, connection="h1")
    one.steps = {"start": 0.12}
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert verdict.evidence[0].startswith(
        "front door edge: 1 connection told to go away, 1 ended without a word; 1 cut"
    )


def test_a_front_door_that_is_reloaded_and_does_not_wait_is_advised_to() -> None:
    rollout = reloaded()
    rollout.connections[0].update(ended_by="peer", open=1)
    error = "closed after a GOAWAY that named 2147483647, with 1 streams open"
    one = rollout.lost(
        "long", rollout.old[0], -1.0, 1.0, connection="h1", goaway=2**31 - 1, error=error, target="127.0.0.1:8080"
    )
    one.steps = {"start": -0.9, "commit": 3.0, "finish": 3.1}
    judged = rollout.judged()
    [lost] = judged.losses.lost
    assert lost.loss is Loss.CUT_FINISHED
    assert mechanism_of(lost, judged.timeline, judged.witness, judged.promises) is Mechanism.RELOAD_CUTS
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.FAILED
    assert "reload the front door softly" in (verdict.advice or "")


def test_a_connection_that_outlives_the_run_untold_proves_nothing() -> None:
    rollout = reloaded()
    for one in rollout.connections:
        one.update(goaway=None, ended=T0 + 9.0)
    verdict = rollout.verdict(CHECK)
    assert verdict.outcome is Outcome.NOT_PROVED
    assert "ended none of 2 HTTP/2 connections" in verdict.evidence[0]
