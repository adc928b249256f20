"""Connects that take just a second: an artefact of the way there, told apart from slow instances and cold starts."""

from __future__ import annotations

import pytest

from swarmtest.checks import Outcome
from swarmtest.evidence.database import database_of
from swarmtest.evidence.request import Request
from swarmtest.evidence.requests import Requests
from swarmtest.losses.stalls import read_stalls
from tests.judge.builder import Rollout


def fresh(connect: float, handle: float = 0.1) -> Request:
    return Request(id="r", client_outcome="complete", sent=10.0, connected=10.0 + connect, done=10.0 + connect + handle)


QUICK = [fresh(0.001) for _ in range(50)]


@pytest.mark.parametrize(
    ("stalled", "counts", "artefact"),
    [
        ([fresh(1.003)] * 8, ((1.0, 8),), True),
        ([fresh(1.02)] * 5 + [fresh(3.04)] * 2, ((1.0, 5), (3.0, 2)), True),
        ([fresh(1.003)] * 2, ((1.0, 2),), False),
        ([fresh(0.5 + n / 10) for n in range(10)], ((1.0, 3),), False),
        ([fresh(1.003, handle=2.0)] * 8, ((1.0, 8),), False),
        ([fresh(0.7)] * 9, (), False),
        ([], (), False),
    ],
    ids=["a step", "two steps", "too few", "no step but a slope", "slow handlers too", "no step", "none"],
)
def test_a_step_on_connect_with_usual_handler_times_is_an_artefact(
    stalled: list[Request], counts: tuple[tuple[float, int], ...], artefact: bool
) -> None:
    """moby/moby #35082; cloudnativelabs/kube-router #544; kubernetes/kubernetes #90042."""
    found = read_stalls(Requests(database_of([], [*QUICK, *stalled])))
    assert (found.counts, found.are_an_artefact) == (counts, artefact)


def test_kept_connections_say_nothing_of_it() -> None:
    kept = Request(id="r", client_outcome="complete", reused=True, sent=10.0, done=11.0)
    assert read_stalls(Requests(database_of([], [kept] * 9))).fresh == 0


def stalling(rollout: Rollout) -> Rollout:
    """Some fresh connections took a second to be made after the update; the handlers took their usual time."""
    fields = {"protocol": "http1", "reused": False}
    for n in range(6):
        at = 20.0 + n / 10
        one = rollout.served(f"stalled{n}", at, at + 1.1, rollout.new[0], **fields)
        one.fields["connected"] = one.fields["sent"] + 1.0
        one.steps = {step: t + (1.0 if step == "start" else 0.0) for step, t in one.steps.items()}
    for one in rollout.sent:
        if not one.fields["reused"]:
            one.fields.setdefault("connected", one.fields["sent"] + 0.001)
    return rollout


def test_the_note_names_it_and_nothing_is_lost() -> None:
    document = stalling(Rollout(front_door="mesh")).document()
    (note,) = [note for note in document.notes if "took just 1 s" in note]
    assert "6 took just 1 s" in note
    assert "conn_reuse_mode" in note
    assert "send from more addresses" in note
    assert sum(document.losses[name] for name in ("cut", "refused", "unserved", "timed_out")) == 0


def test_a_stall_is_no_part_of_the_longest_request_even_without_records() -> None:
    rollout = stalling(Rollout()).drop(lambda event: event["kind"] == "record")
    rollout.plan["traffic"]["longest_request_seconds"] = 0.5
    longest = rollout.served("longest", 14.0, 20.0, rollout.new[0], reused=False)
    longest.fields["connected"] = longest.fields["sent"] + 1.0
    verdict = rollout.verdict("grace_exceeds_longest_request")
    assert "5.0 s the longest request (measured" in verdict.evidence[0]


def test_a_stall_is_no_cold_start() -> None:
    assert stalling(Rollout()).verdict("new_instances_were_warm").outcome is Outcome.PASSED
