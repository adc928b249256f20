"""Folds the events of a run, as they are written, into a :class:`~swarmtest.reports.console.progress.Progress`.

It tolerates whatever a line may lack: a view is never a reason to end a run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from swarmtest.events import Event
from swarmtest.reports.console.progress import ENDED, RANKS, DoorNow, InstanceNow, News, Progress, full_name

SIGKILL = 9
UPDATES = ("update", "release", "rollback", "unhealthy", "crash")
"""Acts from which on what's there is old, and what comes is new."""
TASK_STATES = {
    "new": "pending",
    "pending": "pending",
    "assigned": "pending",
    "accepted": "pending",
    "preparing": "starting",
    "ready": "starting",
    "starting": "starting",
    "running": "running",
    "complete": "exited",
    "shutdown": "exited",
    "failed": "failed",
    "rejected": "failed",
    "orphaned": "failed",
}
"""What Swarm calls the state of a task, in the words of the view. A task with a health check runs once it's healthy."""


def feed(progress: Progress, event: Event) -> list[News]:
    """Takes an event in; gives back what's worth a line."""
    if progress.began is None:
        progress.began = event.t
    handler = HANDLERS.get(event.kind)
    return handler(progress, event) if handler else []


def _move(instance: InstanceNow | None, state: str, t: float, note: str = "") -> list[News]:
    if instance is None or instance.state in ENDED or instance.state == state:
        return []
    if RANKS[state] < RANKS[instance.state]:
        return []
    instance.state, instance.since, instance.note = state, t, note or instance.note
    return [News(t, f"{full_name(instance)} {state}" + (f" ({note})" if note else ""))]


def _of_container(progress: Progress, event: Event) -> InstanceNow | None:
    task = event.get("task") or progress.tasks.get(str(event.get("container")))
    return progress.instances.get(str(task))


def _phase(progress: Progress, event: Event) -> list[News]:
    name, edge = str(event.get("name")), event.get("edge")
    if edge == "began":
        progress.phase, progress.phase_began, progress.door = name, event.t, None
        planned = progress.expected.get(name)
        return [News(event.t, f"{name} began" + (f", {planned:g} s planned" if planned else ""), phase=True)]
    news = [News(event.t, f"{name} ended after {event.t - progress.phase_began:.1f} s", phase=True)]
    if progress.phase == name:
        progress.phase = None
    return news


def _act(progress: Progress, event: Event) -> list[News]:
    name, edge = str(event.get("name")), event.get("edge")
    what = " ".join(part for part in (name.replace("_", " "), _whom(progress, event)) if part)
    if edge == "skipped":
        return [News(event.t, f"{what} skipped: {event.get('reason')}", phase=True)]
    if edge == "began":
        if name in UPDATES:
            progress.updating = str(event.get("target") or progress.service)
            for instance in progress.instances.values():
                if instance.service == progress.updating:
                    instance.generation = "old"
        return [News(event.t, f"{what} begun")]
    error = event.get("error")
    return [News(event.t, f"{what} ended: {event.get('outcome')}" + (f", {error}" if error else ""))]


def _whom(progress: Progress, event: Event) -> str:
    """The instances that an act hurts, or the service."""
    tasks = [str(named.get("task")) for named in event.get("instances") or ()]
    known = [full_name(progress.instances[task]) for task in tasks if task in progress.instances]
    return ", ".join(known) or str(event.get("target") or "")


def _task(progress: Progress, event: Event) -> list[News]:
    service = str(event.get("service"))
    if not event.get("task") or (progress.service and service != progress.service):
        return []
    task = str(event.get("task"))
    instance = progress.instances.get(task)
    if instance is None:
        slot = event.get("slot")
        label = f"{service}.{slot if slot is not None else task[:6]}"
        generation = "new" if service == progress.updating else ""
        instance = InstanceNow(task, service, label, generation, since=event.t)
        progress.instances[task] = instance
    if event.get("container"):
        progress.tasks[str(event.get("container"))] = task
    instance.addresses = tuple(event.get("addresses") or instance.addresses)
    state = TASK_STATES.get(str(event.get("state")), instance.state)
    note = str(event.get("error") or "") if state in ENDED else ""
    news = _move(instance, state, event.t, note)
    if event.get("desired") in ("shutdown", "remove"):
        news += _move(instance, "announced", event.t)
    return news


