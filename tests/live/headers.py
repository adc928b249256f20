"""What the header of a sample stack promises, and whether a run kept it.

A header without `# scenario:` is about `rolling`; with one, about that scenario.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.live.conftest import ROOT, LiveRun

_KEYS = "scenario|flags|must fail|may also fail|loss classes|may also be|advice|exit code"
_LINE = re.compile(rf"^# ({_KEYS}): *(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Header:
    """What a stack's header promises.

    Attributes:
        flags: how `swarmtest run` is called.
        may_also_fail: checks that fail in some runs, by what the engine makes of the same thing.
        loss_classes: all of them are seen.
        may_also_be: classes that are seen in some runs, by the luck of the moment.
        advice: words that stand in the advice.
    """

    scenario: str | None
    flags: tuple[str, ...]
    must_fail: frozenset[str]
    may_also_fail: frozenset[str]
    loss_classes: frozenset[str]
    may_also_be: frozenset[str]
    advice: str
    exit_code: int


def read_header(path: Path) -> Header:
    found = dict(_LINE.findall(path.read_text()))
    words = {key: frozenset(re.findall(r"[a-z0-9_]+", value)) - {"none"} for key, value in found.items()}
    scenario = found.get("scenario")
    named = ("--scenario", scenario) if scenario is not None else ()
    return Header(
        scenario,
        (*named, *found.get("flags", "").split()),
        words["must fail"],
        words.get("may also fail", frozenset()),
        words["loss classes"],
        words.get("may also be", frozenset()),
        found.get("advice", ""),
        int(found["exit code"]),
    )


def stacks(*folders: str) -> Iterable[str]:
    """Paths of the sample stacks in these folders, counted from the root."""
    for folder in folders:
        for path in sorted((ROOT / "stacks" / folder).glob("*.yml")):
            yield str(path.relative_to(ROOT))


def caught_committing(run: LiveRun) -> bool:
    """Whether all that's unknown was about to commit: a cut in the few milliseconds in which no line can tell."""
    unknown = [event.why for event in run.document.loss_events if event.loss == "unknown"]
    return bool(unknown) and all("about to commit" in why for why in unknown)


def assert_as_promised(run: LiveRun, header: Header) -> None:
    allowed = header.loss_classes | header.may_also_be
    if "cut" in allowed and caught_committing(run):
        allowed |= {"unknown"}
    assert header.must_fail <= run.failed() <= header.must_fail | header.may_also_fail, run.explain()
    assert header.loss_classes <= run.loss_classes(), run.explain()
    assert run.loss_classes() <= allowed, run.explain()
    assert header.advice in " ".join(run.document.advice), run.explain()
    assert run.exit_code == header.exit_code, run.explain()
