"""Content of large bodies: drawn with a seed, made piece by piece, with a checksum kept on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from random import Random

PIECE_BYTES = 65536
"""Bytes that are handed over at a time, unless a kind says otherwise."""

_MARK_BYTES = 16


class Content:
    """The body of one request; no two requests have the same, so that one can't pass for another.

    A block of noise is drawn once for each kind. Every piece of it begins with a mark made of the request's
    ID and the piece's number: a piece that's missing, repeated or another request's changes the checksum.

    Attributes:
        length: bytes in all.
        read: bytes that were handed out so far.
    """

    def __init__(self, block: bytes, request_id: str, length: int) -> None:
        self._block = block
        self._name = request_id.encode("latin-1")
        self._checksum = hashlib.sha256()
        self.length = length
        self.read = 0

    @property
    def sha256(self) -> str:
        """The checksum, in hex, of what was handed out so far."""
        return self._checksum.hexdigest()

    def pieces(self) -> Iterator[bytes]:
        """The body from its beginning, never more than a block of it in memory."""
        while self.read < self.length:
            mark = hashlib.blake2b(self._name, digest_size=_MARK_BYTES, salt=self.read.to_bytes(16, "big")).digest()
            piece = (mark + self._block[_MARK_BYTES:])[: self.length - self.read]
            self._checksum.update(piece)
            self.read += len(piece)
            yield piece


def block_for(seed: int, kind: str, length: int = PIECE_BYTES) -> bytes:
    """The noise that a kind's bodies are made of; the same seed gives the same."""
    return Random(f"{seed}/{kind}/content").randbytes(length)
