"""What to change first: one or two advices of all that the checks give."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from swarmtest.checks import Outcome
from swarmtest.reports import CheckEntry

TELLING = (
    "replaced_every_instance",
    "rolled_back_by_itself",
    "survived_its_dependency",
    "scaled_as_asked",
    "lost_only_to_the_fault",
    "answered_every_request",
    "exited_within_grace",
    "new_served_only_when_ready",
    "drained_before_exit",
    "streams_closed_in_order",
    "no_message_lost",
    "kept_capacity",
    "nothing_arrived_after_close",
    "front_door_let_go_in_time",
    "recovered_in_time",
    "clients_reconnected_in_time",
    "grace_exceeds_longest_request",
    "handled_each_request_once",
)
"""Checks whose advice mends causes, before those whose advice mends what follows from them."""

MOST_ADVICE = 2
_GRACE = re.compile(r"raise stop_grace_period from .+? to at least (\d+) s")
_POINTER = re.compile(r"mend the shutdown first \((\w+) says how\).*?; (?=then )")


def first_advice(entries: Sequence[CheckEntry]) -> list[str]:
    """The first advices, of failed checks before unproved ones, causes before what follows from them.

    Of what's missing, the one that proves most checks comes first.
    """
    for outcome in (Outcome.FAILED, Outcome.NOT_PROVED):
        some = [entry for entry in entries if entry.outcome == outcome.value and entry.advice]
        if some:
            asked = Counter(entry.advice for entry in some) if outcome is Outcome.NOT_PROVED else Counter()
            ordered = sorted(some, key=lambda e: (-asked[e.advice], _rank(e.name)))
            found = _one_grace(list(dict.fromkeys(entry.advice for entry in ordered if entry.advice)))[:MOST_ADVICE]
            return _said_once(found, some)
    return []


def _one_grace(advice: list[str]) -> list[str]:
    """Of several values for the grace the largest alone: one rests on what was planned, one on what was measured."""
    values = {text: int(found[1]) for text in advice if (found := _GRACE.match(text))}
    return [text for text in advice if text not in values or values[text] == max(values.values())]


def _said_once(advice: list[str], entries: Sequence[CheckEntry]) -> list[str]:
    """Each without its words that only point to another check's, where the other's advice is in the list itself."""
    there = {entry.name for entry in entries if entry.advice in advice}

    def shortened(text: str) -> str:
        pointer = _POINTER.match(text)
        return text[pointer.end() :] if pointer and pointer[1] in there else text

    return [shortened(text) for text in advice]


def _rank(check: str) -> int:
    return TELLING.index(check) if check in TELLING else len(TELLING)
