"""Takes evidence out of a run, one kind at a time, as if an app, an engine or a front door had never shown it.

Each way is a function from a run to a run, named for what's missing, so that tests can ask of any
run what may still be said without it.
"""

from __future__ import annotations

import copy
import gzip
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from swarmtest.events import Event, decode_event, read_events
from swarmtest.judge import judge, read_requests
from swarmtest.reports import Document
from swarmtest.store import open_run_folder

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

ABOUT_REQUESTS = ("start", "intent", "commit", "finish")


@dataclass(frozen=True)
class Run:
    """All that's read of a run's folder."""

    plan: dict[str, Any]
    events: list[Event]
    requests: list[dict[str, Any]] = field(repr=False)

    def document(self) -> Document:
        return judge(self.plan, self.events, read_requests(self.requests))


Strip = Callable[[Run], Run]


def read_run(folder: Path) -> Run:
    run = open_run_folder(folder)
    if not run.events.exists():  # kept packed in the repository
        lines = gzip.decompress(run.events.with_suffix(".jsonl.gz").read_bytes()).splitlines()
        events = [decode_event(line) for line in lines]
        return Run(dict(run.read_plan()), events, [dict(row) for row in run.read_requests()])
    return Run(dict(run.read_plan()), list(read_events(run.events)), [dict(row) for row in run.read_requests()])


def changed(event: Event, **data: Any) -> Event:
    return replace(event, data={**event.data, **data})


def without(run: Run, unwanted: Callable[[Event], bool]) -> Run:
    return replace(run, events=[event for event in run.events if not unwanted(event)])


def never_written(run: Run, unwanted: Iterable[str]) -> Run:
    """Lines that the app never wrote, so that no sequence number is missing."""
    names, seqs, events = set(unwanted), defaultdict[str, int](int), []
    records = [event for event in run.events if event.kind == "record" and event.get("event") not in names]
    numbers: dict[int, int] = {}
    for event in sorted(records, key=lambda event: (str(event.get("container")), event.get("seq") or 0)):
        seqs[event.get("container")] += 1
        numbers[id(event)] = seqs[event.get("container")]
    for event in run.events:
        if event.kind != "record":
            events.append(event)
        elif id(event) in numbers:
            events.append(changed(event, seq=numbers[id(event)]))
    return replace(run, events=events)


def _asked(run: Run, **fields: Any) -> Run:
    return replace(run, requests=[{**row, **fields} for row in run.requests])


def _lifecycle(run: Run) -> set[str]:
    names = {str(event.get("event")) for event in run.events if event.kind == "record"}
    return names - set(ABOUT_REQUESTS)


def _t0(run: Run) -> float:
    acts = [e for e in run.events if e.kind == "act" and e.get("edge") == "began" and not e.get("prepares")]
    return min(e.t for e in acts if e.get("name") not in ("deploy", "heal"))


def no_header(run: Run) -> Run:
    return _asked(run, instance=None)


def a_name_of_its_own(run: Run) -> Run:
    """Names that only the app knows: its log lines bear them too, and nothing of Docker's does."""
    return _called(run, lambda name: f"app-{sum(name.encode()) % 997}")


def one_name_for_all(run: Run) -> Run:
    """The header names the service, as a header set by hand does."""
    return _called(run, lambda name: "api")


def _called(run: Run, name: Callable[[str], str]) -> Run:
    rows = [{**row, "instance": name(row["instance"]) if row.get("instance") else None} for row in run.requests]
    events = [
        changed(event, instance=name(str(event.get("instance")))) if event.kind == "record" else event
        for event in run.events
    ]
    return Run(run.plan, events, rows)


def no_echo(run: Run) -> Run:
    return _asked(run, echoed=None)


def close_delimited(run: Run) -> Run:
    return replace(run, requests=[{**row, "framing": "close" if row["framing"] else None} for row in run.requests])


def no_records(run: Run) -> Run:
    return without(run, lambda event: event.kind == "record")


def no_logs(run: Run) -> Run:
    return without(run, lambda event: event.kind in ("record", "log", "log_stream", "proxied"))


def no_lifecycle_lines(run: Run) -> Run:
    return never_written(run, _lifecycle(run))


def no_request_lines(run: Run) -> Run:
    return never_written(run, ABOUT_REQUESTS)


def no_commit_lines(run: Run) -> Run:
    return never_written(run, ("intent", "commit"))


def only_start_lines(run: Run) -> Run:
    return never_written(run, ("intent", "commit", "finish"))


def no_sequence_numbers(run: Run) -> Run:
    return replace(run, events=[changed(e, seq=None) if e.kind == "record" else e for e in run.events])


def a_lost_line(run: Run) -> Run:
    """One line of each instance was lost on its way, seen by the sequence number that's missing."""
    done: set[str] = set()
    events = []
    for event in run.events:
        if event.kind == "record" and event.get("event") == "commit" and event.get("container") not in done:
            done.add(event.get("container"))
            continue
        events.append(event)
    return replace(run, events=events)


def incomplete_logs(run: Run) -> Run:
    events = [
        changed(e, complete=False, reason="the connection broke")
        if e.kind == "log_stream" and e.get("edge") == "ended"
        else e
        for e in run.events
    ]
    return replace(run, events=events)


def no_edge_log(run: Run) -> Run:
    return without(run, lambda event: event.kind == "proxied")


def no_names(run: Run) -> Run:
    return without(run, lambda event: event.kind == "names")


def no_desired_state(run: Run) -> Run:
    return replace(run, events=[changed(e, desired=None) if e.kind == "task" else e for e in run.events])


