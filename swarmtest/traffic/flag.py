"""An event of gevent's whose time-outs hold."""

from __future__ import annotations

from gevent.event import Event  # type: ignore[import-untyped]


class Flag(Event):  # type: ignore[misc]
    """Set once, and waited for by several greenlets.

    Who waits for an event that's just been set, and whose waiters aren't woken yet, joins them, without a time-out
    (gevent/gevent #1611). Where the last of those runs into its own time-out at that moment, the waking is called off,
    and the one that joined waits for ever. So it's asked first.
    """

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it's set, or so many seconds; returns whether it's set."""
        return bool(self.is_set() or super().wait(timeout))
