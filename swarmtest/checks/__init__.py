"""Checks: each says of one line of the checklist whether it's passed, failed or not proved.

A check is one file here with ``check(judged) -> Verdict``, found by its file name; the first line of
its docstring is its line in ``swarmtest list``. What it needs and doesn't see makes it *not proved*:
nothing passes because nobody looked.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Protocol, cast

from swarmtest.errors import UsageError
from swarmtest.evidence.connection import Connection
from swarmtest.evidence.promises import Promises
from swarmtest.evidence.requests import Requests
from swarmtest.evidence.stream import Stream
from swarmtest.losses import Losses
from swarmtest.timeline import Aliases, Timeline, Witness


class Outcome(StrEnum):
    """The three verdicts; failed outweighs not proved outweighs passed."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_PROVED = "not_proved"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found.

    Attributes:
        sentence: the finding, for a person.
        evidence: numbers, instances and the first few request IDs, a line each.
        advice: the one setting to change; None where nothing is wrong or nothing would help.
    """

    outcome: Outcome
    sentence: str
    evidence: tuple[str, ...] = ()
    advice: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """A run as checks see it: what was promised, what was seen, what became of each request and of each stream.

    Attributes:
        requests: all of them, for those who count.
        streams: WebSockets and streams of server-sent events, which are no requests.
        connections: those of HTTP/2, which carry several requests each.
    """

    promises: Promises
    timeline: Timeline
    witness: Witness
    aliases: Aliases
    losses: Losses
    requests: Requests
    streams: tuple[Stream, ...] = ()
    connections: tuple[Connection, ...] = ()


class Check(Protocol):
    """What each file here offers under the name ``check``."""

    def __call__(self, judged: Judged) -> Verdict:
        """Judges one line of the checklist."""


@dataclass(slots=True)
class Findings:
    """Collects what a check finds of each instance, and makes the one verdict of it."""

    failed: list[str] = field(default_factory=list)
    unproved: list[str] = field(default_factory=list)
    good: list[str] = field(default_factory=list)

    def verdict(self, passed: str, failed: str, unproved: str, advice: str | None = None) -> Verdict:
        """Failed where anything failed, not proved where anything is missing or nothing was seen.

        Arguments:
            advice: what to change; it's left out of a pass.
        """
        if self.failed:
            return Verdict(Outcome.FAILED, failed, shortened(self.failed + self.unproved + self.good), advice)
        if self.unproved or not self.good:
            return Verdict(Outcome.NOT_PROVED, unproved, shortened(self.unproved + self.good), advice)
        return Verdict(Outcome.PASSED, passed, shortened(self.good))


LONGEST_EVIDENCE = 12
"""Lines of evidence that a verdict shows at most; all of it is in the run's folder."""


def shortened(lines: Sequence[str]) -> tuple[str, ...]:
    """Evidence cut to a length that a person reads."""
    if len(lines) <= LONGEST_EVIDENCE:
        return tuple(lines)
    return (*lines[: LONGEST_EVIDENCE - 1], f"… and {len(lines) - LONGEST_EVIDENCE + 1} lines more")


def check_names() -> list[str]:
    """All checks there are, in alphabetical order."""
    return list(_names())


@cache
def _names() -> Sequence[str]:
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))


def find_check(name: str) -> Check:
    """The check of a name.

    Raises:
        UsageError: there's no such file.
    """
    if name not in check_names():
        raise UsageError(f"no check is called {name!r}; there are {', '.join(check_names())}")
    return cast(Check, importlib.import_module(f"{__name__}.{name}").check)


def check_line(name: str) -> str:
    """What a check says, in its own line."""
    module = importlib.import_module(f"{__name__}.{name}")
    return (module.__doc__ or "").strip().splitlines()[0]
