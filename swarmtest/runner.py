"""One run, from deploy to removal, healed whatever happens.

Everything that's started goes on one ``ExitStack``, undo before do, and is undone in reverse order
however the run ends. The runner writes the trace and never sees a check.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from swarmtest.engine import EngineInfo, TaskView
from swarmtest.engine.client import Client, Refused
from swarmtest.engine.commands import deploy_stack
from swarmtest.engine.diagnosis import why_not_up
from swarmtest.engine.images import image_facts, local_only, make_missing
from swarmtest.engine.probe import probe_service
from swarmtest.engine.swarm import SwarmDeployment, override_file
from swarmtest.errors import EngineError, Interrupted, SwarmtestError, TrafficError, UsageError
from swarmtest.events import TRACE_VERSION, Event, TraceWriter
from swarmtest.frontdoor import Door, wait_until_open
from swarmtest.interrupts import Interrupts
from swarmtest.order import Order, plan_document, traffic_settings
from swarmtest.plan import Step
from swarmtest.preflight import examine
from swarmtest.store import RunFolder, new_run_folder
from swarmtest.traffic.process import TrafficProcess, write_targets
from swarmtest.watch import Focus, Watch, targets_of

WARM_UP_SECONDS = 2.0
SETTLE_SECONDS = 1.0
TARGETS_SECONDS = 0.05


@dataclass(slots=True)
class Run:
    """What a run that has begun consists of."""

    order: Order
    info: EngineInfo
    client: Client
    folder: RunFolder
    trace: TraceWriter
    deployment: SwarmDeployment
    watch: Watch
    url: str | None
    acts: int = 0


def run(
    order: Order, interrupts: Interrupts, listen: Callable[[Event], None]
) -> tuple[RunFolder, SwarmtestError | None]:
    """Carries out a plan; gives the run's folder, and what broke the run off, if anything did.

    Arguments:
        interrupts: entered by the caller; held while things are healed.
        listen: called with each event of the trace, such as a live view.

    Raises:
        UsageError: the stack can't be run here; nothing was deployed.
        EngineError: no engine answers; nothing was deployed.
        Interrupted: before anything was written.
    """
    client = Client()
    info = _fit_to_run(client, order)
    url, facts = _reachable(order, info), image_facts(client, order.stack)
    interrupts.hold()  # until the folder can be judged, whatever comes
    folder = new_run_folder(order.out, order.scenario_name, order.stack.file.stem, order.token, time.time())
    folder.write_plan(plan_document(order, folder.path.name, info, url, facts))
    broke: BaseException | None = None
    with TraceWriter(folder.events) as trace:
        trace.listen(listen)
        trace.add("trace", version=TRACE_VERSION, run=folder.path.name, offsets=_offsets(info))
        deployment = SwarmDeployment(client, order.name, say=lambda text: trace.add("note", text=text))
        focus = Focus(order.subject.name, order.brief.front_door.service, info.node, info.local)
        watch = Watch(client, deployment, trace, focus)
        work = Run(order, info, client, folder, trace, deployment, watch, url)
        try:
            with ExitStack() as undo:
                try:
                    interrupts.release()
                    _carry_out(work, undo)
                except BaseException as error:
                    broke = error
                    raise
                finally:
                    interrupts.hold()
                    trace.add("phase", name="remove", edge="began")
        except (Interrupted, SwarmtestError) as error:
            broke = _leading(broke, error)
        trace.add("phase", name="remove", edge="ended")
        _write_end(trace, broke, interrupts)
    folder.seal()
    return folder, broke if isinstance(broke, SwarmtestError) else None


def _leading(first: BaseException | None, last: Interrupted | SwarmtestError) -> BaseException:
    """The error to end with. One of healing comes last, and is told with the one that led to it."""
    if first is None or first is last or isinstance(first, Interrupted):
        return last
    first.add_note(f"what was begun couldn't be undone either: {last}")
    return first


def _write_end(trace: TraceWriter, broke: BaseException | None, interrupts: Interrupts) -> None:
    if isinstance(broke, Interrupted) or interrupts.caught:
        trace.add("ended", outcome="interrupted", error=interrupts.caught)
    else:
        trace.add("ended", outcome="failed" if broke else "finished", error=str(broke) if broke else None)


def _offsets(info: EngineInfo) -> dict[str, Any]:
    return {"engine": {"seconds": round(info.offset_seconds, 6), "error": round(info.offset_error_seconds, 6)}}


def _fit_to_run(client: Client, order: Order) -> EngineInfo:
    """Looks at everything that can be known before deploying; the first hindrance is raised."""
    info = client.info()
    if order.init_swarm and info.swarm == "inactive":
        client.post("/swarm/init", {"ListenAddr": "0.0.0.0:2377", "AdvertiseAddr": "127.0.0.1"})
        info = client.info()
    for finding in examine(client, info, order.stack, order.brief):
        if finding.state == "missing":
            raise finding.as_error()
    if SwarmDeployment(client, order.name).leftovers():
        raise UsageError(
            f"a stack named {order.name} is on the engine already, and isn't touched; choose another --name"
        )
    return info


def _reachable(order: Order, info: EngineInfo) -> str | None:
    """The address of the front door; a derived one is on the engine's host."""
    url = order.brief.url
    if url is None or order.brief.url_given:
        return url
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{info.host}:{parts.port}"))


