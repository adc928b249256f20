"""What was done to whom and what came of it, in words: acts, victims, the update, the front door, the guard.

Not a report: it has no ``render``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.reports import ActEntry, Document, Hurt, InstanceEntry, UpdateEntry
from swarmtest.reports.lifespans import UNSEEN, full_label, labels, with_error, zero
from swarmtest.reports.wording import counted

NAMED = 4
"""So many instances are named, and the others counted."""

KINDS = {
    "orderly": "an orderly scenario: it passes with nothing lost",
    "destructive": (
        "a destructive scenario: it passes when every loss belongs to what was hurt, nothing else was lost, and"
        " capacity was back in time"
    ),
}


@dataclass(frozen=True, slots=True)
class ActRow:
    """One act: seconds from T0, what it was, whom it hurt, what came of it."""

    at: str
    name: str
    whom: str
    result: str
    good: bool


def act_rows(document: Document) -> list[ActRow]:
    """All acts in order; those that were never begun have no time."""
    return [_row(act, document) for act in document.acts]


def _row(act: ActEntry, document: Document) -> ActRow:
    at = UNSEEN if act.began is None else with_error(act.began - zero(document), 0)
    good = act.outcome == "ok"
    return ActRow(at, _name(act), _whom(act, document), "; ".join(_results(act, document)), good)


def _name(act: ActEntry) -> str:
    """``scale -1``, ``signal SIGUSR1``; the setting that tells most, where there's one."""
    name = act.name.replace("_", " ")
    if act.heals is not None:
        return name  # its settings are those of what it undoes
    match act.settings:
        case {"by": int(by)}:
            return f"{name} {by:+d}"
        case {"signal": str(signal)}:
            return f"{name} {signal}"
        case {"way": str(way)}:
            return f"{name} ({way})"
        case {"service": str(service)}:
            return f"{name} {service}"
        case _:
            return name


def _whom(act: ActEntry, document: Document) -> str:
    undone = (one.instances for one in document.acts if act.heals is not None and one.id == act.heals)
    instances = act.instances or next(undone, [])
    if not instances:
        return act.target
    names = [full_label(instance, document) for instance in instances[:NAMED]]
    more = len(instances) - NAMED
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _results(act: ActEntry, document: Document) -> Iterator[str]:
    if act.outcome != "ok":
        yield f"{act.outcome}: {act.reason}" if act.reason else act.outcome
        return
    if act.prepares:
        yield "only prepares"
    if act.heals is not None:
        undone = next((_name(one) for one in document.acts if one.id == act.heals), f"act {act.heals}")
        yield f"undoes {undone}"
    hurts = [(instance, hurt) for instance in document.instances for hurt in instance.hurts if hurt.act == act.id]
    for instance, hurt in hurts if act.heals is None else []:
        if (came := _came_of(instance, hurt)) is not None:
            prefix = f"{full_label(instance.id, document)} " if len(hurts) > 1 else ""
            yield prefix + came
    if act.heals is None and not hurts and not act.prepares:
        yield "done"


def _came_of(instance: InstanceEntry, hurt: Hurt) -> str | None:
    """What came of one act for one instance."""
    exited = instance.marks.get("exited")
    if hurt.outcome not in ("ok", None):
        return hurt.outcome
    if hurt.healed is not None:
        return f"went on after {hurt.healed - hurt.began:.1f} s"
    if exited is None or exited.at < hurt.began:
        return "runs on"
    gone = f"gone {exited.at - hurt.began:.1f} s later"
    return gone if hurt.back is None else f"{gone}, capacity back {hurt.back - exited.at:.1f} s after that"


def kind_sentence(document: Document) -> str:
    """What passing means for this kind of scenario."""
    return KINDS.get(document.kind, document.kind)


