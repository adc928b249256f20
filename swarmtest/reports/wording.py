"""The words and numbers that every report shares, so that console, JUnit and Markdown say the same thing.

Not a report: it has no ``render``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from swarmtest.reports import CLASSES, Document, LossGroup, LossRow

OUTCOME_WORDS = {"passed": "passed", "failed": "failed", "not_proved": "not proved"}

CLASS_MEANINGS = {
    "refused": "no connection was made; safe to send again",
    "unserved": "connected, but no handler saw it; safe to send again",
    "cut": "a handler had started, no complete answer came; not safe to send again",
    "cut_finished": "the work was done, the client was told otherwise; sent again it's done twice",
    "unknown": "no complete answer, and nothing tells whether it was handled; not safe to send again",
    "gateway": "the proxy answered 502, 503 or 504; no handler saw it",
    "error": "the instance itself answered 5xx",
    "shed": "turned away on purpose (429, or 503 with Retry-After); safe to send again later",
    "unexpected": "3xx, 4xx, malformed, or an answer of unknown origin",
    "silent_loss": "a success whose content isn't what was sent or stored",
    "timed_out": "the client's own deadline passed; not safe to send again",
    "unresolved": "still open when the run ended; not safe to send again",
    "client_error": "swarmtest's own fault: the run is invalid",
}

CHARGE_WORDS = {
    "shutdown": "shutdown",
    "start_up": "start-up",
    "front_door": "front door",
    "fault": "what was hurt",
    "background": "background, no lifecycle event nearby",
    "unplaced": "unplaced",
}


_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Text of an app without what drives a terminal, or turns the text around it: a report says what it says."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


UNPROVED = "answered in full, and not proved to be whole or to be the stack's own answer"


def meaning(document: Document, loss: str) -> str:
    """What a class means, in this run: an answer that only lacks its proof isn't known to be lost."""
    text = CLASS_MEANINGS.get(loss, "a class that this version does not know")
    unproved = only_unproved(document, loss)
    others = document.losses.get(loss, 0) - unproved
    if unproved and others > 0:
        return f"{number(unproved)} {UNPROVED}; the other {number(others)}: {text}"
    return UNPROVED if unproved else text


def only_unproved(document: Document, loss: str) -> int:
    """How many of a class had a complete answer that only lacks its proof."""
    return sum(group.count for group in loss_groups(document) if group.loss == loss and group.unproved)


def outcome_words(outcome: str) -> str:
    """``not_proved`` as a person writes it; an outcome that isn't known is kept as it is."""
    return OUTCOME_WORDS.get(outcome, outcome.replace("_", " "))


def number(value: int | float) -> str:
    """``2143`` as ``2,143``."""
    return f"{value:,}"


def answer_times(row: LossRow) -> list[str]:
    """Median and 99th percentile of a row, from when requests were due; and in brackets from when they were sent."""
    p50, p99 = ("-" if value is None else f"{value:,.0f}" for value in (row.p50_ms, row.p99_ms))
    return [p50, p99 if row.p99_sent_ms is None else f"{p99} ({row.p99_sent_ms:,.0f})"]


def counted(count: int, noun: str) -> str:
    """``1 stop``, ``3 stops``."""
    return f"{number(count)} {noun}" + ("" if count == 1 else "s")


def percent(share: float, *, up: bool = False) -> str:
    """A share in per cent with two significant digits; ``up`` never rounds a bound to its better side."""
    value = share * 100
    if value <= 0:
        return "0 %"
    digits = max(0, 1 - math.floor(math.log10(value)))
    scale = 10.0**digits
    rounded = math.ceil(round(value * scale, 6)) / scale if up else round(value, digits)
    return f"{rounded:.{digits}f} %"


def clock_time(at: float) -> str:
    """A moment in UTC; no report knows local time."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def lost_count(document: Document) -> int:
    """Everything sent that isn't ok, by the proof, or by the losses where the proof doesn't say."""
    lost = document.proof.get("lost")
    return int(lost) if lost is not None else document.losses.get("sent", 0) - document.losses.get("ok", 0)


def unproved_count(document: Document) -> int:
    """How many of :func:`lost_count` aren't known to be lost."""
    return int(document.proof.get("unproved") or 0)


UNPROVED_HEADER = ("unproved", "lost")


def unproved_cells(document: Document, row: LossRow) -> list[str]:
    """What of a row isn't proved and what is lost, in a run that leaves any unproved: its classes hold both."""
    if not any(each.unproved for each in document.loss_rows):
        return []
    return [number(row.unproved), number(row.sent - row.counts.get("ok", 0) - row.unproved)]