def _carry_out(work: Run, undo: ExitStack) -> None:
    order, trace = work.order, work.trace
    if made := make_missing(work.client, order.stack, work.folder.path / "docker.log"):
        facts = image_facts(work.client, order.stack)
        work.folder.write_plan(plan_document(order, work.folder.path.name, work.info, work.url, facts))
        trace.add("note", text=f"made images: {', '.join(made)}")
    traffic = _start_traffic(work, undo)
    work.watch.start()
    undo.callback(work.watch.stop)
    _deploy(work, undo)
    _await_up(work)
    _await_door(work)
    traffic.wait_until_calibrated()
    traffic.go()
    traffic.wait_for("started", 30.0)
    try:
        _phase(work, "warmup", lambda: _hold(work, traffic, WARM_UP_SECONDS))
        for step in order.plan.steps:
            _phase(work, step.phase, lambda step=step: _take_step(work, traffic, step))  # type: ignore[misc]
        _phase(work, "settle", lambda: _hold(work, traffic, SETTLE_SECONDS))
    finally:
        traffic.stop()
    _await_answers(work, traffic)


def _start_traffic(work: Run, undo: ExitStack) -> TrafficProcess:
    """Starts the child early: it calibrates while the stack gets healthy."""
    folder, order = work.folder, work.order
    targets = folder.path / "targets.json" if order.brief.front_door.mode == "direct" else None
    if targets is not None:
        write_targets(targets, [])
    settings = traffic_settings(order, order.token, folder.requests, work.url, targets)

    def hear(message: Mapping[str, Any]) -> None:
        fields = dict(message)
        t = fields.pop("t", None)
        work.trace.add("traffic", t=t if isinstance(t, float) else None, **fields)

    traffic = TrafficProcess(settings, folder.path / "traffic.json", folder.path / "traffic.log", hear)
    undo.callback(traffic.kill)
    return traffic


def _deploy(work: Run, undo: ExitStack) -> None:
    order, name = work.order, work.order.name
    probe = probe_service(order.subject.image, order.subject.name)
    override = override_file(
        work.folder.path / "override.json",
        order.stack.source.tree,
        run=work.folder.path.name,
        service=order.subject.name,
        probe=probe,
    )
    resolve = "never" if work.info.nodes == 1 and local_only(work.client, order.stack) else "always"
    longest = max(service.grace_seconds for service in order.stack.services.values())
    undo.callback(_remove, work, longest + 90.0)
    work.trace.add("phase", name="deploy", edge="began")
    with _act(work.trace, id=0, name="deploy", target=name, settings={}):
        deploy_stack(name, [order.stack.file, override], resolve_image=resolve, log=work.folder.path / "docker.log")


