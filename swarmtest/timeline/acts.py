"""What swarmtest itself did in a run, read from the trace's acts.

Each act is a pair, began and ended; one that a guard rail forbade is a single line. A healing is an
act of its own, which names the act that it undoes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from swarmtest.events import Event

NOT_JUDGED = ("deploy", "heal")
"""Acts that are the beginning of everything, or undo another one."""


def began(acts: Iterable[Event], until: float = float("inf")) -> list[Event]:
    """The beginnings of all acts, up to a time."""
    return [act for act in acts if act.get("edge") == "began" and act.t < until]


def end_of(acts: Iterable[Event], number: object) -> Event | None:
    """The end of an act, or None where it never came to one."""
    return next((act for act in acts if act.get("edge") == "ended" and act.get("id") == number), None)


def healed_at(acts: Sequence[Event], number: object) -> float | None:
    """When an act had been healed; None where nothing says that it was."""
    for act in began(acts):
        if act.get("name") == "heal" and act.get("heals") == number:
            end = end_of(acts, act.get("id"))
            if end is not None and end.get("outcome") == "ok":
                return end.t
    return None


def t0_of(acts: Iterable[Event], until: float) -> float | None:
    """The first act that's judged: no deploy, no healing, nothing that only got things ready.

    Traces of before there were such acts say nothing of preparing; there it's the first update, else the first act.
    """
    judged = [act for act in began(acts, until) if act.get("name") not in NOT_JUDGED]
    if not any("prepares" in act.data for act in judged):
        judged = [act for act in judged if act.get("name") == "update"] or judged
    return min((act.t for act in judged if not act.get("prepares")), default=None)


def skipped(acts: Iterable[Event]) -> tuple[Event, ...]:
    """Steps that a guard rail forbade, each with its ``reason``."""
    return tuple(act for act in acts if act.get("edge") == "skipped")


def stopped_by_guard(events: Iterable[Event]) -> str | None:
    """What the run's own guard said when it stopped the rollout; None where it didn't."""
    return next((str(event.get("text") or event.get("name")) for event in events if event.kind == "guard"), None)
