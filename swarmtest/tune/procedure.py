"""The order of a tune: the signal path, the measuring, the value, its proof, and the edge where it's asked for.

Each stage may be the last one. Where a longer grace isn't the cure, what is is said, and no value; where there's too
little evidence, that's said, and no value either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from swarmtest.errors import Interrupted
from swarmtest.reports.tune import MEASURE, TUNE_VERSION, EdgeEntry, Tried, Tune, TuneRun
from swarmtest.tune import edge, minds
from swarmtest.tune import signal_path as path
from swarmtest.tune.entries import entry_of, row_of
from swarmtest.tune.proof import prove
from swarmtest.tune.recommend import Needs, Recommended, recommend
from swarmtest.tune.seeing import Seen
from swarmtest.tune.stops import Stop, within
from swarmtest.tune.trials import HOURS_SECONDS, Trial, Tuned, edging, measuring, proving, signal_path

EXIT_CODES = {"passed": 0, "failed": 1, "not_proved": 3}
LONG_SHARE = 0.9
"""About one stop of a rollout takes longer than this share of all, so there the search for the edge begins."""

MORE_ROLLOUTS = 2
"""So many are added at most where stops of the planned ones can't be counted."""

CHECKPOINT = (
    "a request or job of {longest:g} s isn't a matter of the grace: stop taking new ones at the signal, and checkpoint"
    " or requeue what runs, so that a stop takes seconds; then tune with how long that takes as longest_request"
)
DECLARE = (
    "say how long a request may take: x-swarmtest longest_request, or milliseconds (ms) of each kind of traffic; the"
    " longest one that happened to come by proves nothing"
)

_NOT_GENEROUS = (
    "each stop was still draining when the {grace} s that were to be generous were over; give more: --generous"
)
_FULL = (
    "run {runs}: {full}. Stops took longer there than they would on a machine with room, and the value may be larger"
)

CarryOut = Callable[[Trial, int], Seen]


