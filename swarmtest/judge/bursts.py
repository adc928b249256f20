"""How quick the answers were while a burst lasted, beside those of before it, by kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from swarmtest.checks import Judged
from swarmtest.judge.figures import answer_times, nearest_rank
from swarmtest.losses import Accounted


def burst_notes(judged: Judged) -> list[str]:
    """A sentence about each burst: all that was sent while it lasted, the steady traffic included."""
    bursts: defaultdict[str, list[float]] = defaultdict(list)
    for one in judged.losses.accounted:
        if one.request.burst is not None:
            bursts[one.request.burst].append(one.request.began)
    notes = []
    for number, sent in enumerate(sorted(bursts.values(), key=min), start=1):
        began, ended = min(sent), max(sent)
        before = _p99(one for one in judged.losses.accounted if one.request.began < began)
        during = _p99(one for one in judged.losses.accounted if began <= one.request.began <= ended)
        each = [
            f"{kind} {during[kind]:,.0f} ms" + (f" ({before[kind]:,.0f} before)" if kind in before else "")
            for kind in sorted(during)
        ]
        name = "the burst" if len(bursts) == 1 else f"burst {number}"
        quick = f"99 % of good answers within: {', '.join(each)}" if each else "no good answer"
        notes.append(f"in the {ended - began:.1f} s of {name}, {quick}")
    return notes


def _p99(accounted: Iterable[Accounted]) -> dict[str, float]:
    kinds: defaultdict[str, list[Accounted]] = defaultdict(list)
    for one in accounted:
        kinds[one.request.kind].append(one)
    found = {kind: nearest_rank(answer_times(some), 0.99) for kind, some in kinds.items()}
    return {kind: within for kind, within in found.items() if within is not None}
