"""Which requests a limit is about: by kind, by phase, and by what's excused in a run that hurts on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from swarmtest.checks import Judged
from swarmtest.judge.limits.answers import Answers
from swarmtest.limits import ROLLOUT, Limit
from swarmtest.limits.arithmetic import State
from swarmtest.losses import Accounted, Charge, Loss
from swarmtest.losses.starvation import read_starvation
from swarmtest.timeline.acts import NOT_JUDGED, began

AROUND = ("deploy", "warmup", "settle", "remove")
"""Phases that every run has, before and after the steps of its plan."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, in epoch seconds."""

    begins: float = float("-inf")
    ends: float = float("inf")

    def __contains__(self, t: float) -> bool:
        return self.begins <= t < self.ends


@dataclass(slots=True)
class Selected:
    """What a limit is about, in one window.

    Attributes:
        answers: what's ok.
        doubtful: nothing is known to be lost, and nothing proves that it was answered.
        to_fault: lost to what was hurt on purpose; a limit of a destructive run doesn't count them as lost.
        excused: those of them that it leaves out.
    """

    window: Window
    answers: Answers
    lost: list[Accounted] = field(default_factory=list)
    doubtful: list[Accounted] = field(default_factory=list)
    to_fault: list[Accounted] = field(default_factory=list)
    excused: int = 0
    _answered: int | None = None

    @property
    def bad(self) -> list[Accounted]:
        """Everything that counts and isn't ok."""
        return [*self.lost, *self.doubtful]

    @property
    def total(self) -> int:
        """How many count."""
        if self._answered is None:
            self._answered = self.answers.count()
        return self._answered + len(self.bad)

    @property
    def with_fault(self) -> int:
        """How many there are with what was excused."""
        return self.total + self.excused


@dataclass(frozen=True, slots=True)
class Found:
    """What one window says of a limit.

    Attributes:
        measured: in the limit's unit; None where nothing could be measured.
        said: the finding in a few words.
        requests: how many it rests on.
        uncorrected: of a time, the same counted from when the requests were really sent.
        least: how many requests it would take to prove it; 0 where that's not what's missing.
    """

    state: State
    said: str
    evidence: tuple[str, ...] = ()
    measured: float | None = None
    requests: int = 0
    uncorrected: float | None = None
    least: int = 0


def windows_of(limit: Limit, judged: Judged) -> list[Window]:
    """When a limit holds; nothing where the run never came to its phase."""
    if limit.phase is None:
        return [Window()]
    timeline = judged.timeline
    if limit.phase != ROLLOUT:
        if limit.phase not in timeline.phases:
            return []
        begins, ends = timeline.phases[limit.phase]
        last = limit.phase == "settle" or ends is None
        return [Window(begins, float("inf") if last or ends is None else ends)]
    if timeline.t0 is None:
        return []
    if not limit.each:
        return [Window(timeline.t0, _acted_until(judged))]
    acts = [act for act in began(timeline.acts) if act.get("name") not in NOT_JUDGED and not act.get("prepares")]
    edges = [*sorted(act.t for act in acts if act.t >= timeline.t0), _acted_until(judged)]
    return [Window(*edge) for edge in pairwise(edges) if edge[0] < edge[1]]


def _acted_until(judged: Judged) -> float:
    """When the plan's last step was over; what a run that was broken off had begun goes on to its end."""
    phases = judged.timeline.phases
    if "settle" in phases:
        return phases["settle"][0]
    ends = [ended for name, (_, ended) in phases.items() if name not in AROUND]
    known = [ended for ended in ends if ended is not None]
    until = max(known, default=float("-inf"))
    return until if len(known) == len(ends) and until > (judged.timeline.t0 or until) else float("inf")


def select(limit: Limit, judged: Judged) -> Iterator[Selected]:
    """The requests of each window. One that was answered belongs to when it was due, a lost one to when it ended."""
    windows = [Selected(window, _answers(limit, window, judged)) for window in windows_of(limit, judged)]
    excusing, starvation = judged.promises.destructive, read_starvation(judged.requests, judged.timeline)
    for one in judged.losses.lost:
        if limit.kind is not None and one.request.kind != limit.kind:
            continue
        for selected in windows:
            if one.request.ended in selected.window:
                _sort(one, selected, excusing=excusing, starved=starvation.explains(one))
    yield from windows


def _answers(limit: Limit, window: Window, judged: Judged) -> Answers:
    return Answers(judged.requests, {"begins": window.begins, "ends": window.ends, "kind": limit.kind})


def _sort(one: Accounted, selected: Selected, *, excusing: bool, starved: bool) -> None:
    ours = one.unproved or one.loss is Loss.CLIENT_ERROR or one.broken_off
    if ours or starved:
        selected.doubtful.append(one)
    elif one.charge is Charge.FAULT:
        selected.to_fault.append(one)
        if excusing:
            selected.excused += 1
        else:
            selected.lost.append(one)
    else:
        selected.lost.append(one)
