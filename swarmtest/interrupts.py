"""Ctrl-C, SIGTERM and a terminal that goes away as one exception, raised once and never in the middle of healing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

from swarmtest.errors import Interrupted

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _wanted() -> list[signal.Signals]:
    """The signals that end a run: all but a SIGHUP that's ignored, since ``nohup`` asks to live on."""
    hung_up_is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in _SIGNALS if number is not signal.SIGHUP or not hung_up_is_ignored]


@contextmanager
def deferred() -> Iterator[None]:
    """Keeps signals back while something is made that must not be lost hold of, such as a child.

    The one that came meanwhile is handed to its handler at the end. Only the main thread gets signals,
    so elsewhere there's nothing to do.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.signal(number, lambda taken, _frame: came.append(taken)) for number in _wanted()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])


class Interrupts:
    """While it's entered, the first signal raises :class:`Interrupted` in the main thread.

    Later signals only count as noticed, so that a second Ctrl-C doesn't cut healing short. Between
    :meth:`hold` and :meth:`release` the first one is kept too, to be raised by ``release``.
    """

    def __init__(self) -> None:
        self.caught: str | None = None
        self._held = False
        self._before: dict[signal.Signals, Any] = {}

    def hold(self) -> None:
        """From here on nothing is raised."""
        self._held = True

    def release(self) -> None:
        """Raises what came while signals were held; from here on signals are raised again."""
        self._held = False
        if self.caught is not None:
            raise Interrupted(self.caught)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        if self.caught is None:
            self.caught = signal.Signals(number).name
            if not self._held:
                raise Interrupted(self.caught)

    def __enter__(self) -> Self:
        for number in _wanted():
            self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
