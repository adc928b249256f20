"""One run, from deploy to removal, healed whatever happens.

Everything that's started goes on one ``ExitStack``, undo before do, and is undone in reverse order
however the run ends. The runner writes the trace and never sees a check.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from swarmtest.engine import EngineInfo
from swarmtest.engine.client import Client
from swarmtest.engine.images import image_facts, make_missing, pull_released
from swarmtest.engine.swarm import SwarmDeployment
from swarmtest.errors import Interrupted, SwarmtestError, UsageError
from swarmtest.events import TRACE_VERSION, Event, TraceWriter
from swarmtest.interrupts import Interrupts
from swarmtest.running import Run, phase
from swarmtest.running.clients import await_answers, start_client
from swarmtest.running.deploying import await_door, await_up, deploy
from swarmtest.running.finding import Finding
from swarmtest.running.guard import LossGuard
from swarmtest.running.hazards import hazards, released_images
from swarmtest.running.limit_guard import LimitGuard, minded
from swarmtest.running.order import Order, plan_document
from swarmtest.running.preflight import examine
from swarmtest.running.steps import hold, take_step, until
from swarmtest.running.stopping import GuardTripped, await_rolled_back, mind
from swarmtest.stack.block.kinds import seconds_to_send
from swarmtest.store import RunFolder, new_run_folder
from swarmtest.traffic.process import TrafficProcess
from swarmtest.watch import Focus, Watch

WARM_UP_SECONDS = 2.0

SETTLE_SECONDS = 1.0


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
    info, warnings = _fit_to_run(client, order)
    url, facts = _reachable(order, info), image_facts(client, order.stack)
    interrupts.hold()  # until the folder can be judged, whatever comes
    folder = new_run_folder(order.out, order.scenario_name, order.stack.file.stem, order.token, time.time())
    folder.write_plan(plan_document(order, folder.path.name, info, url, facts))
    broke: BaseException | None = None
    with TraceWriter(folder.events) as trace:
        trace.listen(listen)
        trace.add("trace", version=TRACE_VERSION, run=folder.path.name, offsets=_offsets(info), locked=trace.locked)
        for text in [
            *order.beforehand,
            *(f"traffic: {word}" for word in order.brief.traffic_words),
            *map("limit {}".format, order.not_asked),
        ]:
            trace.add("note", text=text)
        for warning in warnings:
            trace.add("note", text=f"{warning.subject}: {warning.text}; {warning.advice}")
        deployment = SwarmDeployment(client, order.name, say=lambda text: trace.add("note", text=text))
        focus = Focus(order.subject.name, order.brief.front_door.service, info.node, info.local)
        watch = Watch(client, deployment, trace, focus)
        limits = LimitGuard(minded(order.limits, order.kind), folder.requests)
        trace.listen(limits.phases.hear)
        guard = LossGuard(order.stop_at)
        work = Run(order, info, client, folder, trace, deployment, watch, url, guard=guard, limits=limits)
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


def _fit_to_run(client: Client, order: Order) -> tuple[EngineInfo, list[Finding]]:
    """Looks at all that can be known before deploying: the first hindrance is raised, the plan's hazards are given."""
    info = client.info()
    if order.init_swarm and info.swarm == "inactive":
        client.post("/swarm/init", {"ListenAddr": "0.0.0.0:2377", "AdvertiseAddr": "127.0.0.1"})
        info = client.info()
    risks = hazards(client, info, order)
    for finding in [*examine(client, info, order.stack, order.brief), *risks]:
        if finding.state == "missing":
            raise finding.as_error()
    if SwarmDeployment(client, order.name).leftovers():
        raise UsageError(
            f"a stack named {order.name} is on the engine already, and isn't touched; choose another --name,"
            " or `swarmtest recover` if a run that was killed left it"
        )
    return info, risks


def _reachable(order: Order, info: EngineInfo) -> str | None:
    """The address of the front door; a derived one is on the engine's host."""
    url = order.brief.url
    if url is None or order.brief.url_given:
        return url
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{_bracketed(info.host)}:{parts.port}"))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _carry_out(work: Run, undo: ExitStack) -> None:
    order, trace = work.order, work.trace
    log = work.folder.path / "docker.log"
    for image, problem in pull_released(work.client, released_images(order.plan), log).items():
        came = f"couldn't be pulled, so its tasks will be rejected: {problem}" if problem else "was pulled"
        trace.add("note", text=f"{image}, which is to be released, wasn't here and {came}")
    if made := make_missing(work.client, order.stack, log):
        facts = image_facts(work.client, order.stack)
        work.folder.write_plan(plan_document(order, work.folder.path.name, work.info, work.url, facts))
        trace.add("note", text=f"made images: {', '.join(made)}")
    traffic = start_client(work, undo)  # early: it calibrates while the stack gets healthy
    work.watch.start()
    undo.callback(work.watch.stop)
    deploy(work, undo)
    await_up(work)
    await_door(work)
    traffic.wait_until_calibrated()
    traffic.go()
    traffic.wait_for("started", 30.0)
    all_sent = time.monotonic() + seconds_to_send(order.brief.kinds)
    try:
        _take_steps(work, traffic)
        phase(work, "settle", lambda: hold(work, traffic, max(SETTLE_SECONDS, all_sent - time.monotonic())))
    finally:
        traffic.stop()
    await_answers(work, traffic)


def _take_steps(work: Run, traffic: TrafficProcess) -> None:
    """All steps of the plan, unless too much is lost meanwhile."""
    try:
        with work.ticking(lambda: mind(work)):
            phase(work, "warmup", lambda: hold(work, traffic, WARM_UP_SECONDS))
            for step in work.order.plan.steps:
                phase(work, step.phase, lambda step=step: take_step(work, traffic, step))  # type: ignore[misc]
    except GuardTripped:
        await_rolled_back(work, lambda done, deadline: until(work, traffic, done, deadline))