def no_tasks(run: Run) -> Run:
    return without(run, lambda event: event.kind == "task")


def no_engine_events(run: Run) -> Run:
    return without(run, lambda event: event.kind == "container")


def no_update_status(run: Run) -> Run:
    return without(run, lambda event: event.kind == "update_status")


def broken_at_t0(run: Run) -> Run:
    t0 = _t0(run)
    kept = without(run, lambda event: event.kind == "container" and event.t > t0)
    broken = Event(t0, "stream_broken", {"what": "engine events", "error": "connection reset"})
    return replace(kept, events=sorted([*kept.events, broken], key=lambda event: event.t))


def no_health_check(run: Run) -> Run:
    plan = copy.deepcopy(run.plan)
    plan["stack"]["healthcheck"] = None
    kept = without(run, lambda e: e.kind == "container" and str(e.get("action")).startswith("health_status"))
    return replace(kept, plan=plan)


def no_declared_detection(run: Run) -> Run:
    plan = copy.deepcopy(run.plan)
    plan["front_door"]["within_seconds"] = None
    return replace(run, plan=plan)


def _clock(run: Run, off: float, stated: float, error: float) -> Run:
    """The engine's machine, and the app with it, has a clock that's off; the head says how far, or doesn't know."""
    events = []
    for event in run.events:
        if event.kind == "trace":
            events.append(changed(event, offsets={"engine": {"seconds": stated, "error": error}}))
        else:
            theirs = _THEIRS.get(event.kind, ())
            told = {name: event.get(name) + off for name in theirs if name != "t" and event.get(name)}
            events.append(replace(changed(event, **told), t=event.t + (off if "t" in theirs else 0.0)))
    return replace(run, events=events)


_THEIRS = {
    "container": ("t",),
    "record": ("t",),
    "proxied": ("t",),
    "names": ("t", "since"),
    "task": ("created",),
    "update_status": ("started", "completed"),
}
"""What's told by the engine's clock, or by that of a container on its machine."""


def clock_ahead(run: Run) -> Run:
    return _clock(run, 3.0, 3.0, 0.05)


def clock_behind(run: Run) -> Run:
    return _clock(run, -3.0, -3.0, 0.05)


def clock_ahead_unknown(run: Run) -> Run:
    return _clock(run, 3.0, 0.0, 3.5)


def clock_behind_unknown(run: Run) -> Run:
    return _clock(run, -3.0, 0.0, 3.5)


STRIPS: tuple[Strip, ...] = (
    no_header,
    a_name_of_its_own,
    one_name_for_all,
    no_echo,
    close_delimited,
    no_records,
    no_logs,
    no_lifecycle_lines,
    no_request_lines,
    no_commit_lines,
    only_start_lines,
    no_sequence_numbers,
    a_lost_line,
    incomplete_logs,
    no_edge_log,
    no_names,
    no_desired_state,
    no_tasks,
    no_engine_events,
    no_update_status,
    broken_at_t0,
    no_health_check,
    no_declared_detection,
    clock_ahead,
    clock_behind,
    clock_ahead_unknown,
    clock_behind_unknown,
)
"""What can be missing. Each takes nothing but evidence: what happened stays the same."""


def pairs(names: Iterable[str], base: Collection[str]) -> list[ParameterSet]:
    """Every run with every strip, most of them among the long repeats.

    Each strip is tried on a sixth of the base, and on one in 24 of the others; each run of the base meets a sixth
    of the strips.

    Arguments:
        base: runs that have every outcome of every check, and every way of losing a request, between them.
    """

    def marks(place: int, name: str) -> list[pytest.MarkDecorator]:
        return [] if place % (6 if name in base else 24) == 0 else [pytest.mark.repeats]

    return [
        pytest.param(name, strip, id=f"{name}-{strip.__name__}", marks=marks(k + n, name))
        for k, name in enumerate(names)
        for n, strip in enumerate(STRIPS)
    ]


def said(document: Document) -> set[tuple[str, ...]]:
    """Outcomes of checks, and ways of losing a request."""
    outcomes = {(check.name, check.outcome) for check in document.checks}
    return outcomes | {("lost", event.loss, event.charge) for event in document.loss_events}


def _renamed(name: Callable[[dict[str, Any]], str]) -> Strip:
    def rename(run: Run) -> Run:
        facts: dict[str, dict[str, Any]] = {}
        for event in run.events:
            if event.kind in ("container", "task") and event.get("task"):
                known = {k: v for k, v in event.data.items() if v not in (None, [], {})}
                facts.setdefault(event.get("task"), {}).update(known)
        rows = [
            {**row, "instance": name(facts[row["instance"]]) if row.get("instance") in facts else row.get("instance")}
            for row in run.requests
        ]
        # The instance calls itself in its log what it calls itself in its answers.
        events = [
            changed(event, instance=name(facts[event.get("instance")]))
            if event.kind == "record" and event.get("instance") in facts
            else event
            for event in run.events
        ]
        return Run(run.plan, events, rows)

    return rename


ALIASES: dict[str, Strip] = {
    "task name": _renamed(lambda fact: str(fact["name"])),
    "container ID": _renamed(lambda fact: str(fact["container"])[:12]),
    "address": _renamed(lambda fact: str(fact["addresses"][-1]).split("/")[0]),
    "address and port": _renamed(lambda fact: str(fact["addresses"][-1]).split("/")[0] + ":8000"),
}
"""What else an instance can be called in its header."""
