"""When too much is lost, a run is stopped: the count of that.

:mod:`swarmtest.running.stopping` does the stopping. Only requests that ended count; one that hangs is
lost for the guard when its time-out ends it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

LEAST_ENDED = 20
"""So many requests must have ended in the window: one loss in a trickle is no rate."""
TICK_SLACK_SECONDS = 0.3
"""Ticks come each second, give or take: a word this much younger than the window's beginning begins it all the same."""


class Limit(Protocol):
    """The share that may be lost over so many seconds."""

    @property
    def share(self) -> float:
        """Of the requests that ended; 0.05 is 5 %."""

    @property
    def seconds(self) -> float:
        """Length of the window."""


@dataclass(frozen=True, slots=True)
class Count:
    """A traffic child's counts since its start, at one moment."""

    t: float
    done: int
    lost: int


class GuardTripped(Exception):
    """More was lost than the limit allows; caught by the runner, and never an error of the run."""


def too_much(counts: Mapping[str, Sequence[Count]], limit: Limit) -> str | None:
    """Says what was lost in the window that ends with the last word, where that's more than the limit.

    Nothing is said before a window is full, nor of one in which hardly anything ended.

    Arguments:
        counts: of each client its words in order; the clients' sums are judged.
    """
    ends = max((words[-1].t for words in counts.values() if words), default=0.0)
    begins = ends - limit.seconds + TICK_SLACK_SECONDS
    if not any(words and words[0].t <= begins for words in counts.values()):
        return None
    done = lost = 0
    for words in counts.values():
        if words:
            first = next((word for word in reversed(words) if word.t <= begins), words[0])
            done += words[-1].done - first.done
            lost += words[-1].lost - first.lost
    if done < LEAST_ENDED or lost <= limit.share * done:
        return None
    return f"{100 * lost / done:.1f} % lost over {limit.seconds:g} s: {lost} of {done}; limit {100 * limit.share:g} %"


class LossGuard:
    """Listens to the traffic, and remembers that too much was lost.

    Arguments:
        limit: None for a guard that never trips.

    Attributes:
        told: whether the runner has acted on it.
    """

    name = "stop-at"

    def __init__(self, limit: Limit | None) -> None:
        self._limit = limit
        self._counts: dict[str, deque[Count]] = {}
        self._lock = Lock()
        self._text: str | None = None
        self.told = False

    @property
    def text(self) -> str | None:
        """What was lost when it tripped; stays."""
        return self._text

    def hear(self, client: str, message: Mapping[str, Any]) -> None:
        """Takes a word of a traffic child; may be called in any thread."""
        if self._limit is None or self._text is not None or message.get("event") not in ("started", "tick", "stopped"):
            return
        word = Count(float(message.get("t") or 0.0), int(message.get("done") or 0), int(message.get("lost") or 0))
        with self._lock:
            words = self._counts.setdefault(client, deque())
            words.append(word)
            while len(words) > 1 and words[1].t <= word.t - self._limit.seconds - 2.0:
                words.popleft()
            self._text = too_much(self._counts, self._limit)
