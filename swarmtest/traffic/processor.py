"""How much of a processor this process uses: a client at its limit measures itself."""

from __future__ import annotations

import time


class ProcessorUse:
    """This process's share of one processor."""

    def __init__(self) -> None:
        self._first = self._last = (time.monotonic(), time.process_time())
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


def _share(start: tuple[float, float], end: tuple[float, float]) -> float:
    return round((end[1] - start[1]) / max(end[0] - start[0], 1e-6), 4)
