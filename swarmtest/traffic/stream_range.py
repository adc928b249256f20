"""The server of the streams' calibration shot: does with each stream what its script says.

It writes frames and chunks byte by byte, so that it shares no mistake with the client's own library.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from swarmtest.traffic.doors import Doors
from swarmtest.traffic.firing_range import INSTANCE
from swarmtest.traffic.targets import Target

Step = tuple[Any, ...]
"""What the server does next, by name, and with what: a number, a code, bytes."""

PATIENCE_SECONDS = 10.0
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_RESET = struct.pack("ii", 1, 0)


class StreamRange:
    """A server on loopback for as long as the ``with`` block lasts.

    Arguments:
        scripts: of each way the steps of its first stream, its second one and so on.

    Attributes:
        streams: how many connections each way was sent.
        asked: of each way, what each stream said of the last event in ``Last-Event-ID``.
    """

    def __init__(self, instance_header: str, scripts: Mapping[str, Sequence[Sequence[Step]]]) -> None:
        self._instance_line = f"{instance_header}: {INSTANCE}\r\n".encode("latin-1")
        self._scripts = scripts
        self._lock = threading.Lock()
        self._doors = Doors()
        self.streams: Counter[str] = Counter()
        self.asked: dict[str, list[str]] = {way: [] for way in scripts}
        self.closed_door = self._doors.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._doors.close()

    def door_of(self, way: str) -> Target:
        """Opens a door for a way."""
        return self._doors.open(lambda listener: self._accept(listener, way))

    def _accept(self, listener: socket.socket, way: str) -> None:
        for script in self._scripts[way]:
            try:
                accepted, _ = listener.accept()
            except OSError:
                return
            with self._lock:
                self.streams[way] += 1
            accepted.settimeout(PATIENCE_SECONDS)
            with contextlib.suppress(OSError), accepted:
                self._treat(accepted, way, script)

    def _treat(self, accepted: socket.socket, way: str, script: Sequence[Step]) -> None:
        head = _until(accepted, b"\r\n\r\n").decode("latin-1")
        last = re.search(r"(?im)^last-event-id: *(\S+)", head)
        self.asked[way].append(last[1] if last else "")
        key = re.search(r"(?im)^sec-websocket-key: *(\S+)", head)
        taken = b""
        for step in script:
            match step:
                case ("upgrade",):
                    accepted.sendall(switching(key[1] if key else "", self._instance_line))
                case ("head", bytes(lines)):
                    accepted.sendall(b"HTTP/1.1 " + lines.replace(b"\r\n", b"\r\n" + self._instance_line, 1))
                case ("take",):
                    taken = read_message(accepted)
                case ("reset",):
                    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                case ("close", int(code)):
                    accepted.sendall(frame(0x88, struct.pack("!H", code) + b"bye"))
                    read_message(accepted)
                case _:
                    accepted.sendall(_bytes_of(step, taken))


def switching(key: str, lines: bytes) -> bytes:
    """The answer that agrees to a WebSocket, with further header lines."""
    accept = base64.b64encode(hashlib.sha1(key.encode() + _GUID, usedforsecurity=False).digest())
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    return head + b"Sec-WebSocket-Accept: " + accept + b"\r\n" + lines + b"\r\n"


def _bytes_of(step: Step, taken: bytes) -> bytes:
    """What a step that only writes writes; ``taken`` is what an echo gives back."""
    match step:
        case ("push", int(number)):
            return frame(0x81, b'{"push":%d}' % number)
        case ("event", int(number)):
            return chunk(b"id: %d\ndata: x\n\n" % number)
        case ("echo",):
            return frame(0x81, taken)
        case ("raw", bytes(data)):
            return data
        case _:
            raise AssertionError(step)


def frame(head: int, payload: bytes) -> bytes:
    """A short frame as a server sends it, unmasked."""
    return bytes((head, len(payload))) + payload


def chunk(data: bytes) -> bytes:
    """A chunk of a body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def read_message(accepted: socket.socket) -> bytes:
    """The payload of the client's next short frame; pings are no messages."""
    while True:
        first, second = _exactly(accepted, 2)
        mask = _exactly(accepted, 4) if second & 0x80 else bytes(4)
        payload = _exactly(accepted, second & 0x7F)
        if first & 0x0F != 0x09:
            return bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))


def _exactly(accepted: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        more = accepted.recv(length - len(data))
        if not more:
            raise ConnectionError("the client left first")
        data += more
    return data


def _until(accepted: socket.socket, end: bytes) -> bytes:
    data = b""
    while not data.endswith(end):
        data += _exactly(accepted, 1)
    return data
