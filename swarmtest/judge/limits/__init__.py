"""Limits of the stack file as verdicts: each is an entry beside the checks, and weighs as much as they do.

The trace and the records decide, as everywhere; that a run was stopped by a limit is only where it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from swarmtest.checks import Judged, Outcome, Verdict, shortened
from swarmtest.judge.limits.counts import judge_counts
from swarmtest.judge.limits.seconds import judge_seconds
from swarmtest.judge.limits.selection import Found, select
from swarmtest.judge.limits.times import judge_times
from swarmtest.limits import Limit
from swarmtest.limits.arithmetic import State
from swarmtest.losses.wording import number
from swarmtest.reports import CheckEntry, LimitFigures

NAME = "limit "
"""What a limit's entry begins with, where others have a check's name."""

_OUTCOMES = {State.HOLDS: Outcome.PASSED, State.BROKEN: Outcome.FAILED, State.UNCLEAR: Outcome.NOT_PROVED}
_WEIGHT = (State.BROKEN, State.UNCLEAR, State.HOLDS)


def limit_entries(judged: Judged) -> Iterator[CheckEntry]:
    """The verdict of each limit, in the order in which they were written."""
    for limit in judged.promises.limits:
        try:
            verdict, figures = judge_limit(limit, judged)
        except Exception as error:  # noqa: BLE001 - a broken limit must not hide what the others found
            why = f"{type(error).__name__}: {error}"
            verdict = Verdict(Outcome.NOT_PROVED, "It couldn't be judged.", (why,))
            figures = _figures(limit, None)
        yield CheckEntry(
            NAME + limit.text, verdict.outcome.value, verdict.sentence, list(verdict.evidence), verdict.advice, figures
        )


def judge_limit(limit: Limit, judged: Judged) -> tuple[Verdict, LimitFigures]:
    """Passed, failed or not proved, with the figures; of several windows the worst one leads."""
    family = judge_times if limit.unit == "ms" else judge_seconds if limit.per_second else judge_counts
    found = [family(limit, selected, judged) for selected in select(limit, judged)]
    if not found:
        sentence = f"The run never came to the phase {limit.phase}."
        return Verdict(Outcome.NOT_PROVED, sentence), _figures(limit, None)
    worst = min(found, key=lambda one: _WEIGHT.index(one.state))
    evidence = list(worst.evidence)
    if len(found) > 1:
        evidence = [f"act {n} of {len(found)}: {one.said}" for n, one in enumerate(found, start=1)] + evidence
    advice = _advice(limit, worst, judged)
    sentence = f"{worst.said[:1].upper()}{worst.said[1:]}."
    return Verdict(_OUTCOMES[worst.state], sentence, shortened(evidence), advice), _figures(limit, worst)


def _advice(limit: Limit, found: Found, judged: Judged) -> str | None:
    """How to get as many requests as it takes, where that's all that's missing."""
    if not found.least:
        return None
    kinds = [kind for kind in judged.promises.traffic.kinds if limit.kind in (None, kind.name)]
    rate = sum(kind.rate for kind in kinds)
    of = f" of {limit.kind}" if limit.kind else ""
    phase = f" in the phase {limit.phase}" if limit.phase else ""
    takes = f", which take {ceil(found.least / rate)} s at {round(rate, 1):g}/s" if rate else ""
    needed = f"{number(found.least)} requests{of}{phase} tell {limit.measure}{takes}"
    return f"{needed}: raise the rate, or make it longer (--baseline)"


def _figures(limit: Limit, found: Found | None) -> LimitFigures:
    return LimitFigures(
        measure=limit.measure,
        sign=limit.sign,
        value=limit.value,
        unit=limit.unit,
        per_second=limit.per_second,
        kind=limit.kind,
        phase=limit.phase,
        abort=limit.abort,
        measured=found.measured if found is not None else None,
        uncorrected=found.uncorrected if found is not None else None,
        requests=found.requests if found is not None else 0,
    )
