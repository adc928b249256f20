"""What a kind of traffic says of its large bodies: how long they are, and what proves their content."""

from __future__ import annotations

import re
from dataclasses import dataclass

from swarmtest.stack.reader import Reader

BODY_KEYS = ("bytes", "chunk", "sha256")
LARGE = ("upload", "download")
"""Protocols that stream large bodies and hold them to a checksum."""

DEFAULT_BYTES = 4 * 1024 * 1024
DEFAULT_CHUNK = 64 * 1024
MOST_BYTES = 64 * 1024**3
_LEAST_CHUNK, _MOST_CHUNK = 1024, 16 * 1024 * 1024
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kmgt]?)i?b?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


@dataclass(frozen=True, slots=True)
class LargeBody:
    """A body that's streamed.

    Attributes:
        length: its bytes; None for a download of any length.
        chunk: so many bytes are handed over at a time.
        sha256: the known checksum of a download; None for what the answer says itself.
    """

    length: int | None
    chunk: int = DEFAULT_CHUNK
    sha256: str | None = None


def read_large(reader: Reader, protocol: str) -> LargeBody:
    """The keys of a kind whose bodies are large.

    Raises:
        StackError: a size that isn't one, or no checksum.
    """
    sha256 = reader.text("sha256", "").lower()
    if sha256 and not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise reader.error(f"expected a SHA-256 of 64 hex digits, found {sha256!r}", "sha256")
    any_length = protocol == "download" and reader.body.get("bytes") is None
    return LargeBody(
        None if any_length else _size(reader, "bytes", DEFAULT_BYTES, (1, MOST_BYTES)),
        _size(reader, "chunk", DEFAULT_CHUNK, (_LEAST_CHUNK, _MOST_CHUNK)),
        sha256 or None,
    )


def parse_size(text: object) -> int:
    """Bytes of a size as Docker writes it: ``512``, ``64k``, ``4MB``, ``1.5g``; a kilobyte has 1,024.

    Raises:
        ValueError: it's none.
    """
    match = _SIZE.fullmatch(str(text).strip()) if not isinstance(text, bool) else None
    if match is None:
        raise ValueError(f'expected a size such as "4MB" or "64KB", found {text!r}')
    return int(float(match[1]) * _FACTORS[match[2].lower()])


def _size(reader: Reader, key: str, default: int, bounds: tuple[int, int]) -> int:
    try:
        size = parse_size(reader.body.get(key, default))
    except ValueError as error:
        raise reader.error(str(error), key) from error
    if not bounds[0] <= size <= bounds[1]:
        raise reader.error(f"expected a size from {bounds[0]:,} to {bounds[1]:,} bytes, found {size:,}", key)
    return size
