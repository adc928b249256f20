"""From a stack file to a deployment that serves, and back to nothing."""

from __future__ import annotations

import time
from contextlib import ExitStack

from swarmtest.engine import TaskView
from swarmtest.engine.commands import deploy_stack
from swarmtest.engine.diagnosis import why_not_up
from swarmtest.engine.images import local_only
from swarmtest.engine.override import override_file
from swarmtest.engine.probe import probe_service
from swarmtest.errors import EngineError, UsageError
from swarmtest.running import Run, list_targets, up
from swarmtest.running.acts import act
from swarmtest.running.frontdoor import Door, wait_until_open
from swarmtest.stack import Service


def deploy(work: Run, undo: ExitStack) -> None:
    """Deploys the stack with what a run adds to it; its removal is on ``undo`` before it\'s begun."""
    order, name = work.order, work.order.name
    probe = probe_service(order.subject.image, order.subject.name)
    override = override_file(
        work.folder.path / "override.json",
        order.stack.source.tree,
        run=work.folder.path.name,
        service=order.subject.name,
        probe=probe,
        subject_extra=order.deployed_with,
    )
    resolve = "never" if work.info.nodes == 1 and local_only(work.client, order.stack) else "always"
    longest = max(service.grace_seconds for service in order.stack.services.values())
    undo.callback(_remove, work, longest + 90.0)
    work.trace.add("phase", name="deploy", edge="began")
    with act(work.trace, id=0, name="deploy", target=name, settings={}):
        deploy_stack(name, [order.stack.file, override], resolve_image=resolve, log=work.folder.path / "docker.log")


def _remove(work: Run, timeout_seconds: float) -> None:
    try:
        work.deployment.remove(timeout_seconds)
    except EngineError as error:
        name = work.order.name
        raise EngineError(
            f"the stack {name} may still be on the engine: {error}; when it answers,"
            f" `swarmtest recover {work.folder.path}` removes it"
        ) from error


def _asked_for(service: Service, tasks: tuple[TaskView, ...], least: int) -> int:
    """How many instances are to be up; of a global service as many as Swarm has made, since no node may fit."""
    if service.mode == "replicated":
        return service.replicas
    return max(least, sum(task.service == service.name and task.desired == "running" for task in tasks))


def await_up(work: Run) -> None:
    """Waits until every service has its replicas running, which with a health check means healthy."""
    order = work.order
    deadline = time.monotonic() + order.brief.ready_seconds
    told: set[str] = set()
    while True:
        tasks = work.watch.tasks()
        waiting = [
            service.name
            for service in order.stack.services.values()
            if up(tasks, service.name) < _asked_for(service, tasks, least=int(service.name == order.subject.name))
        ]
        if tasks and not waiting:
            work.trace.add("phase", name="deploy", edge="ended")
            return
        _refuse_hopeless(tasks)
        _tell_of_ends(work, set(waiting) - told, tasks, told)
        if time.monotonic() > deadline:
            why = "\n  ".join(why_not_up(work.client, name, tasks) for name in waiting)
            lines = [line for name in waiting for line in work.watch.last_lines(name)]
            said = ("\n  its last log lines:\n    " + "\n    ".join(lines)) if lines else ""
            raise UsageError(
                f"the stack didn't get healthy within {order.brief.ready_seconds:.0f} s"
                f" (`x-swarmtest: {{ready_within: …}}` to wait longer):\n  {why}{said}"
            )
        time.sleep(0.1)


def _tell_of_ends(work: Run, services: set[str], tasks: tuple[TaskView, ...], told: set[str]) -> None:
    """Says why instances end instead of getting up, as soon as a second one has: it's long until the time is up."""
    for name in sorted(services):
        ended = [task for task in tasks if task.service == name and task.state in ("complete", "failed", "rejected")]
        if len(ended) > 1:
            told.add(name)
            newest = max(ended, key=lambda task: task.created)
            work.trace.add("note", text=f"{name} doesn't get up so far: {why_not_up(work.client, name, [newest])}")


def _refuse_hopeless(tasks: tuple[TaskView, ...]) -> None:
    for task in tasks:
        if task.state == "rejected" and task.error and "no such image" in task.error.lower():
            raise UsageError(f"{task.service}: {task.error}; build or pull {task.image} on every node first")


def await_door(work: Run) -> None:
    """Waits until the front door answers from all instances; without one, until each instance answers."""
    order = work.order
    kind = next((kind for kind in order.brief.kinds if kind.method == "GET" and not kind.is_stream), None)
    path = kind.path.replace("{ms}", "1") if kind is not None else "/"
    headers = next((kind.headers for kind in (kind, *order.brief.kinds) if kind is not None and kind.headers), None)
    if order.brief.front_door.mode == "direct":
        doors = {f"http://{target}": 1 for target in list_targets(work)}
    else:
        assert work.url is not None
        doors = {work.url: order.subject.replicas}
    seen: set[str] = set()
    for url, instances in doors.items():
        seen |= _await_one(work, Door(url, path, order.brief.instance_header, instances, headers or {}))
    if not seen:
        work.trace.add(
            "note",
            text=f"no answer names its instance in {order.brief.instance_header}: losses can't be tied to instances;"
            " send the header (see docs/app-contract.md), or name another with --instance-header",
        )


def _await_one(work: Run, door: Door) -> set[str]:
    """Waits for one door, and lets the trace tell for what, where it takes longer than a moment."""
    within, told = work.order.brief.ready_seconds, False

    def tell(last: str, spent: float) -> None:
        nonlocal told
        told = True
        seconds = round(spent, 1)
        work.trace.add("front_door", url=door.url, edge="waiting", last=last, seconds=seconds, within=within)

    seen = wait_until_open(door, timeout_seconds=within, tick=lambda: (work.watch.tasks(), None)[1], tell=tell)
    if told:
        work.trace.add("front_door", url=door.url, edge="open")
    return seen
