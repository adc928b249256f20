"""Made-up series, as a person would meet them, and a way to look at them:

python -m tests.reports.series.samples mixed 80
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from swarmtest.judge.series import sum_up
from swarmtest.reports import CheckEntry, Document, Figures, KindFigures
from swarmtest.reports.console import series as console
from swarmtest.reports.series import SERIES_VERSION, Member, NotRun, Series

Sample = tuple[Series, list[Document | None]]

KEPT = CheckEntry("kept_capacity", "passed", "At least 3 of 3 instances were ready all the time.")
ANSWERED = CheckEntry("answered_every_request", "passed", "All requests were answered in full.")
LOST = CheckEntry(
    "answered_every_request",
    "failed",
    "11 of 1,211 requests were lost: 7 cut, 4 gateway.",
    ["7 cut on api.1 (k1xj3v9q), charged to shutdown (drain missing)", "4 gateway, charged to the front door"],
    "let the app finish what it runs before it exits on the stop signal",
)
UNSEEN = CheckEntry(
    "drained_before_exit",
    "not_proved",
    "No request ran at any stop, so nothing had to be drained.",
    ["the longest request of the traffic takes 0.3 s"],
    "add a kind of request that takes some seconds",
)


def run_of(scenario: str, *checks: CheckEntry, number: int = 1, **losses: int) -> Document:
    """A run with the losses of these classes."""
    outcomes = {check.outcome for check in checks}
    outcome = "failed" if "failed" in outcomes else "not_proved" if "not_proved" in outcomes else "passed"
    lost, sent = sum(losses.values()), 1200 + number
    return Document(
        version=1,
        run=f"20261201T2215{number:02}Z-{scenario}-api-ab12{number:02}",
        outcome=outcome,
        exit_code={"passed": 0, "failed": 1, "not_proved": 3}[outcome],
        scenario=scenario,
        stack="stacks/api.yml",
        engine={"version": "20.10.24", "nodes": 1},
        settings={"seed": 42, "guards": {"stop_at": {"share": 0.05, "seconds": 5.0}}},
        checks=list(checks),
        losses={"sent": sent, "ok": sent - lost, "duplicates": 0} | losses,
        instances=[],
        seconds=30.0 + number,
        proof={"sent": sent, "lost": lost, "stops": 3, "stops_with_loss": 1 if lost else 0},
        figures=Figures(
            lowest_ready=3,
            p50_ms=161.25 + number,
            p99_ms=5991.0,
            acted_seconds=21.5 + number,
            kinds=[KindFigures("long", 320, 5003.1, 5996.2), KindFigures("short", 880, 160.0 + number, 299.5)],
        ),
    )


def series_of(documents: Sequence[Document | None], members: Sequence[Member], **changes: object) -> Sample:
    """A series of these runs, summed up as it would be."""
    bare = Series(
        version=SERIES_VERSION,
        series="20261201T221500Z-series-api-0a1b2c",
        asked=",".join(dict.fromkeys(member.scenario for member in members)),
        stack="stacks/api.yml",
        seed=42,
        repeat=1,
        members=list(members),
        ended="finished",
    )
    return sum_up(msgspec.structs.replace(bare, **changes), documents), list(documents)


def ran(document: Document, repeat: int = 1) -> Member:
    """The member that came to its end with this document."""
    return Member(document.scenario, repeat, folder=document.run, ended="finished")


def mixed() -> Sample:
    """One run each: passed, failed, not proved, refused, broken off, interrupted, not run; and one that can't be."""
    documents: list[Document | None] = [
        run_of("baseline", ANSWERED, KEPT),
        run_of("rolling", LOST, KEPT, number=2, cut=7, gateway=4),
        run_of("stop-first", ANSWERED, UNSEEN, KEPT, number=3),
        None,
        run_of("scale-in", ANSWERED, number=4),
        run_of("kill", ANSWERED, number=5, cut=3),
        None,
    ]
    members = [
        *(ran(document) for document in documents[:3] if document),
        Member("drain", ended="refused", error="drain needs a second node", exit_code=2),
        Member("scale-in", folder="scale-in", ended="broke", error="api isn't whole after 120 s", exit_code=4),
        Member("kill", folder="kill", ended="interrupted", exit_code=130),
        Member("freeze"),
    ]
    reason = "it needs another version: add `x-swarmtest: {release: IMAGE}` to the stack file, or --release IMAGE"
    return series_of(
        documents,
        members,
        asked="all",
        not_run=[NotRun("release", reason)],
        checklist_weighs=True,
        ended="interrupted",
        error="interrupted by SIGINT",
    )


def side_by_side() -> Sample:
    """Two scenarios that differ in one setting."""
    documents = [run_of("stop-first", ANSWERED, KEPT), run_of("start-first", LOST, KEPT, number=2, cut=11)]
    return series_of(documents, [ran(document) for document in documents])


def repeats() -> Sample:
    """Three runs of each of two scenarios; one of them loses something once."""
    documents = [
        run_of(name, LOST if lost else ANSWERED, KEPT, number=3 * number + place, **({"cut": lost} if lost else {}))
        for number in range(3)
        for place, (name, lost) in enumerate((("rolling", 0), ("burst", 11 * number)))
    ]
    members = [ran(document, place // 2 + 1) for place, document in enumerate(documents)]
    return series_of(documents, members, repeat=3)


SAMPLES: dict[str, Callable[[], Sample]] = {"mixed": mixed, "repeats": repeats, "side-by-side": side_by_side}


if __name__ == "__main__":
    console.render(*SAMPLES[sys.argv[1]](), sys.stdout, folder=Path("runs/series"), width=int(sys.argv[2]))