@contextmanager
def _act(trace: TraceWriter, **fields: Any) -> Iterator[None]:
    """Writes both ends of an act. It failed where it was refused; otherwise nobody knows how far it came."""
    trace.add("act", edge="began", **fields)
    try:
        yield
    except BaseException as error:
        outcome = "failed" if isinstance(error, (Refused, UsageError)) else "unknown"
        trace.add("act", edge="ended", **fields, outcome=outcome, error=str(error))
        raise
    trace.add("act", edge="ended", **fields, outcome="ok", error=None)


def _remove(work: Run, timeout_seconds: float) -> None:
    try:
        work.deployment.remove(timeout_seconds)
    except EngineError as error:
        name = work.order.name
        raise EngineError(
            f"the stack {name} may still be on the engine: {error}; when it answers, `docker stack rm {name}`"
        ) from error


def _await_up(work: Run) -> None:
    """Waits until every service has its replicas running, which with a health check means healthy."""
    order = work.order
    deadline = time.monotonic() + order.brief.ready_seconds
    while True:
        tasks = work.watch.tasks()
        waiting = [
            service.name
            for service in order.stack.services.values()
            if service.mode == "replicated" and _up(tasks, service.name) < service.replicas
        ]
        if tasks and not waiting:
            work.trace.add("phase", name="deploy", edge="ended")
            return
        _refuse_hopeless(tasks)
        if time.monotonic() > deadline:
            why = "\n  ".join(why_not_up(work.client, name, tasks) for name in waiting)
            lines = [line for name in waiting for line in work.watch.last_lines(name)]
            said = ("\n  its last log lines:\n    " + "\n    ".join(lines)) if lines else ""
            raise UsageError(
                f"the stack didn't get healthy within {order.brief.ready_seconds:.0f} s"
                f" (`x-swarmtest: {{ready_within: …}}` to wait longer):\n  {why}{said}"
            )
        time.sleep(0.1)


def _up(tasks: tuple[TaskView, ...], service: str) -> int:
    return sum(task.service == service and task.up for task in tasks)


def _refuse_hopeless(tasks: tuple[TaskView, ...]) -> None:
    for task in tasks:
        if task.state == "rejected" and task.error and "no such image" in task.error.lower():
            raise UsageError(f"{task.service}: {task.error}; build or pull {task.image} on every node first")


def _await_door(work: Run) -> None:
    """Waits until the front door answers from all instances; without one, until each instance answers."""
    order = work.order
    kind = next((kind for kind in order.brief.kinds if kind.method == "GET"), None)
    path = kind.path.replace("{ms}", "1") if kind is not None else "/"
    if order.brief.front_door.mode == "direct":
        doors = {f"http://{target}": 1 for target in _write_targets(work)}
    else:
        assert work.url is not None
        doors = {work.url: order.subject.replicas}
    seen: set[str] = set()
    for url, instances in doors.items():
        seen |= wait_until_open(
            Door(url, path, order.brief.instance_header, instances),
            timeout_seconds=order.brief.ready_seconds,
            tick=lambda: (work.watch.tasks(), None)[1],
        )
    if not seen:
        work.trace.add(
            "note",
            text=f"no answer names its instance in {order.brief.instance_header}: losses can't be tied to instances;"
            " send the header (see docs/app-contract.md), or name another with --instance-header",
        )


def _phase(work: Run, name: str, body: Callable[[], None]) -> None:
    work.trace.add("phase", name=name, edge="began")
    body()
    work.trace.add("phase", name=name, edge="ended")


def _hold(work: Run, traffic: TrafficProcess, seconds: float) -> None:
    """Lets time pass under traffic; notices a dead child and a lost engine."""
    _until(work, traffic, lambda: False, time.monotonic() + seconds)


