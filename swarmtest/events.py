"""The trace: all that was seen and done in a run, one JSON object a line, and nothing else.

It's the wall between acting and judging: the runner appends, everything after it only reads.
A line is written with one ``write`` call and flushed, so a run that is killed leaves a file whose
last line at most is broken; :func:`read_events` drops such a line and says so with a
``stream_broken`` event. Unknown kinds and fields are kept. The format is public and described in
``docs/trace-format.md``.

Whoever writes a trace holds a lock on it, which the kernel takes back when the process ends, however
it ends. So a trace without an end and without a lock is that of a run that was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import msgspec

from swarmtest.errors import RunFolderError, StillWritten

TRACE_VERSION = 1


@dataclass(frozen=True, slots=True)
class Event:
    """One fact.

    Attributes:
        t: epoch seconds of the fact itself, by the clock of whoever saw it.
        kind: ``container``, ``task``, ``record`` … (``docs/trace-format.md`` lists them).
        data: the other fields of the line.
    """

    t: float
    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def get(self, name: str, default: Any = None) -> Any:
        """The field ``name``, or ``default`` where the line hasn't got it."""
        return self.data.get(name, default)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(type=dict[str, Any]).decode


def encode_event(event: Event) -> bytes:
    """The line of an event, with its newline."""
    return _encode({"t": round(event.t, 6), "kind": event.kind, **event.data}) + b"\n"


def decode_event(line: bytes | str) -> Event:
    """The event of a line; raises ``msgspec.DecodeError`` or ``ValueError`` for a broken one."""
    data = _decode(line)
    try:
        t, kind = float(data.pop("t")), str(data.pop("kind"))
    except (KeyError, TypeError, ArithmeticError) as error:
        raise ValueError("an event needs the fields t and kind") from error
    return Event(t, kind, data)


class TraceWriter:
    """Appends events to ``events.jsonl``; safe to call from several threads.

    Arguments:
        path: the file; it's created, or appended to.
        clock: wall clock in epoch seconds, for events that are made here and now.

    Raises:
        StillWritten: another process writes it.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._listeners: list[Callable[[Event], None]] = []
        self._file: IO[bytes] = path.open("ab", buffering=0)
        self.locked = False
        """Whether this trace is proved to be written by nobody else; the head says it, for ``swarmtest recover``."""
        try:
            with contextlib.suppress(Unlockable):  # some network file systems have no locks
                _lock(self._file, path)
                self.locked = True
            _end_cut_line(self._file, path)
        except BaseException:
            self._file.close()
            raise

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Calls ``listener`` with each event from now on, in the thread that adds it."""
        self._listeners.append(listener)

    def now(self) -> float:
        """The wall clock that stamps events made here."""
        return self._clock()

    def add(self, kind: str, /, t: float | None = None, **data: Any) -> Event:
        """Appends one event; ``t`` is now unless given. Events after :meth:`close` are dropped."""
        event = Event(self._clock() if t is None else t, kind, data)
        line = encode_event(event)
        with self._lock:
            if not self._file.closed:
                self._file.write(line)
        for listener in self._listeners:
            listener(event)
        return event

    def close(self) -> None:
        """Closes the file; calling it twice does no harm."""
        with self._lock:
            self._file.close()

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


class Unlockable(OSError):
    """The file system has no locks, so that nobody can tell whether a trace is still written."""


def _lock(file: IO[bytes], path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StillWritten(f"{path}: still written by a run that goes on; wait for its end, or stop it") from error
    except OSError as error:
        raise Unlockable(error.errno, error.strerror, str(path)) from error


def _end_cut_line(file: IO[bytes], path: Path) -> None:
    """Ends a line that a kill cut short, so that the next one stands on its own."""
    with path.open("rb") as reader:
        if reader.seek(0, os.SEEK_END) == 0:
            return
        reader.seek(-1, os.SEEK_END)
        if reader.read(1) != b"\n":
            file.write(b"\n")


def is_still_written(path: Path) -> bool:
    """Whether a process writes this trace now.

    Raises:
        Unlockable: nobody can tell.
    """
    with path.open("ab", buffering=0) as file:
        try:
            _lock(file, path)
        except StillWritten:
            return True
    return False


def read_events(path: Path, skips: Callable[[bytes], bool] = lambda _: False) -> Iterator[Event]:
    """All events of a trace in the order they were written.

    Arguments:
        skips: tells of a line whether somebody else reads it.

    Raises:
        RunFolderError: no such file, or a trace of a later version.
    """
    if not path.is_file():
        raise RunFolderError(f"{path}: no such trace; a run's folder holds events.jsonl")
    number, t = 0, 0.0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if skips(line):
                continue
            try:
                event = decode_event(line)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                yield Event(t, "stream_broken", {"what": "trace", "error": f"line {number}: {error}"})
                continue
            if event.kind == "trace" and event.get("version") != TRACE_VERSION:
                raise RunFolderError(
                    f"{path}: trace version {event.get('version')}, and this swarmtest reads {TRACE_VERSION};"
                    " judge it with the swarmtest that made it"
                )
            t = event.t
            yield event
