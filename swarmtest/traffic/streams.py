"""A line for each stream of a session, the file of them, and the numbers by which nothing goes missing unseen.

A stream is a WebSocket or an answer of server-sent events: it's open for as long as it can be, so its
end is no lost request, and it's counted apart. What's counted is by number: each side numbers its
messages 1, 2, 3, …, so that a gap is a loss, and a number that comes again a repetition.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Literal, Protocol

import msgspec

StreamOutcome = Literal[
    "closed_by_server",
    "closed_by_client",
    "cut",
    "no_connection",
    "turned_away",
    "closed_unopened",
    "timed_out",
    "malformed",
    "still_open",
    "local_error",
]
"""How a stream ended, as the client saw it.

closed_by_server: in good order, by a close frame or by the end of the answer as its framing tells it.
closed_by_client: by us, at the end of the traffic.
cut: it had opened, and its connection ended without either.
no_connection: refused, unreachable, not resolved or too slow to connect.
turned_away: an answer other than a stream; its status is kept.
closed_unopened: closed or reset before the answer to the opening was whole.
timed_out: it didn't open, or nothing came on it, within the time.
malformed: what came isn't the protocol's.
still_open: not over when the client had to end.
local_error: our own fault, or something that the client doesn't know.
"""

FIRST_DELAY_SECONDS, LONGEST_DELAY_SECONDS = 0.1, 2.0


class StreamRecord(msgspec.Struct, kw_only=True):
    """One stream of a session, from the dial to its end; times are epoch seconds.

    Attributes:
        session: who holds it; a session has one stream at a time.
        attempt: which try of its session to have a stream, from 1.
        began, opened, closed: when it was dialled, when the service had agreed to it, and when it had ended.
        code, reason: of the WebSocket's close frame.
        framing: how an answer's end is told; with ``close`` nothing tells an end from a cut.
        sent, answered: messages of ours on this stream, and those of them that came back.
        received: numbered messages of the service.
        lost: numbers of the service's that never came, and messages of ours that nobody can say the fate of.
        repeated: numbers that came again.
        resent: of ``sent``, those that had been sent on an earlier stream, whose close frame had told that they weren't
            taken.
        unnumbered: messages of the service that have no number, so that nobody can say what's missing between them.
        reconnect_seconds: from the end of the session's last open stream to the opening of this one.
    """

    id: str
    kind: str
    protocol: str
    session: str
    attempt: int = 1
    connection: str | None = None
    target: str = ""
    instance: str | None = None
    began: float | None = None
    opened: float | None = None
    closed: float | None = None
    status: int | None = None
    code: int | None = None
    reason: str | None = None
    framing: str | None = None
    client_outcome: StreamOutcome = "still_open"
    sent: int = 0
    answered: int = 0
    received: int = 0
    lost: int = 0
    repeated: int = 0
    resent: int = 0
    unnumbered: int = 0
    reconnect_seconds: float | None = None
    error: str | None = None


class StreamBook:
    """``streams-<pid>.jsonl``: a line for each stream that's over, written by one system call.

    Made when the first stream is written, so that a run without any has no such file.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"streams-{os.getpid()}.jsonl"
        self._descriptor: int | None = None

    def write(self, record: StreamRecord) -> None:
        """Appends one line; raises ``OSError`` when the disk won't take it."""
        if self._descriptor is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o644)
        rest = msgspec.json.encode(record) + b"\n"
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


class Stop(Protocol):
    """An event that's set when the traffic is over."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> bool: ...


def delay_seconds(failures: int, drawn: float) -> float:
    """How long a session waits before it tries again: twice as long each time, up to a limit, plus or minus half.

    Arguments:
        failures: tries in a row that got no stream.
        drawn: from 0 to 1, so that the sessions of an instance don't all come back in the same moment.
    """
    longest = min(LONGEST_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2.0 ** min(failures, 10))
    return longest * (0.5 + drawn)


@dataclass(slots=True)
class Numbers:
    """What a session has sent and seen by number, over all of its streams.

    Attributes:
        last: the highest number of the service's; None before the first.
        waiting: messages of ours without an answer, by number; each has its ID.
        again: of these, the ones that a close frame has told of: to be sent once more.
    """

    last: int | None = None
    waiting: MutableMapping[int, str] = field(default_factory=dict)
    again: MutableMapping[int, str] = field(default_factory=dict)
    answered: set[int] = field(default_factory=set)
    _own: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def next_own(self) -> int:
        """The number of our next message."""
        return next(self._own)

    def see(self, number: int, record: StreamRecord) -> None:
        """Takes a number of the service's: what's between it and the last one is lost."""
        record.received += 1
        if self.last is None:
            self.last = number
        elif number <= self.last:
            record.repeated += 1
        else:
            record.lost += number - self.last - 1
            self.last = number

    def answer(self, number: int, record: StreamRecord) -> None:
        """Takes the answer to a message of ours; a second one means that it was handled twice."""
        if self.waiting.pop(number, None) is not None:
            record.answered += 1
            self.answered.add(number)
        elif number in self.answered:
            record.repeated += 1

    def end(self, record: StreamRecord) -> None:
        """What becomes of messages without an answer when their stream has ended.

        A close frame says that what hadn't been answered wasn't taken, so it's sent again. Without one nobody
        can say, and sending it again might do its work twice: it's lost.
        """
        if record.client_outcome == "closed_by_server":
            self.again = {**self.again, **self.waiting}
        else:
            record.lost += len(self.waiting)
        self.waiting = {}


def drawn_from(seed: int, kind: str, number: int) -> Random:
    """What a session draws its delays from; the same for the same seed."""
    return Random(f"{seed}/{kind}/session/{number}")