def _container(progress: Progress, event: Event) -> list[News]:
    instance, action = _of_container(progress, event), event.get("action")
    if action == "health_status" and event.get("health") in ("healthy", "unhealthy"):
        return _move(instance, str(event.get("health")), event.t)
    if action == "kill" and event.get("signal") == SIGKILL:
        return _move(instance, "killed", event.t)
    if action == "kill":
        return _move(instance, "signalled", event.t)
    if action == "oom" and instance is not None:
        return [News(event.t, f"{full_name(instance)} out of memory")]
    if action == "die":
        return _move(instance, "exited", event.t, f"exit code {event.get('exit_code')}")
    return []


def _names(progress: Progress, event: Event) -> list[News]:
    now = tuple(event.get("addresses") or ())
    gone = set(progress.names) - set(now)
    progress.names = now
    news: list[News] = []
    for instance in progress.instances.values():
        if gone.intersection(instance.addresses):
            news += _move(instance, "announced", event.t)
    return news


def _update_status(progress: Progress, event: Event) -> list[News]:
    state = event.get("state")
    if state == progress.update_status or event.get("service") not in (progress.service, progress.updating):
        return []
    progress.update_status = None if state is None else str(state)
    message = event.get("message")
    return [News(event.t, f"Swarm: update {state}" + (f", {message}" if message else ""))] if state else []


def _traffic(progress: Progress, event: Event) -> list[News]:
    kind, before = event.get("event"), progress.traffic
    if client := event.get("client"):
        return _burst(event, str(client))
    if kind in ("tick", "stopped"):
        seconds = event.t - float(before.get("t", event.t))
        if seconds > 0:
            progress.rate = (int(event.get("sent", 0)) - int(before.get("sent", 0))) / seconds
        progress.traffic = {**event.data, "t": event.t}
    match kind:
        case "calibrated":
            return [News(event.t, "traffic: calibrated" if event.get("ok") else "traffic: calibration failed")]
        case "started":
            return [News(event.t, "traffic: started")]
        case "stopped":
            return [News(event.t, f"traffic: stopped, {progress.counts()}")]
        case _:
            return []


def _burst(event: Event, client: str) -> list[News]:
    """A word of a client beside the steady one: when it begins, and what it had sent at its end."""
    match event.get("event"):
        case "started":
            return [News(event.t, f"traffic: {client} started")]
        case "stopped":
            return [News(event.t, f"traffic: {client} stopped, {int(event.get('sent') or 0):,} sent")]
        case _:
            return []


def _front_door(progress: Progress, event: Event) -> list[News]:
    """What the front door last answered, while it's waited for; a line of it comes with the next tick."""
    if event.get("edge") != "waiting":
        progress.door = None
        return []
    since = event.t - float(event.get("seconds") or 0.0)
    progress.door = DoorNow(str(event.get("url")), str(event.get("last")), since, float(event.get("within") or 0.0))
    return []


def _guard(_: Progress, event: Event) -> list[News]:
    by = "" if event.get("name") == "limit" else f" by {event.get('name')}"
    return [News(event.t, f"stopped{by}: {event.get('text')}", phase=True)]


def _note(_: Progress, event: Event) -> list[News]:
    return [News(event.t, str(event.get("text")), phase=True)] if event.get("text") else []


def _stream_broken(_: Progress, event: Event) -> list[News]:
    return [News(event.t, f"lost sight of {event.get('what')}: {event.get('error')}", phase=True)]


def _ended(progress: Progress, event: Event) -> list[News]:
    progress.phase, progress.ended = None, str(event.get("outcome"))
    error = event.get("error")
    return [News(event.t, f"run {progress.ended}" + (f": {error}" if error else ""), phase=True)]


HANDLERS: Mapping[str, Callable[[Progress, Event], list[News]]] = {
    "phase": _phase,
    "act": _act,
    "task": _task,
    "container": _container,
    "names": _names,
    "update_status": _update_status,
    "traffic": _traffic,
    "front_door": _front_door,
    "guard": _guard,
    "note": _note,
    "stream_broken": _stream_broken,
    "ended": _ended,
}