def update_sentence(document: Document) -> str | None:
    """What became of the update, and which versions were left running; None where there was none."""
    update = document.update
    if update is None:
        return None
    text = f"{update.act}: {update.end}"
    if update.message and update.message.removeprefix("update ").removeprefix("rollback ") != update.end:
        text += f" ({update.message})"
    whole = update.end == "completed" and len(update.left) == 1 and not update.empty_slots
    if not whole:
        text += f"; left running {_left(update, document)}"
    if update.lost_before is not None and update.lost_after is not None:
        text += f"; lost before it was turned back {update.lost_before}, after {update.lost_after}"
    return text


def _left(update: UpdateEntry, document: Document) -> str:
    """Versions that were left running, by instance, and the slots with nothing in them."""
    names, left = labels(document.instances), []
    for entry in update.left:
        some = ", ".join(names.get(instance, instance) for instance in entry.instances[:NAMED])
        more = f" and {len(entry.instances) - NAMED} more" if len(entry.instances) > NAMED else ""
        images = f" ({', '.join(entry.images)})" if entry.images else ""
        left.append(f"{len(entry.instances)} {entry.version}{images}: {some}{more}")
    if update.empty_slots:
        slots = "slot" if len(update.empty_slots) == 1 else "slots"
        left.append(f"nothing in {slots} {', '.join(map(str, update.empty_slots))}")
    return "; ".join(left) or "nothing"


def door_sentence(document: Document) -> str | None:
    """How soon the front door lets go, promised and measured; None where neither is known."""
    door = document.front_door
    if door.measured is None and door.predicted is None:
        return None
    what = " ".join(part for part in ("front door", door.service or door.mode or "") if part)
    what += f" (by {door.detects})" if door.detects else ""
    promised = (
        f"lets go within {door.predicted:g} s by its settings" if door.predicted is not None else "promises no time"
    )
    if door.measured is None:
        return f"{what}: {promised}; nothing was measured"
    stops = counted(door.instances, "instance")
    late = " (late)" if door.predicted is not None and door.measured > door.predicted else ""
    return f"{what}: {promised}; measured {door.measured:.2f} s at most, of {stops}{late}"


def story_lines(document: Document) -> list[str]:
    """The guard, the update and the front door, a line each, as far as there's something to say."""
    guard = f"stopped early by the run's own guard: {document.guard}" if document.guard else None
    return [line for line in (guard, update_sentence(document), door_sentence(document)) if line is not None]


def policy_lines(document: Document) -> list[str]:
    """The settings of the service under test without which a verdict is worth nothing, in a few words each."""
    stack = document.settings.get("stack")
    if not isinstance(stack, Mapping) or "order" not in stack:
        return []
    lines = [f"update {_policy(stack)}"]
    rollback = stack.get("rollback")
    if isinstance(rollback, Mapping) and rollback:
        lines.append(f"rollback {_policy(rollback)}")
    lines.append(_health(stack))
    delay = stack.get("restart_delay_seconds")
    if stack.get("restart_condition") is not None:
        lines.append(f"restart {stack['restart_condition']}" + (f" after {delay:g} s" if delay is not None else ""))
    return lines


def _policy(policy: Mapping[str, Any]) -> str:
    parts = [str(policy.get("order"))]
    if (parallelism := policy.get("parallelism")) is not None:
        parts.append(f"{parallelism} at a time" if parallelism else "all at a time")
    if policy.get("delay_seconds"):
        parts.append(f"delay {policy['delay_seconds']:g} s")
    if policy.get("monitor_seconds") is not None:
        parts.append(f"monitor {policy['monitor_seconds']:g} s")
    if policy.get("failure_action"):
        parts.append(f"on failure {policy['failure_action']}")
    return ", ".join(parts)


def _health(stack: Mapping[str, Any]) -> str:
    check = stack.get("healthcheck")
    if not isinstance(check, Mapping):
        return "no health check" + (" (switched off)" if stack.get("health_disabled") else " in the file")
    parts = []
    for name, words in (
        ("interval_seconds", "every {:g} s"),
        ("timeout_seconds", "time-out {:g} s"),
        ("retries", "{:g} retries"),
        ("start_period_seconds", "start period {:g} s"),
    ):
        if check.get(name):
            parts.append(words.format(check[name]))
    return "health check " + (", ".join(parts) or "with Docker's defaults")
