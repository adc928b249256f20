"""What a person should know beside the verdicts: what stopped a run, what it left behind, what isn't its doing."""

from __future__ import annotations

from swarmtest.checks import Judged
from swarmtest.judge.bursts import burst_notes
from swarmtest.losses import Charge
from swarmtest.losses.aftermath import both_ways
from swarmtest.losses.wording import label, many, number
from swarmtest.timeline.updates import course_of


def notes_on(judged: Judged) -> list[str]:
    """Each note a sentence, what matters most first."""
    notes = []
    background = [one for one in judged.losses.lost if one.charge is Charge.BACKGROUND]
    if background:
        notes.append(
            f"{many(len(background), 'request')} lost with no lifecycle event nearby, or answered as they were before"
            " the rollout, too: not the rollout's doing"
        )
    if judged.promises.front_door.mode == "direct" and judged.timeline.t0 is not None:
        notes.append("T2 counts requests on connections that clients kept, too; the front door is judged by new ones")
    notes += _rollback(judged)
    notes += burst_notes(judged)
    if judged.losses.records.unrecorded:
        some = judged.losses.records.unrecorded
        notes.append(
            f"{number(len(some))} whole answers have no start record, so the instances' records can't be trusted"
        )
    killed = [life for life in judged.timeline.lifespans if life.cause == "out of memory"]
    notes += [f"{label(life)} was killed for memory" for life in killed]
    return notes


def _rollback(judged: Judged) -> list[str]:
    """Losses on the way there and on the way back, apart: two different rollouts caused them."""
    course = course_of(judged.timeline)
    apart = both_ways(judged.losses, judged.timeline, course) if course is not None else None
    return [] if apart is None else [apart]
