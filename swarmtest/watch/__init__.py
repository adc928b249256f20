"""Writes what happens on the engine into the trace: events, task states, names, logs, load.

Each source has a thread of its own, so that none waits for another. Nothing here decides anything:
the runner reads the newest view through :meth:`Watch.tasks`, everything else is for judging later.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from swarmtest.engine import Deployment, TaskView, UpdateView
from swarmtest.engine.client import Client, NotThere
from swarmtest.engine.labels import PROBE_SERVICE
from swarmtest.engine.load import LoadMeter
from swarmtest.engine.streams import ContainerEvent, EventStream, LogStream
from swarmtest.errors import EngineError
from swarmtest.events import TraceWriter
from swarmtest.watch.containers import Containers
from swarmtest.watch.logs import Follower

POLL_SECONDS = 0.08
"""Tasks are asked for this often; *announced* must be seen to 100 ms or better."""
SAMPLE_SECONDS = 0.5
REOPEN_SECONDS = 0.5
"""A broken event stream is taken up again this often."""
LOST_SECONDS = 10.0
"""An engine that hasn't answered for so long is lost."""


@dataclass(frozen=True, slots=True)
class Focus:
    """What's looked at more closely than the rest.

    Attributes:
        subject: the service under test.
        front: the proxy's service, whose log is read too.
        node: the node that we talk to; containers elsewhere are seen through their tasks alone.
        local: that node is this machine.
    """

    subject: str
    front: str | None = None
    node: str = ""
    local: bool = False


