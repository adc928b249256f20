"""What was wrong with a goodbye, by what became of a request that went with its connection."""

from __future__ import annotations

import pytest

from swarmtest.losses import Accounted
from swarmtest.losses.goodbyes import goodbye_of
from swarmtest.losses.mechanisms import Mechanism
from tests.judge.multiplexing import Multiplexing


def lost(at: float, until: float, *, started: bool = False, **fields: object) -> Accounted:
    """A request on the first old instance, in seconds from its signal; it exits 3.5 s after that."""
    rollout = Multiplexing()
    life = rollout.old[0]
    signalled = life.signalled or 0.0
    one = rollout.lost("one", life, signalled + at, signalled + until, connection="h10", **fields)
    if started:
        one.steps = {"start": signalled + at + 0.01}
    return next(lost for lost in rollout.judged().losses.lost if lost.request.id == "one")


@pytest.mark.parametrize(
    ("at", "until", "started", "fields", "way"),
    [
        # Begun before the signal, and its socket was closed while the process went on.
        (-1.0, 1.0, True, {}, Mechanism.GOAWAY_MISSING),
        # Begun before the signal, and ended with its process: a goodbye would have changed nothing.
        (-1.0, 3.5, True, {}, None),
        # Sent to a dying connection, since nobody had told the client.
        (1.0, 3.5, True, {}, Mechanism.GOAWAY_MISSING),
        (1.0, 1.1, False, {}, Mechanism.GOAWAY_MISSING),
        # A connection of its own isn't a matter of a goodbye.
        (1.0, 1.1, False, {"reused": False}, None),
        # The stream was reset, and not the connection.
        (1.0, 1.1, True, {"error": "RST_STREAM: INTERNAL_ERROR"}, None),
        # Told, and above the last stream; told, and cut below it.
        (0.0, 0.1, False, {"goaway": 5, "client_outcome": "refused_stream"}, Mechanism.GOAWAY_AT_ONCE),
        (-1.0, 1.0, True, {"goaway": 9}, None),
        # Refused by the peer's word, and begun by the instance's: HAProxy says so when it's cut short.
        (-1.0, 1.0, True, {"goaway": 2**31 - 1, "client_outcome": "refused_stream"}, None),
        # By HTTP/1.1 there's no goodbye.
        (-1.0, 1.0, True, {"protocol": "http1"}, None),
        (-1.0, 1.0, True, {"client_outcome": "timed_out"}, None),
    ],
)
def test_a_goodbye_is_missing_where_it_would_have_saved_the_request(
    at: float, until: float, started: bool, fields: dict[str, object], way: Mechanism | None
) -> None:
    assert goodbye_of(lost(at, until, started=started, **fields)) is way
