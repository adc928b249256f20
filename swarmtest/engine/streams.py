"""What the engine tells without being asked again: its events, the logs and the load of containers.

Each stream is an iterator that blocks; whoever reads it does so in a thread, and ends it with
:meth:`Stream.close` from another one.
"""

from __future__ import annotations

import contextlib
import json
import socket
from collections import deque
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from swarmtest.engine.client import Client, NoAnswer, refuse_errors, translated
from swarmtest.engine.labels import STACK_LABEL

_SWARM = "com.docker.swarm."


@dataclass(frozen=True, slots=True)
class ContainerEvent:
    """An engine event of one container of our stack, in the fields of a ``container`` trace event."""

    t: float
    fields: dict[str, Any]


class Stream:
    """An open answer of the engine, read as it comes."""

    def __init__(self, client: Client, path: str, doing: str, **params: str) -> None:
        with translated(doing):
            self._answer = client.api.get(
                f"{client.api.base_url}/v{client.api.api_version}{path}",
                params=params,
                stream=True,
                timeout=(30, None),
            )
            if self._answer.status_code >= 400:
                with self._answer:
                    refuse_errors(self._answer, doing)
        self._doing = doing
        self.closed = False

    def chunks(self) -> Iterator[bytes]:
        """Bytes as they arrive; ends at the end of the answer or at :meth:`close`."""
        try:
            with translated(self._doing):
                yield from self._answer.raw.stream(65536, decode_content=True)
        except Exception:
            if not self.closed:
                raise

    def lines(self) -> Iterator[bytes]:
        """Whole lines, without their newline."""
        rest = b""
        for chunk in self.chunks():
            *whole, rest = (rest + chunk).split(b"\n")
            yield from whole
        if rest:
            yield rest

    def close(self) -> None:
        """Ends the stream, also under a reader that's blocked in another thread."""
        self.closed = True
        raw = self._answer.raw
        connection = getattr(raw, "_connection", None) or getattr(raw, "connection", None)
        sock = getattr(connection, "sock", None)
        if isinstance(sock, socket.socket):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._answer.close()


class EventStream:
    """The engine's container events from ``since`` on, reduced to one stack.

    It can be iterated again after :meth:`reopen`: what was given before isn't given twice. What the
    engine has forgotten by then (it keeps the last 256 events, and health probes make three each) is
    lost, so a trace says that the stream broke even where it was taken up again.
    """

    def __init__(self, client: Client, stack: str, since: float) -> None:
        self._client, self._stack, self._last = client, stack, since
        self._given: deque[tuple[int, str, str]] = deque(maxlen=4096)
        self._closed = False
        self._stream = self._open()

    def _open(self) -> Stream:
        filters = json.dumps({"type": ["container"], "label": [f"{STACK_LABEL}={self._stack}"]})
        doing = "following the engine's events"
        return Stream(self._client, "/events", doing, since=f"{self._last:.6f}", filters=filters)

    def reopen(self) -> None:
        """Takes a broken stream up again from the last event on.

        Raises:
            EngineError: no engine answers (yet).
        """
        self._stream.close()
        self._stream = self._open()
        if self._closed:
            self._stream.close()

    def __iter__(self) -> Iterator[ContainerEvent]:
        for line in self._stream.lines():
            raw = _decoded(line)
            event = container_event(raw, self._stack)
            key = int(raw.get("timeNano") or 0), str((raw.get("Actor") or {}).get("ID")), str(raw.get("Action"))
            if event is None or key in self._given:
                continue
            self._given.append(key)
            # a little before it, since a float can't hold the nanoseconds; twins are left out above
            self._last = max(self._last, event.t - 0.001)
            yield event

    def close(self) -> None:
        """Ends the stream."""
        self._closed = True
        self._stream.close()