def _until(work: Run, traffic: TrafficProcess, done: Callable[[], bool], deadline: float) -> bool:
    """Waits for a condition or a deadline, whichever is first; says whether it was the condition."""
    while time.monotonic() < deadline:
        if done():
            return True
        if traffic.exit_code is not None:
            raise TrafficError(
                f"the traffic child ended in mid-run (exit code {traffic.exit_code});"
                f" see {work.folder.path / 'traffic.log'}"
            )
        if work.order.brief.front_door.mode == "direct":
            _write_targets(work)
        else:
            work.watch.tasks()
        time.sleep(TARGETS_SECONDS)
    return done()


def _write_targets(work: Run) -> list[str]:
    targets = targets_of(work.watch.tasks(), work.order.subject.name, lambda _node: work.info.host)
    path = work.folder.path / "targets.json"
    write_targets(path, targets)
    return targets


def _take_step(work: Run, traffic: TrafficProcess, step: Step) -> None:
    order = work.order
    if step.fault is None:
        _hold(work, traffic, step.seconds(order.brief.baseline_seconds))
        return
    subject = order.subject
    old = {task.container for task in work.watch.tasks() if task.service == subject.name and task.container and task.up}
    work.acts += 1
    number, began = work.acts, time.time() + work.info.offset_seconds  # by the engine's clock
    fields: dict[str, Any] = {
        "id": number,
        "name": step.fault.name,
        "target": subject.name,
        "settings": step.fault.settings(),
    }
    with ExitStack() as healing:
        with _act(work.trace, **fields):
            healing.enter_context(step.fault.during(work.deployment, subject.name))
        if step.hold_seconds is not None:
            _hold(work, traffic, step.hold_seconds)
        elif not _until(work, traffic, lambda: _steady(work, old, began), time.monotonic() + _patience(order)):
            work.trace.add("note", text=_still_going(work, old))


def _steady(work: Run, old: set[str], began: float) -> bool:
    """The update has come to an end of its own, all of the old containers have exited, all tasks are up."""
    status, tasks, subject = work.watch.status(), work.watch.tasks(), work.order.subject
    if status.state in (None, "updating", "rollback_started") or (status.started or 0.0) < began - 2.0:
        return False
    kept = {task.container for task in tasks if task.service == subject.name and task.up}
    gone = all(work.watch.has_exited(container) or container in kept for container in old)
    return gone and _up(tasks, subject.name) >= subject.replicas


def _patience(order: Order) -> float:
    """How long a rollout may take before it counts as stuck: the sum of all that the file allows for, and half more."""
    subject = order.subject
    policy = subject.update
    health = subject.health
    start = 15.0 + (health.start_period_seconds + health.interval_seconds * (health.retries + 1) if health else 0.0)
    batches = -(-subject.replicas // max(1, policy.parallelism or subject.replicas))
    each = start + min(subject.grace_seconds, 600.0) + 2.0 + policy.delay_seconds + policy.monitor_seconds
    return 30.0 + 1.5 * batches * each


def _still_going(work: Run, old: set[str]) -> str:
    status, subject = work.watch.status(), work.order.subject
    lives = [container[:12] for container in old if not work.watch.has_exited(container)]
    return (
        f"the rollout hadn't ended after {_patience(work.order):.0f} s: update status {status.state}"
        f" ({status.message}), old containers still there: {', '.join(lives) or 'none'};"
        f" {why_not_up(work.client, subject.name, work.watch.tasks())}"
    )


def _await_answers(work: Run, traffic: TrafficProcess) -> None:
    """Waits for the last answer; a request that outlasts its own time-out is recorded as still open."""
    patience = work.order.brief.timeout_seconds + 15.0
    try:
        code = traffic.wait(patience)
    except TrafficError:
        traffic.hurry()
        code = traffic.wait(10.0)
    if code != 0:
        raise TrafficError(f"the traffic child ended with {code}; see {work.folder.path / 'traffic.log'}")
