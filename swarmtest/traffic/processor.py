"""How much of the processors this process, and the whole machine, use: a client at its limit measures itself."""

from __future__ import annotations

import os
import time
from pathlib import Path

STAT = Path("/proc/stat")
_IDLE, _WAITS = 3, 4


class ProcessorUse:
    """This process's share of one processor, and everybody's of all.

    Arguments:
        stat: where Linux says what all processors did; elsewhere nothing is said of the machine.
    """

    def __init__(self, stat: Path = STAT) -> None:
        self._stat = stat
        self._first = self._last = (time.monotonic(), time.process_time())
        self._first_busy = self._last_busy = busy_ticks(stat)
        self.largest = 0.0

    def since_last(self) -> float:
        """The share since the last call; short stretches don't count for the largest."""
        now = time.monotonic(), time.process_time()
        share = _share(self._last, now)
        if now[0] - self._last[0] > 0.5:
            self.largest = max(self.largest, share)
        self._last = now
        return share

    def since_start(self) -> float:
        """The share since the start."""
        return _share(self._first, (time.monotonic(), time.process_time()))

    def machine_since_last(self) -> float | None:
        """The share of all processors that was in use since the last call."""
        before, self._last_busy = self._last_busy, busy_ticks(self._stat)
        return _busy_share(before, self._last_busy)

    def machine_since_start(self) -> float | None:
        """The same since the start."""
        return _busy_share(self._first_busy, busy_ticks(self._stat))


def busy_ticks(stat: Path) -> tuple[int, int] | None:
    """Ticks of all processors in which they worked, and all of them; None where nobody counts them."""
    try:
        numbers = [int(text) for text in stat.read_text().splitlines()[0].split()[1:9]]
        # Time that the host of a virtual machine took away is time that nobody here had.
        return sum(numbers) - numbers[_IDLE] - numbers[_WAITS], sum(numbers)
    except (OSError, ValueError, IndexError):
        return None


def processors() -> int:
    """How many processors there are."""
    return os.cpu_count() or 1


def _share(start: tuple[float, float], end: tuple[float, float]) -> float:
    return round((end[1] - start[1]) / max(end[0] - start[0], 1e-6), 4)


def _busy_share(start: tuple[int, int] | None, end: tuple[int, int] | None) -> float | None:
    if start is None or end is None or end[1] <= start[1]:
        return None
    return round((end[0] - start[0]) / (end[1] - start[1]), 4)
