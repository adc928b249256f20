"""What a run proves in numbers, and how far each kind of evidence carries it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from swarmtest.checks import Judged
from swarmtest.losses import Accounted, Charge, upper_bound
from swarmtest.timeline import Lifespan


def proof(judged: Judged) -> dict[str, Any]:
    """What the numbers prove, in requests and in stops, and on what that rests."""
    losses, stops = judged.losses, judged.timeline.stops
    gone = {life.task for life in stops}  # a frozen instance lives on
    hurt = {task for one in losses.lost if one.charge in _STOPS and (task := _stop_of(one, stops)) in gone}
    lost = len(losses.lost)
    unproved = lost > len(losses.seen)  # then a stop without a loss that was seen proves nothing
    bound, stop_bound = upper_bound(lost, losses.sent), None if unproved else upper_bound(len(hurt), len(stops))
    return {
        "sent": losses.sent,
        "lost": lost,
        "unproved": lost - len(losses.seen),
        "confidence": 0.95,
        "upper_bound": rounded(bound),
        "stops": len(stops),
        "stops_with_loss": len(hurt),
        "stop_upper_bound": rounded(stop_bound),
        "answers": _answers_level(judged),
        "commits": _commits_level(judged),
        "records": losses.records.reason or "whole, and reconciled with the client's in the baseline",
    }


def _stop_of(one: Accounted, stops: Sequence[Lifespan]) -> str | None:
    """The stop that a loss belongs to; where no instance is known, the one that had begun last."""
    if one.life is not None:
        return one.life.task
    begun = [(mark.at, life.task) for life in stops if (mark := life.stopping) and mark.at <= one.request.ended]
    return max(begun, default=(0.0, None))[1]


_STOPS = (Charge.SHUTDOWN, Charge.FRONT_DOOR, Charge.FAULT)


def _answers_level(judged: Judged) -> str:
    if not judged.losses.names_itself:
        return "no answer names its instance: nothing is proved to be answered by the stack"
    return "instance header, full length" + (
        ", echoed request ID" if judged.losses.echoes else "; no answer echoes its request ID"
    )


def _commits_level(judged: Judged) -> str:
    if not judged.witness.logs_starts:
        return "no log lines: cut and unserved can't be told apart"
    if not judged.witness.logs_ends:
        return "no commit or finish lines: how far a cut request came can't be told"
    if judged.witness.logs_intents:
        return "start, intent, commit and finish lines: a cut request had not begun its commit"
    return "no intent lines: a commit just before a cut may have gone unrecorded"


def rounded(value: float | None) -> float | None:
    """A share as the document has it."""
    return None if value is None else round(value, 9)
