"""The tables that every report of a series shows, as text: a row a run, and how far apart the runs lie.

Not a report: it has no ``render``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from swarmtest.reports import CLASSES, wording
from swarmtest.reports.lifespans import UNSEEN
from swarmtest.reports.series import Member, Range, Series, Spread

RUN_COLUMNS = ("run", "verdict", "sent", "lost", "by class", "seconds", "ready", "p99 ms")
LEFT_OUT_WHERE_NARROW = ("ready", "p99 ms")
FIGURES = {
    "sent": "sent",
    "lost": "lost",
    "duplicates": "duplicates",
    "lowest_ready": "lowest ready",
    "p50_ms": "p50 ms",
    "p99_ms": "p99 ms",
    "acted_seconds": "s from T0 on",
    "seconds": "s under traffic",
}
WORDS = {"broke": "broke off"}
MOST_SIDE_BY_SIDE = 4


def run_name(member: Member, series: Series) -> str:
    """``kill``, and ``kill 2`` where it's run more than once."""
    return f"{member.scenario} {member.repeat}" if series.repeat > 1 else member.scenario


def verdict(member: Member) -> tuple[str, str]:
    """A member's outcome and the words for it; a run that has no end of its own is told by that."""
    if member.ended == "finished" and member.outcome is not None:
        return member.outcome, wording.outcome_words(member.outcome)
    outcome = member.outcome if member.outcome == "failed" else "not_proved"
    if member.ended is None:
        return outcome, "not run" if member.folder is None else "no end"
    return outcome, WORDS.get(member.ended, member.ended)


def run_cells(member: Member, series: Series) -> list[str]:
    """The cells of a run's row; its verdict comes from :func:`verdict`."""
    if not member.losses:
        return [run_name(member, series), verdict(member)[1], *[UNSEEN] * 6]
    return [
        run_name(member, series),
        verdict(member)[1],
        wording.number(member.losses.get("sent", 0)),
        wording.number(member.lost),
        by_class(member),
        _amount("seconds", member.seconds),
        _amount("lowest_ready", member.lowest_ready),
        _amount("p99_ms", member.p99_ms),
    ]


def by_class(member: Member) -> str:
    """``5 cut, 1 refused``; duplicates, which are no loss, beside them."""
    found = [(name, member.losses.get(name, 0)) for name in CLASSES if name != "ok"]
    parts = [f"{wording.number(count)} {name.replace('_', ' ')}" for name, count in found if count]
    if twice := member.losses.get("duplicates"):
        parts.append(f"{wording.number(twice)} handled twice")
    return ", ".join(parts)


def is_compared(series: Series) -> bool:
    """Whether the figures are worth a table of their own: repeats, or a few scenarios side by side."""
    scenarios = {member.scenario for member in series.members}
    return bool(series.spread) and (series.repeat > 1 or 1 < len(scenarios) <= MOST_SIDE_BY_SIDE)


def has_checklist(series: Series) -> bool:
    """Whether the series has anything to say to the checklist."""
    ran = {member.scenario for member in series.members}
    return series.checklist_weighs or any(ran.intersection(line.scenarios) for line in series.checklist)


def figure_rows(spreads: Sequence[Spread]) -> Iterator[tuple[str, list[str]]]:
    """A row for each figure, a cell for each scenario: the value, or the median with the least and the most."""
    if any(spread.runs > 1 for spread in spreads):
        yield "runs passed", [f"{spread.passed} of {spread.runs}" for spread in spreads]
    by_name = [{each.figure: each for each in spread.figures} for spread in spreads]
    for name in _ordered(dict.fromkeys(name for figures in by_name for name in figures)):
        if name != "duplicates" or any(figures[name].most for figures in by_name if name in figures):
            none = "0" if name in CLASSES else UNSEEN
            yield _figure(name), [range_text(figures[name]) if name in figures else none for figures in by_name]


def proofs(spreads: Sequence[Spread]) -> list[str]:
    """What the repeats of each scenario prove together; nothing where there are none."""
    return [f"{spread.scenario}: {wording.proved(spread.proof)}" for spread in spreads if spread.runs > 1]


def _ordered(names: Iterable[str]) -> list[str]:
    """Counts first, classes of loss below what was lost, then times, each below it by kind."""
    bases = ["sent", "lost", *(name for name in CLASSES if name != "ok"), *FIGURES]
    return sorted((name for name in names if name.partition(" ")[0] in bases), key=lambda name: _place(name, bases))


def _place(name: str, bases: Sequence[str]) -> tuple[int, str]:
    base, _, kind = name.partition(" ")
    return bases.index(base), kind


def _figure(name: str) -> str:
    base, _, kind = name.partition(" ")
    words = FIGURES.get(base, f"· {base.replace('_', ' ')}" if base in CLASSES else base.replace("_", " "))
    return f"{words} {kind}".strip()


def range_text(found: Range) -> str:
    """``12``, or ``12 (9–14)`` where runs differ."""
    middle = _amount(found.figure, found.median)
    if found.least == found.most:
        return middle
    return f"{middle} ({_amount(found.figure, found.least)}–{_amount(found.figure, found.most)})"


def _amount(figure: str, value: float | None) -> str:
    if value is None:
        return UNSEEN
    if "seconds" in figure:
        return f"{value:,.1f}"
    return f"{value:,.0f}" if "_ms" in figure or value == int(value) else f"{value:,.1f}"


def sum_sentence(series: Series) -> str:
    """``18 of 20 runs passed, 1 failed, 1 not proved; 12 lost of 20,140 requests.``"""
    verdicts = [verdict(member) for member in series.members]
    passed = sum(words == "passed" for _, words in verdicts)
    parts = [f"{passed} of {wording.counted(len(verdicts), 'run')} passed"]
    for words in dict.fromkeys(words for _, words in verdicts if words != "passed"):
        parts.append(f"{sum(each == words for _, each in verdicts)} {words}")
    sent = sum(member.losses.get("sent", 0) for member in series.members)
    lost = sum(member.lost for member in series.members)
    stops = sum(member.stops for member in series.members)
    text = f"{', '.join(parts)}; {wording.number(lost)} lost of {wording.counted(sent, 'request')}"
    if stops:
        hurt = sum(member.stops_with_loss for member in series.members)
        text += f", {wording.number(hurt)} of {wording.counted(stops, 'stop')} with a loss"
    return f"{text}."


def checklist_sentence(series: Series) -> str:
    """``8 of 10 lines passed, 2 not proved``, or that it's beside the verdict."""
    outcomes = [line.outcome for line in series.checklist]
    parts = [f"{outcomes.count('passed')} of {len(outcomes)} lines passed"]
    parts += [
        f"{outcomes.count(name)} {wording.outcome_words(name)}" for name in ("failed", "not_proved") if name in outcomes
    ]
    return ", ".join(parts) + ("" if series.checklist_weighs else "; no part of the verdict")
