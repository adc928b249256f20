"""Ctrl-C and SIGTERM as one exception, raised once and never in the middle of healing."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any, Self

from swarmtest.errors import Interrupted

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
