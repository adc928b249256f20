"""Content of large bodies: the same seed gives the same, and no two requests have the same."""

from __future__ import annotations

import hashlib

import pytest

from swarmtest.traffic.content import Content, block_for

BLOCK = block_for(42, "up", 1024)


def body(request_id: str, length: int) -> bytes:
    return b"".join(Content(BLOCK, request_id, length).pieces())


@pytest.mark.parametrize("length", [0, 1, 15, 16, 1023, 1024, 1025, 5000])
def test_a_body_is_as_long_as_it_was_asked_for_and_its_checksum_is_that_of_its_bytes(length: int) -> None:
    content = Content(BLOCK, "r-1", length)
    sent = b"".join(content.pieces())
    assert (len(sent), content.read) == (length, length)
    assert content.sha256 == hashlib.sha256(sent).hexdigest()


def test_the_same_seed_and_request_give_the_same_bytes() -> None:
    assert block_for(42, "up", 1024) == BLOCK
    assert body("r-1", 3000) == body("r-1", 3000)


def test_another_seed_kind_or_request_gives_other_bytes() -> None:
    assert len({block_for(42, "up", 1024), block_for(43, "up", 1024), block_for(42, "down", 1024)}) == 3
    assert body("r-1", 3000) != body("r-2", 3000)


def test_no_two_pieces_are_alike_so_that_one_that_is_missing_is_seen() -> None:
    pieces = list(Content(BLOCK, "r-1", 4096).pieces())
    assert len(set(pieces)) == 4


def test_the_checksum_of_a_body_that_was_cut_is_that_of_what_was_handed_out() -> None:
    content = Content(BLOCK, "r-1", 4096)
    first = next(content.pieces())
    assert (content.read, content.sha256) == (1024, hashlib.sha256(first).hexdigest())