class Watch:
    """Follows one deployment from before it's deployed until :meth:`stop`.

    Arguments:
        client, deployment, trace: where to look, and where to write.
    """

    def __init__(self, client: Client, deployment: Deployment, trace: TraceWriter, focus: Focus) -> None:
        self._client, self._deployment, self._trace = client, deployment, trace
        self._subject, self._front, self._node = focus.subject, focus.front, focus.node
        self._meter = LoadMeter(client, local=focus.local)
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._followers: dict[str, Follower] = {}
        self._containers = Containers()
        self._tasks: tuple[TaskView, ...] = ()
        self._status = UpdateView(None, None, None, "")
        self._events: EventStream | None = None
        self._engine_lost: str | None = None

    def start(self) -> None:
        """Opens the event stream, then starts all threads."""
        self._events = EventStream(self._client, self._deployment.name, time.time() - 1)
        for work in (self._follow_events, self._poll, self._sample):
            thread = threading.Thread(target=self._guard, args=(work,), name=f"watch{work.__name__}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self, quiet_seconds: float = 0.4) -> None:
        """Reads the logs until they're quiet, then ends all threads; calling it twice does no harm."""
        if self._stopping.is_set():
            return
        deadline = time.monotonic() + 3.0
        while time.monotonic() < deadline and self._last_line_age() < quiet_seconds:
            time.sleep(0.05)
        self._stopping.set()
        if self._events is not None:
            self._events.close()
        with self._lock:
            followers = list(self._followers.values())
        for follower in followers:
            follower.end()
        for thread in self._threads:
            thread.join(timeout=3.0)

    def tasks(self) -> tuple[TaskView, ...]:
        """The tasks as last seen.

        Raises:
            EngineError: the engine hasn't answered for a while.
        """
        if self._engine_lost is not None:
            raise EngineError(self._engine_lost)
        return self._tasks

    def status(self) -> UpdateView:
        """``UpdateStatus`` of the service under test as last seen."""
        return self._status

    def has_exited(self, container: str) -> bool:
        """Whether the container's exit was seen, in the event stream or in the state of its task."""
        return container in self._containers.exited

    def signalled(self) -> dict[str, float]:
        """The containers that were sent a signal, whoever sent it, with the time of the first one."""
        return dict(self._containers.signalled)

    def unhealthy(self) -> set[str]:
        """The containers whose health check has failed, and that run on so far."""
        return set(self._containers.unhealthy)

    def said(self, container: str | None, line: str) -> int:
        """How many lines of this name an instance has written about itself."""
        return 0 if (follower := self._followers.get(container or "")) is None else follower.said[line]

    def last_lines(self, service: str, count: int = 5) -> list[str]:
        """The newest plain log lines of a service's containers, for messages to people."""
        with self._lock:
            followers = [item for item in self._followers.values() if item.service == service]
        return [line for item in followers for line in item.tail][-count:]

    def _last_line_age(self) -> float:
        with self._lock:
            return time.monotonic() - max((item.last for item in self._followers.values()), default=0.0)

    def _guard(self, work: Callable[[], None]) -> None:
        """Runs a thread's work; a bug in it ends the run instead of blinding it."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - whatever it is, the run must hear of it
            what = work.__name__.strip("_").replace("_", " ")
            self._engine_lost = f"swarmtest itself broke while it watched ({what}): {type(error).__name__}: {error}"
            self._trace.add("stream_broken", what=what, error=self._engine_lost)

    def _follow_events(self) -> None:
        """Takes events until the end; a stream that breaks is noted, and taken up again as soon as can be."""
        assert self._events is not None
        while not self._stopping.is_set():
            try:
                for event in self._events:
                    self._take_event(event)
                reason = "the engine ended the stream"
            except EngineError as error:
                reason = str(error)
            if not self._stopping.is_set():
                self._trace.add("stream_broken", what="engine events", error=reason)
            while not self._stopping.wait(REOPEN_SECONDS):
                try:
                    self._events.reopen()
                    break
                except EngineError:
                    continue

    def _take_event(self, event: ContainerEvent) -> None:
        self._trace.add("container", t=event.t, **event.fields)
        self._containers.take(event)
        if event.fields["action"] == "start":
            self._follow(event.fields["container"], event.fields["service"], None)

    def _follow(self, container: str, service: str, task: str | None) -> None:
        if service not in (self._subject, self._front, PROBE_SERVICE):
            return
        with self._lock:
            if container in self._followers:
                return
            log = LogStream(self._client, container if task is None else None, task)
            follower = Follower(self._trace, log, container, service)
            self._followers[container] = follower
        follower.thread.start()

    def _poll(self) -> None:
        """Tasks and update status, a line for each change, with the time of the poll before it."""
        seen: dict[str, TaskView] = {}
        last, failing_since = time.time(), None
        while not self._stopping.is_set():
            began = time.time()
            try:
                tasks = self._deployment.tasks()
                status = self._deployment.update_status(self._subject) if tasks else self._status
                failing_since = None
            except NotThere:  # somebody removes the stack, most likely we ourselves
                tasks, status, failing_since = [], self._status, None
            except EngineError as error:
                failing_since = failing_since or began
                if began - failing_since > LOST_SECONDS and self._engine_lost is None:
                    self._engine_lost = f"the engine went away in mid-run: {error}"
                    self._trace.add("stream_broken", what="engine", error=str(error))
                self._stopping.wait(0.5)
                continue
            self._note(tasks, status, seen, last)
            last = began
            self._stopping.wait(max(0.0, POLL_SECONDS - (time.time() - began)))

    def _note(self, tasks: list[TaskView], status: UpdateView, seen: dict[str, TaskView], last: float) -> None:
        now = time.time()
        for task in tasks:
            if seen.get(task.id) != task:
                seen[task.id] = task
                self._trace.add("task", t=now, since=last, **task.as_event())
                self._follow_task(task)
        self._tasks = tuple(tasks)
        if status != self._status:
            self._status = status
            self._trace.add(
                "update_status",
                t=now,
                since=last,
                service=self._subject,
                state=status.state,
                started=status.started,
                completed=status.completed,
                message=status.message,
            )

    def _follow_task(self, task: TaskView) -> None:
        """Makes up for events that weren't heard: those of other nodes, and those in the gap of a broken stream."""
        if task.container is None:
            return
        if task.state in ("complete", "shutdown", "failed"):
            self._containers.exited.add(task.container)
        elif task.state == "running":
            elsewhere = self._node not in ("", task.node)
            self._follow(task.container, task.service, task.id if elsewhere else None)

    def _sample(self) -> None:
        """Processor use and memory of each running instance, a few times a second."""
        before: dict[str, tuple[float, float]] = {}
        while not self._stopping.wait(SAMPLE_SECONDS):
            for task in self._tasks:
                if task.service != self._subject or task.state != "running" or task.container is None:
                    continue
                if self._node not in ("", task.node) or (load := self._meter.of(task.container)) is None:
                    continue
                now = time.time()
                if (past := before.get(task.container)) is not None:
                    cores = (load.cpu_seconds - past[1]) / max(now - past[0], 1e-6)
                    self._trace.add(
                        "sample", t=now, container=task.container, cpu=round(cores, 4), memory=load.memory_bytes
                    )
                before[task.container] = (now, load.cpu_seconds)