def _decoded(line: bytes) -> dict[str, Any]:
    """One event; an empty line is a sign of life, and a broken one means that the stream is broken."""
    if not line.strip():
        return {}
    try:
        raw = json.loads(line)
    except ValueError as error:
        raise NoAnswer(f"following the engine's events: broken line {line[:80]!r}") from error
    return raw if isinstance(raw, dict) else {}


def container_event(raw: Mapping[str, Any], stack: str) -> ContainerEvent | None:
    """One engine event in our fields; None for what isn't about a life (``exec_*`` are the probes)."""
    action, _, detail = str(raw.get("Action", "")).partition(":")
    if action.startswith("exec_") or raw.get("Type") != "container":
        return None
    actor = raw.get("Actor") or {}
    about: Mapping[str, str] = actor.get("Attributes") or {}
    service = about.get(f"{_SWARM}service.name", "").removeprefix(f"{stack}_")
    task_name = about.get(f"{_SWARM}task.name", "")
    return ContainerEvent(
        t=int(raw.get("timeNano") or 0) / 1e9,
        fields={
            "action": action,
            "container": str(actor.get("ID", "")),
            "name": about.get("name", ""),
            "service": service,
            "task": about.get(f"{_SWARM}task.id") or None,
            "slot": _slot(task_name),
            "node": about.get(f"{_SWARM}node.id") or None,
            "signal": _number(about.get("signal")) if action == "kill" else None,
            "exit_code": _number(about.get("exitCode")) if action == "die" else None,
            "health": detail.strip() or None if action == "health_status" else None,
        },
    )


def _slot(task_name: str) -> int | None:
    """``service.3.taskid`` → 3; global services have a node's ID there."""
    parts = task_name.rsplit(".", 2)
    return int(parts[1]) if len(parts) == 3 and parts[1].isdigit() else None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.lstrip("-").isdigit() else None


@dataclass(slots=True)
class LogStream:
    """The log of one container from its first line, ``stdout`` and ``stderr``.

    A log on this node is read from the container; elsewhere from its task, through the manager.
    """

    client: Client
    container: str | None
    task: str | None
    _stream: Stream | None = field(default=None, init=False)

    def __iter__(self) -> Iterator[bytes]:
        path = f"/containers/{self.container}/logs" if self.container else f"/tasks/{self.task}/logs"
        self._stream = Stream(
            self.client, path, "following a log", follow="true", stdout="true", stderr="true", tail="all"
        )
        rest = yield from demultiplexed(self._stream.chunks())
        if rest and not self._stream.closed:
            raise NoAnswer(f"following a log: it ended {rest} bytes into a frame")

    def close(self) -> None:
        """Ends the stream; harmless before it's begun."""
        if self._stream is not None:
            self._stream.close()


def demultiplexed(chunks: Iterator[bytes]) -> Generator[bytes, None, int]:
    """Lines out of the engine's frames: 4 bytes of kind, 4 bytes of length, then as many bytes.

    Lines of the two outputs are put together apart from each other, since a frame may end anywhere. A
    container with a terminal has no frames, and its lines end with a carriage return. Returns how many
    bytes of an unfinished frame were left at the end.
    """
    buffer, rests = b"", {1: b"", 2: b""}
    framed: bool | None = None
    for chunk in chunks:
        buffer += chunk
        if framed is None and len(buffer) >= 4:
            framed = buffer[0] <= 2 and buffer[1:4] == b"\0\0\0"
        if framed is False:
            *whole, buffer = buffer.split(b"\n")
            yield from (line.removesuffix(b"\r") for line in whole)
        while framed and len(buffer) >= 8:
            length = int.from_bytes(buffer[4:8], "big")
            if len(buffer) < 8 + length:
                break
            kind, body, buffer = buffer[0], buffer[8 : 8 + length], buffer[8 + length :]
            *whole, rests[kind] = (rests.get(kind, b"") + body).split(b"\n")
            yield from whole
    yield from (rest for rest in rests.values() if rest)
    if framed is False and buffer:
        yield buffer
    return len(buffer) if framed is not False else 0