def proof_sentence(document: Document) -> str:
    """What the numbers of a run prove."""
    sent = document.proof.get("sent", document.losses.get("sent", 0))
    return proved({**document.proof, "sent": sent, "lost": lost_count(document)})


def proved(proof: Mapping[str, Any]) -> str:
    """What numbers prove, in requests and in stops: many requests are few stops, and losses cluster in stops."""
    sent = int(proof.get("sent") or 0)
    if not sent:
        return "No request was sent: nothing is proved."
    lost, bound = int(proof.get("lost") or 0), proof.get("upper_bound")
    unproved = int(proof.get("unproved") or 0)
    text = f"{number(lost - unproved)} lost of {counted(sent, 'request')}"
    if unproved:
        text += f", and {number(unproved)} not proved to be answered"
    elif lost:
        text += f" ({percent(lost / sent)})"
    elif bound is not None:
        text += f": below {percent(float(bound), up=True)} at 95 %"
    return f"{text}; {_stops_part(proof)}."


def _stops_part(proof: Mapping[str, Any]) -> str:
    stops, hurt, bound = (
        int(proof.get("stops") or 0),
        int(proof.get("stops_with_loss") or 0),
        proof.get("stop_upper_bound"),
    )
    if not stops:
        return "no instance was stopped"
    text = f"{number(hurt)} of {counted(stops, 'stop')} with a loss"
    if not hurt and bound is not None:
        text += f": up to {percent(float(bound))} per stop isn't excluded"
    return text


def checks_sentence(document: Document) -> str:
    """``9 of 12 passed, 2 failed, 1 not proved``."""
    counts = Counter(check.outcome for check in document.checks)
    parts = [f"{counts['passed']} of {len(document.checks)} passed"]
    parts += [f"{count} {outcome_words(outcome)}" for outcome, count in sorted(counts.items()) if outcome != "passed"]
    return ", ".join(parts)


def engine_sentence(document: Document) -> str:
    """The engine in a few words, as far as it's known."""
    version, nodes = document.engine.get("version"), document.engine.get("nodes")
    parts = [f"Docker {version}" if version else "", counted(nodes, "node") if isinstance(nodes, int) else ""]
    return ", ".join(part for part in parts if part)


def present_classes(document: Document) -> list[str]:
    """The classes of loss that occurred, in the order of :data:`swarmtest.reports.CLASSES`."""
    return [name for name in CLASSES if name != "ok" and document.losses.get(name, 0)]


def where_lost(document: Document, loss: str) -> str:
    """``short kept 3, long fresh 1`` for one class."""
    rows = [(row, row.counts.get(loss, 0)) for row in document.loss_rows]
    return ", ".join(f"{row.kind} {row.connection} {number(count)}" for row, count in rows if count)


def loss_groups(document: Document) -> list[LossGroup]:
    """All lost requests in groups; documents of earlier versions name each, and have none."""
    if document.loss_groups:
        return document.loss_groups
    counts = Counter((one.loss, one.charge, one.unproved, one.saw) for one in document.loss_events)
    return [LossGroup(*key, count=count) for key, count in counts.items()]


def more(document: Document, count: int) -> str:
    """What's said below the first of a list of lost requests: that there are so many more, and where."""
    if not document.loss_events_left_out:
        return f"and {number(count)} more in verdicts.json"
    listed = len(document.loss_events)
    everything = listed + document.loss_events_left_out
    where = f"verdicts.json has {number(listed)} of all {number(everything)}, `swarmtest query` the rest"
    return f"and {number(count)} more; {where}"


def charged_to(groups: Iterable[LossGroup]) -> str:
    """``shutdown 3, start-up 1``, most first."""
    counts: Counter[str] = Counter()
    for group in groups:
        counts[group.charge] += group.count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{CHARGE_WORDS.get(charge, charge)} {number(count)}" for charge, count in ordered)


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Settings as dotted names and text, for formats that know no nesting: ``update.order`` → ``start-first``."""
    rows: dict[str, str] = {}
    for name in sorted(settings):
        value, path = settings[name], f"{prefix}{name}"
        if isinstance(value, Mapping) and value:
            rows |= flat(value, f"{path}.")
        elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            for index, item in enumerate(value):
                inner = {key: entry for key, entry in item.items() if key != "name"}
                rows |= flat(inner, f"{path}.{item.get('name', index)}.")
        else:
            rows[path] = _plain(value)
    return rows


def _plain(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return ", ".join(_plain(item) for item in value) or "none"
        case dict():
            return "none"
        case _:
            return str(value)
