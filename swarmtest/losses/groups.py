"""Lost requests in lines: those that were lost alike, in the same place, together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from swarmtest.evidence.promises import Promises
from swarmtest.losses import Accounted, Charge, Loss
from swarmtest.losses.mechanisms import mechanism_of
from swarmtest.losses.wording import ids, label, number
from swarmtest.timeline import Timeline, Witness


def loss_lines(lost: Sequence[Accounted], timeline: Timeline, witness: Witness, promises: Promises) -> list[str]:
    """A line for each class, charge and instance, the most frequent first."""
    groups: defaultdict[tuple[Loss, Charge | None, str], list[Accounted]] = defaultdict(list)
    for one in lost:
        groups[one.loss, one.charge, one.life.task if one.life else ""].append(one)
    lines = []
    for (loss, owed, _), of in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0][0], item[0][2])):
        hows = Counter(mechanism_of(one, timeline, witness, promises) for one in of)
        how = max(hows, key=lambda found: hows[found])
        lines.append(
            f"{number(len(of))} {loss} on {label(of[0].life)}{f', charged to {owed}'.replace('_', ' ') if owed else ''}"
            f"{f' ({how.value})' if how else ''}: {of[0].why}; {ids(of)}"
        )
    return lines