class Tuning:
    """A tune while it goes on.

    Arguments:
        name: of its folder.
        carry_out: makes a run and judges it; the number is its place among the runs, from 1.
        keep: is given the tune's document whenever something is new.

    Attributes:
        tune: all that's known by now.
    """

    def __init__(self, tuned: Tuned, name: str, carry_out: CarryOut, keep: Callable[[Tune], None]) -> None:
        self._tuned, self._carry_out, self._keep = tuned, carry_out, keep
        self._stops: list[Stop] = []
        self._full, self._full_machine = list[str](), ""
        self._longest: list[float] = []
        self.tune = Tune(
            version=TUNE_VERSION,
            tune=name,
            stack=str(tuned.stack.file),
            service=tuned.service.name,
            seed=tuned.seed,
            coverage=tuned.coverage,
            confidence=tuned.confidence,
            replicas=tuned.measuring_replicas,
        )

    def run(self) -> None:
        """All of it; what was found is in :attr:`tune`.

        Raises:
            SwarmtestError: a run couldn't be made, or broke off.
            Interrupted: by a person.
        """
        found = self._look_and_measure()
        if found is not None:
            outcome, sentence, missing = prove(self._make(proving(self._tuned, found.grace_seconds)))
            self.note(proof=sentence, outcome=outcome, exit_code=EXIT_CODES[outcome])
            self.note(missing=[*self.tune.missing, *missing])
            if self._tuned.edge:
                self._find_edge(found)
        if self._full_machine:
            self.note(warnings=[self._full_machine, *self.tune.warnings])
        self.note(ended="finished")

    def end(self, broke: BaseException) -> None:
        """Writes down what broke the tune off."""
        ended = "interrupted" if isinstance(broke, Interrupted) else "broke"
        code = broke.exit_code if isinstance(broke, Interrupted) else getattr(broke, "exit_code", 4)
        self.note(ended=ended, error=str(broke), outcome="not_proved", exit_code=code)

    def note(self, **changes: Any) -> None:
        """Writes down what's new."""
        self.tune = msgspec.structs.replace(self.tune, **changes)
        self._keep(self.tune)

    def _failed(self, cures: Sequence[str]) -> None:
        self.note(cures=list(cures), outcome="failed", exit_code=EXIT_CODES["failed"])

    def _look_and_measure(self) -> Recommended | None:
        """The value; None where there's none to be had, and the tune says why."""
        longest = self._tuned.brief.longest_seconds
        if longest >= HOURS_SECONDS:
            self._failed([CHECKPOINT.format(longest=longest)])
            return None
        seen = self._make(signal_path(self._tuned))
        self.note(signal_path=list(path.sentences(seen)))
        if cures := path.cures(seen, generous=False):
            self._failed(cures)
            return None
        if missing := list(self._unseen(seen)):
            self.note(missing=missing)
            return None
        return self._measure()

    def _unseen(self, seen: Seen) -> Iterator[str]:
        """Why no number of rollouts would give a value."""
        if not seen.sent:
            yield "no request was sent, so nothing is known of stops under load"
        if not seen.stops:
            yield next(iter(seen.notes), "no instance was stopped")
        elif not any((stop.drain_seconds or 0.0) > 0 for stop in seen.stops):
            yield (
                "no request ran on any instance when it got its signal, so nothing is known of drains; let a kind of"
                " traffic take some seconds (ms), or send more of it. A worker's jobs aren't seen: its grace is the"
                " limit of its own drain, and some 5 s to requeue"
            )
        if not self._tuned.declares_longest:
            yield DECLARE

    def _measure(self) -> Recommended | None:
        most = self._tuned.rollouts + MORE_ROLLOUTS
        for number in range(1, most + 1):
            seen = self._make(measuring(self._tuned))
            if cures := path.cures(seen, generous=True):
                self.note(signal_path=list(path.sentences(seen)))
                self._failed(cures)
                return None
            if seen.stops and all(stop.killed for stop in seen.stops):
                self.note(missing=[_NOT_GENEROUS.format(grace=self._tuned.generous)])
                return None
            found = self._recommended()
            if number >= self._tuned.rollouts and found is not None and found.bound.enough:
                self.note(recommendation=entry_of(found, self._tuned))
                streams = [kind.name for kind in self._tuned.brief.kinds if kind.is_stream]
                self.note(warnings=list(minds.warnings(self._tuned.service, found.grace_seconds, streams)))
                return found
        self.note(missing=[self._too_few(most)])
        return None

    def _recommended(self) -> Recommended | None:
        longest = min(self._longest, default=0.0)
        needs = Needs(self._tuned.brief.longest_seconds, longest, self._tuned.coverage, self._tuned.confidence)
        return recommend(self._stops, needs, self._tuned.brief.front_door)

    def _too_few(self, rollouts: int) -> str:
        counted = sum(stop.counted for stop in self._stops)
        reasons = dict.fromkeys(stop.why_not for stop in self._stops if stop.why_not)
        why = f" ({'; '.join(list(reasons)[:3])})" if reasons else ""
        wanted = f"a coverage of {self._tuned.coverage:g} at a confidence of {self._tuned.confidence:g}"
        return (
            f"{counted} of {len(self._stops)} stops in {rollouts} rollouts count, and {self._tuned.stops} are needed"
            f" for {wanted}{why}"
        )

    def _find_edge(self, found: Recommended) -> None:
        tried: dict[int, tuple[int, int]] = {}
        killed: dict[int, bool] = {}
        long = within((stop.stop_seconds or 0.0 for stop in self._stops if stop.counted), LONG_SHARE) or 0.0
        while (grace := edge.next_to_try(long, found.grace_seconds, killed)) is not None:
            seen = self._make(edging(self._tuned, grace))
            under = [stop for stop in seen.stops if stop.grace_seconds == grace]
            if not under:
                self.note(missing=[*self.tune.missing, f"the edge: no stop was seen under a grace of {grace} s"])
                break
            tried[grace] = len(under), sum(stop.killed for stop in under)
            killed[grace] = tried[grace][1] > 0
            rows = [Tried(grace, *tried[grace]) for grace in sorted(tried)]
            self.note(edge=EdgeEntry(rows, *edge.boundary(killed)))

    def _make(self, trial: Trial) -> Seen:
        """One run from its order to its verdict, written down before and after."""
        run = TuneRun(trial.purpose, trial.grace_seconds, trial.replicas)
        self.note(runs=[*self.tune.runs, run])
        seen = self._carry_out(trial, len(self.tune.runs))
        self.note_run(
            outcome=seen.outcome,
            sent=seen.sent,
            lost=seen.lost,
            unproved=seen.unproved,
            stops=len(seen.stops),
            killed=sum(stop.killed for stop in seen.stops),
        )
        self.note(stops=[*self.tune.stops, *map(row_of, seen.stops)])
        if seen.full:
            self._full.append(str(len(self.tune.runs)))
            self._full_machine = _FULL.format(runs=", ".join(self._full), full=seen.full)
        if trial.purpose == MEASURE:
            self._stops += seen.stops
            self._longest.append(seen.longest_seconds)
        return seen

    def note_run(self, **changes: Any) -> None:
        """Writes down what's new of the run that goes on."""
        *before, run = self.tune.runs
        self.note(runs=[*before, msgspec.structs.replace(run, **changes)])
