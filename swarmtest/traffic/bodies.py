"""What uploads and downloads have in common: an answer whose content counts, and what the network says of it.

A large body is never whole in memory. How much of a request the peer's kernel has acknowledged is asked of
our own kernel (``TCP_INFO``), which remembers it even when the connection was reset.
"""

from __future__ import annotations

import hashlib
import socket
import struct
from base64 import b64decode
from binascii import Error as Base64Error
from dataclasses import dataclass

import msgspec

from swarmtest.traffic.answers import Answer, Expectation

_KEPT_BYTES = 65536
"""So much of an answer is kept to be read; the word about an upload is short."""

_ACKNOWLEDGED = struct.Struct("=120xQ")
"""``tcpi_bytes_acked`` of Linux' ``struct tcp_info``: bytes that the peer's kernel has acknowledged."""


@dataclass(frozen=True, slots=True)
class Word:
    """What the service says of a content.

    Attributes:
        stored: how many bytes it stored; None where it doesn't tell.
        sha256: the checksum, in hex; None where it doesn't tell.
    """

    stored: int | None = None
    sha256: str | None = None


class ContentAnswer(Answer):
    """An answer whose body has a checksum, and whose word about a content is kept.

    The word is in the headers ``X-Stored`` and ``X-Stored-SHA256``, or in the fields ``stored`` and ``sha256`` of a
    JSON body; of the answer's own content it's in ``Repr-Digest`` (RFC 9530), as a header or a trailer.
    """

    __slots__ = ("_body", "_checksum", "_digest", "_told")

    def __init__(self, expectation: Expectation, is_head: bool = False) -> None:
        super().__init__(expectation, is_head)
        self._body = b""
        self._checksum = hashlib.sha256()
        self._digest: bytes | None = None
        self._told: dict[bytes, bytes] = {}

    @property
    def sha256(self) -> str:
        """The checksum of the body as far as it came, in hex."""
        return self._checksum.hexdigest()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keeps what's said of a content, which may be a trailer, too."""
        match name.lower():
            case b"repr-digest" | b"content-digest":
                self._digest = value
            case b"x-stored" | b"x-stored-sha256" as told:
                self._told[told] = value
        super().on_header(name, value)

    def on_body(self, data: bytes) -> None:
        """Counts a piece into the checksum; the first of the body is kept."""
        self._checksum.update(data)
        if len(self._body) < _KEPT_BYTES:
            self._body += data[: _KEPT_BYTES - len(self._body)]
        super().on_body(data)

    def own_word(self) -> Word:
        """What the answer says of its own content."""
        return Word(sha256=_hex_of(self._digest) if self._digest is not None else None)

    def word(self) -> Word:
        """What the answer says of the content that it was sent."""
        try:
            said = msgspec.json.decode(self._body, type=_Said)
        except (msgspec.DecodeError, msgspec.ValidationError):
            said = _Said()
        stored, sha256 = said.stored, said.sha256
        if (text := self._told.get(b"x-stored", b"")).isdigit():
            stored = int(text)
        if (text := self._told.get(b"x-stored-sha256", b"")) != b"":
            sha256 = text.decode("latin-1")
        return Word(stored, sha256.strip().lower() if sha256 is not None else None)


class _Said(msgspec.Struct):
    stored: int | None = None
    sha256: str | None = None


def _hex_of(digest: bytes) -> str | None:
    """The SHA-256 of ``sha-256=:…:``, among others or alone; None for other algorithms."""
    for item in digest.decode("latin-1").split(","):
        name, _, value = item.strip().partition("=")
        if name.lower() == "sha-256" and value[:1] == value[-1:] == ":":
            try:
                return b64decode(value[1:-1], validate=True).hex()
            except Base64Error:
                return "unreadable"
    return None


def acknowledged_bytes(connected: socket.socket) -> int | None:
    """Bytes that the peer's kernel has acknowledged since the connection was made; None where nobody tells."""
    try:
        info = connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
        return int(_ACKNOWLEDGED.unpack_from(info)[0])
    except (OSError, struct.error, AttributeError):
        return None
