from __future__ import annotations

from swarmtest.evidence.connection import Connection


def test_a_connection_is_dropped_when_its_peer_ends_it_without_a_word() -> None:
    assert Connection("h1", ended_by="peer").dropped
    assert not Connection("h1", ended_by="client").dropped
    told = Connection("h1", ended_by="peer", goaway=5)
    assert told.told
    assert not told.dropped


def test_it_lived_from_its_making_to_its_end() -> None:
    one = Connection("h1", opened=10.0, ended=20.0)
    assert [one.lived_at(t) for t in (9.0, 10.0, 20.0, 21.0)] == [False, True, True, False]
    assert Connection("h1", opened=10.0).lived_at(1e9)
