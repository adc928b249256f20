"""A rollout made of numbers: what a trace of one would hold, with whatever is to go wrong in it.

It's the mechanism in small: instances that start, get ready, are announced, signalled, close and
exit, and requests that run on them and are cut when they go. Tests change the numbers and look at
what the judging side makes of them.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import msgspec

from swarmtest.checks import Judged, Verdict, find_check
from swarmtest.events import Event
from swarmtest.judge import conclude, read_requests, see
from swarmtest.judge.beside import Beside, read_connections, read_streams
from swarmtest.reports import Document

T0 = 1_000_000.0
CHECKS = (
    "answered_every_request",
    "replaced_every_instance",
    "exited_within_grace",
    "drained_before_exit",
    "front_door_let_go_in_time",
    "nothing_arrived_after_close",
    "new_served_only_when_ready",
    "kept_capacity",
    "delivered_the_traffic",
    "exercised_every_instance",
    "ids_on_every_record",
    "handled_each_request_once",
)


_SEEN: OrderedDict[bytes, Judged] = OrderedDict()
"""What checks are given of the last few runs; many tests begin with the same one, and nobody changes it."""


@dataclass
class Life:
    """One instance in seconds from T0; None is what didn't happen, or wasn't seen."""

    task: str
    slot: int
    number: int
    created: float
    started: float
    healthy: float | None
    warm: float | None
    announced: float | None = None
    desired: float | None = None
    signalled: float | None = None
    signal: int = 15
    unready: float | None = None
    closed: float | None = None
    killed: float | None = None
    exited: float | None = None
    exit_code: int = 0
    logs: bool = True
    log_complete: bool = True
    let_go: float | None = None
    state_error: str | None = None
    frozen: tuple[float, float] | None = None
    address_of: Life | None = None

    @property
    def container(self) -> str:
        return f"{self.number:02d}".encode().hex().ljust(64, "a")

    @property
    def address(self) -> str:
        return f"10.0.1.{10 + self.number}" if self.address_of is None else self.address_of.address

    @property
    def port(self) -> int:
        return 32000 + self.number

    @property
    def gone(self) -> float | None:
        """When it's out of DNS: when it's announced, else with its end."""
        return self.announced if self.announced is not None or self.exited is None else self.exited + 0.05

    def takes(self, t: float) -> bool:
        """Whether the front door sends it new requests at a time."""
        ready = max(self.healthy if self.healthy is not None else self.started, self.warm or -1e9)
        if self.frozen is not None and self.let_go is not None and t >= self.frozen[1] + 1.0:
            return True  # it's back
        until = self.let_go if self.let_go is not None else (self.announced or 1e9) + 0.2
        return ready + 0.2 <= t < until


@dataclass
class Sent:
    """One request in seconds from T0, with the lines that its instance wrote, and what else they say."""

    fields: dict[str, Any]
    on: Life | None = None
    steps: dict[str, float] = field(default_factory=dict)
    proxied: dict[str, Any] | None = None
    words: dict[str, dict[str, Any]] = field(default_factory=dict)


def _as_line(t: float, kind: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"t": T0 + t, "kind": kind, **data}


class Rollout:
    """A start-first rollout of some replicas that loses nothing, until a test changes it."""

    def __init__(self, replicas: int = 3, *, front_door: str = "proxy", update: bool = True) -> None:
        self.replicas, self.front_door, self.update = replicas, front_door, update
        self.old = [self._old(i) for i in range(replicas)]
        self.new = [self._new(i) for i in range(replicas)] if update else []
        if not update:
            for life in self.old:
                life.announced = life.desired = life.signalled = life.unready = life.closed = life.exited = None
        self.ends = max((life.exited or 0.0) for life in self.old) + 5.0 if update else 10.0
        self.rates = {"short": 5.0, "long": 2.0}
        self.sent: list[Sent] = []
        self.streams: list[dict[str, Any]] = []
        self.connections: list[dict[str, Any]] = []
        self.extra: list[tuple[float, str, dict[str, Any]]] = []
        self.status: list[tuple[float, str]] = [(0.2, "updating"), (self.ends - 2.0, "completed")] if update else []
        self.outcome: str | None = "finished"
        self.traffic: dict[str, Any] = {"cpu_share_max": 0.2, "late_ms_p99": 3.0}
        self.calibrated: bool | None = True
        self.watches_names = True
        self.offsets: dict[str, Any] = {"n1": {"seconds": 0.0, "error": 0.001}}
        self.plan = self._plan()
        self._dropped: list[Callable[[dict[str, Any]], bool]] = []
        self._generated = False

    # ------------------------------------------------------------------ what tests change

    @property
    def lives(self) -> list[Life]:
        return [*self.old, *self.new]

    def at(self, short: float, long: float) -> Rollout:
        """Sends so many requests of each kind a second; few are sent unless a test counts on more."""
        self.rates = {"short": short, "long": long}
        for kind in self.plan["traffic"]["kinds"]:
            kind["rate"] = self.rates[kind["name"]]
        return self

    def drop(self, predicate: Callable[[dict[str, Any]], bool]) -> Rollout:
        """Takes events out of the trace, as if nobody had seen them."""
        self._dropped.append(predicate)
        return self

    def event(self, t: float, kind: str, **data: Any) -> Rollout:
        """Adds an event."""
        self.extra.append((t, kind, data))
        return self

    def request(self, name: str, at: float, until: float, on: Life | None = None, **fields: Any) -> Sent:
        """Adds a request that's answered well unless ``fields`` say otherwise; the caller adds steps."""
        target = "127.0.0.1:8080" if self.front_door != "direct" or on is None else f"10.9.9.9:{on.port}"
        base = {
            "id": name,
            "kind": "short",
            "method": "POST",
            "path": "/work",
            "connection": "c1",
            "reused": False,
            "target": target,
            "planned": T0 + at,
            "sent": T0 + at,
            "first_byte": T0 + until,
            "done": T0 + until,
            "status": 200,
            "bytes_sent": 100,
            "bytes_received": 20,
            "instance": on.task if on is not None else None,
            "echoed": True if on is not None else None,
            "framing": "length",
            "client_outcome": "complete",
        }
        one = Sent({**base, **fields}, on)
        self.sent.append(one)
        return one

    def served(self, name: str, at: float, until: float, on: Life, **fields: Any) -> Sent:
        """Adds a request that's served to its end, with all its lines."""
        one = self.request(name, at, until, on, **fields)
        one.steps = {"start": at + 0.002, "intent": until - 0.01, "commit": until - 0.006, "finish": until - 0.002}
        return one

    def unanswered(self, name: str, at: float, until: float, on: Life | None = None, **fields: Any) -> Sent:
        """Adds a request whose connection was closed without an answer."""
        none = {"status": None, "instance": None, "echoed": None, "framing": None, "first_byte": None}
        return self.request(name, at, until, on, **{**none, "client_outcome": "closed_unanswered", **fields})

    def bad_gateway(self, name: str, at: float, until: float, dialled: Life | None, **fields: Any) -> Sent:
        """Adds a request that the proxy answered itself, with its line."""
        status = fields.pop("status", 502)
        one = self.request(name, at, until, None, status=status, **fields)
        server = f"{dialled.address}:8000" if dialled is not None else "-"
        one.proxied = {"status": status, "server": server, "connected": False, "termination": "SC--", "duration_ms": 2}
        return one

    # ------------------------------------------------------------------ what tests get

    def beside(self) -> Beside:
        """Records that are no requests."""
        return Beside(tuple(read_streams(self.streams)), tuple(read_connections(self.connections)))

    def judged(self) -> Judged:
        events, requests = self.events(), self.requests()
        written = msgspec.json.encode((self.plan, events, requests, self.streams, self.connections))
        if written not in _SEEN:
            _SEEN[written] = see(deepcopy(self.plan), events, read_requests(requests), self.beside())
            if len(_SEEN) > 8:
                _SEEN.popitem(last=False)
        return _SEEN[written]

    def verdict(self, check: str) -> Verdict:
        return find_check(check)(self.judged())

    def document(self) -> Document:
        return conclude(self.judged())

    def requests(self) -> list[dict[str, Any]]:
        self._generate()
        return [one.fields for one in self.sent]

    def events(self) -> list[Event]:
        self._generate()
        found = [*self._head(), *self.extra]
        for life in self.lives:
            found += self._life(life)
        found += (*self._names(), *self._lines(), *self._tail())
        kept = [one for one in found if not any(drop(_as_line(*one)) for drop in self._dropped)]
        return [
            Event(T0 + t, kind, data) for t, kind, data in sorted(kept, key=lambda one: (one[0], one[1] == "ended"))
        ]

    # ------------------------------------------------------------------ how it's made

    def _old(self, i: int) -> Life:
        announced = 3.0 + 5.0 * i
        signalled = announced + 2.0
        return Life(
            task=f"oldtask{i + 1}".ljust(25, "o"),
            slot=i + 1,
            number=i + 1,
            created=-30.0,
            started=-29.0,
            healthy=-26.0,
            warm=-27.0,
            announced=announced,
            desired=announced - 0.05,
            signalled=signalled,
            unready=signalled,
            closed=signalled + 2.0,
            exited=signalled + 3.5,
        )

    def _new(self, i: int) -> Life:
        healthy = self.old[i].announced - 0.3  # type: ignore[operator]
        return Life(
            task=f"newtask{i + 1}".ljust(25, "n"),
            slot=i + 1,
            number=11 + i,
            created=healthy - 2.0,
            started=healthy - 1.8,
            healthy=healthy,
            warm=healthy - 0.5,
        )

    def _plan(self) -> dict[str, Any]:
        steps: list[dict[str, Any]] = [{"phase": "baseline", "seconds": 8}]
        if self.update:
            steps.append({"phase": "rollout", "fault": "update", "settings": {"force": True}})
        return {
            "version": 1,
            "run": "20261129T221500Z-rolling-ab12",
            "scenario": "rolling" if self.update else "baseline",
            "seed": 42,
            "stack": {
                "file": "stacks/api.yml",
                "name": "st-ab12",
                "service": "api",
                "replicas": self.replicas,
                "order": "start-first",
                "parallelism": 1,
                "grace_seconds": 30,
                "stop_signal": None,
                "healthcheck": {"test": ["CMD", "/app/healthy"]},
            },
            "front_door": {"mode": self.front_door, "service": "edge", "detects": "dns", "within_seconds": 1.0},
            "instance_header": "X-Instance-ID",
            "request_id_header": "X-Request-ID",
            "traffic": {
                "timeout_seconds": 30,
                "fresh_share": 0.5,
                "longest_request_seconds": 4.5,
                "kinds": [
                    {"name": "short", "rate": 5.0, "milliseconds": [100, 100]},
                    {"name": "long", "rate": 2.0, "milliseconds": [4500, 4500]},
                ],
            },
            "engine": {"version": "20.10.24"},
            "steps": steps,
            "checks": list(CHECKS),
        }

    def _generate(self) -> None:
        """The steady traffic: each request runs on one of the instances that take any, and ends with it."""
        if self._generated:
            return
        self._generated = True
        chance = random.Random(7)
        for kind, seconds in (("short", 0.1), ("long", 4.5)):
            count = int((self.ends + 8.0) * self.rates[kind])
            for n in range(count):
                at = -8.0 + n / self.rates[kind] + 0.01
                if not (taking := [life for life in self.lives if life.takes(at)]):
                    self.bad_gateway(f"{kind}-{n}", at, at + 0.01, None, status=503, kind=kind, reused=n % 2 == 0)
                    continue
                life = taking[chance.randrange(len(taking))]
                self._run(f"{kind}-{n}", at, seconds, life, {"kind": kind, "reused": n % 2 == 0})

    def _run(self, name: str, at: float, seconds: float, life: Life, fields: dict[str, Any]) -> None:
        end = life.killed if life.killed is not None else life.exited
        if life.frozen is not None and at < life.frozen[1] and at + seconds > life.frozen[0]:
            self._stalled(name, at, seconds, life, fields)
            return
        if end is not None and at >= end:
            self.bad_gateway(name, at, at + 0.004, life, status=503, **fields)
            return
        if end is None or at + seconds < end:
            self.served(name, at, at + seconds, life, **fields)
            return
        one = self.unanswered(name, at, end + 0.001, **fields)
        one.steps, one.on = {"start": at + 0.002}, life

    def _stalled(self, name: str, at: float, seconds: float, life: Life, fields: dict[str, Any]) -> None:
        """A request that stands still with its instance: it's late, or the client gives up before."""
        assert life.frozen is not None
        began, ended = life.frozen
        start = at + 0.002 if at < began else ended + 0.01
        if life.exited is not None and life.exited <= ended:  # it never went on
            one = self.unanswered(name, at, life.exited + 0.001, **fields)
            one.steps, one.on = {"start": start} if at < began else {}, life
            return
        until = ended + seconds - max(0.0, began - at) + 0.02
        patience = float(self.plan["traffic"]["timeout_seconds"])
        steps = {"start": start, "intent": until - 0.01, "commit": until - 0.006, "finish": until - 0.002}
        if until - at <= patience:
            self.request(name, at, until, life, **fields).steps = steps
            return
        one = self.unanswered(name, at, at + patience, client_outcome="timed_out", **fields)
        one.steps, one.on = steps, life
        if self.front_door == "proxy":
            one.proxied = {"status": None, "server": f"{life.address}:8000", "connected": True, "termination": "CH--"}
            one.proxied["duration_ms"] = patience * 1000

    def act(self, number: int, name: str, at: float, lives: Iterable[Life] = (), **fields: Any) -> Rollout:
        """Adds an act that hurts these instances (none: the whole service), and takes a tenth of a second."""
        named = [{"task": life.task, "container": life.container, "slot": life.slot, "node": "n1"} for life in lives]
        outcome, error = fields.pop("outcome", "ok"), fields.pop("error", None)
        both = {"id": number, "name": name, "target": "api", "settings": {}, "instances": named, "before": {}}
        both |= {"prepares": False, "lasting": name in ("freeze", "scale", "switch_off"), **fields}
        self.event(at, "act", edge="began", **both)
        return self.event(at + 0.1, "act", edge="ended", outcome=outcome, error=error, **both)

    def heals(self, number: int, of: int, at: float, lives: Iterable[Life] = ()) -> Rollout:
        """Adds the healing of an act."""
        return self.act(number, "heal", at, lives, heals=of, lasting=False)

    def _head(self) -> Iterator[tuple[float, str, dict[str, Any]]]:
        yield -60.0, "trace", {"version": 1, "run": self.plan["run"], "offsets": self.offsets}
        yield -40.0, "phase", {"name": "deploy", "edge": "began"}
        yield -8.0, "phase", {"name": "baseline", "edge": "began"}
        if self.calibrated is not None:
            yield -9.0, "traffic", {"event": "calibrated", "ok": self.calibrated, "expected": {}, "counted": {}}
        yield -8.0, "traffic", {"event": "started"}
        if self.update:
            yield 0.0, "act", {"id": 1, "name": "update", "edge": "began", "target": "api", "settings": {"force": True}}
            yield 0.1, "act", {"id": 1, "name": "update", "edge": "ended", "outcome": "ok", "error": None}
        for t, state in self.status:
            done = T0 + t if state == "completed" else None
            message = f"update {state}"
            yield (
                t,
                "update_status",
                {
                    "since": T0 + t - 0.1,
                    "service": "api",
                    "state": state,
                    "started": T0 + 0.05,
                    "completed": done,
                    "message": message,
                },
            )

    def _tail(self) -> Iterator[tuple[float, str, dict[str, Any]]]:
        end = self.ends + 4.0
        if "sent" not in self.traffic:
            self.traffic["sent"] = len(self.sent)
        yield end, "traffic", {"event": "stopped", **self.traffic}
        yield end + 0.5, "phase", {"name": "remove", "edge": "began"}
        for life in self.lives:
            if life.logs:
                data = {"container": life.container, "service": "api", "edge": "ended", "lines": 1, "reason": None}
                yield end + 1.0, "log_stream", {**data, "complete": life.log_complete}
        yield end + 2.0, "phase", {"name": "remove", "edge": "ended"}
        if self.outcome is not None:
            yield end + 3.0, "ended", {"outcome": self.outcome, "error": None}

    def _life(self, life: Life) -> Iterator[tuple[float, str, dict[str, Any]]]:
        task = {"task": life.task, "service": "api", "slot": life.slot, "node": "n1", "grace_seconds": self._grace()}
        task |= {"addresses": [f"{life.address}/24"], "created": T0 + life.created, "container": life.container}
        if self.front_door == "direct":
            task["host_ports"] = {"8000": life.port}
        box = {"container": life.container, "service": "api", "task": life.task, "slot": life.slot, "node": "n1"}
        box["name"] = f"st-ab12_api.{life.slot}.{life.task}"
        states: list[tuple[float, str, str, str | None]] = [(life.started, "running", "starting", None)]
        if life.healthy is not None:
            states.append((life.healthy, "running", "running", None))
            yield life.healthy, "container", {**box, "action": "health_status", "health": "healthy"}
        yield life.started, "container", {**box, "action": "start"}
        if life.desired is not None:
            states.append((life.desired, "shutdown", "running", None))
        for t, action in zip(life.frozen or (), ("pause", "unpause"), strict=False):
            yield t, "container", {**box, "action": action}
        if life.signalled is not None:
            yield life.signalled, "container", {**box, "action": "kill", "signal": life.signal}
        if life.killed is not None:
            yield life.killed, "container", {**box, "action": "kill", "signal": 9}
        if life.exited is not None:
            yield life.exited, "container", {**box, "action": "die", "exit_code": life.exit_code}
            ended = "failed" if life.state_error else "shutdown"
            states.append((life.exited + 0.1, "shutdown", ended, life.state_error))
        for t, desired, state, error in states:
            yield t, "task", {**task, "since": T0 + t - 0.1, "desired": desired, "state": state, "error": error}

    def _grace(self) -> float:
        return float(self.plan["stack"]["grace_seconds"])

    def _names(self) -> Iterator[tuple[float, str, dict[str, Any]]]:
        if not self.watches_names:
            return
        changes = sorted(
            {life.healthy for life in self.lives if life.healthy is not None}
            | {life.gone for life in self.lives if life.gone is not None}
        )
        for t in changes:
            listed = [
                life.address
                for life in self.lives
                if (life.healthy if life.healthy is not None else life.started) <= t
                and (life.gone is None or t < life.gone)
            ]
            yield t, "names", {"since": T0 + t - 0.05, "name": "tasks.api", "addresses": listed}

    def _lines(self) -> Iterator[tuple[float, str, dict[str, Any]]]:
        for one in self.sent:
            if one.proxied is not None:
                over = one.fields["done"] or one.fields["sent"] or one.fields["planned"]
                yield over - T0, "proxied", {"request_id": one.fields["id"], **one.proxied}
        for life in self.lives:
            yield from self._lines_of(life) if life.logs else ()

    def _lines_of(self, life: Life) -> Iterator[tuple[float, str, dict[str, Any]]]:
        lines: list[tuple[float, str, str | None]] = [(life.started, "booted", None)]
        for name in ("warm", "unready", "closed"):
            if (t := getattr(life, name)) is not None:
                lines.append((t, {"closed": "closed_listener"}.get(name, name), None))
        if life.signalled is not None and life.unready is not None:
            lines.append((life.signalled, "signal", None))
        for one in self.sent:
            if one.on is life:
                lines += [(t, step, one.fields["id"]) for step, t in one.steps.items()]
        words = {(one.fields["id"], step): said for one in self.sent for step, said in one.words.items()}
        container = life.container
        for seq, (t, name, request) in enumerate(sorted(lines, key=lambda line: line[0]), start=1):
            data = {"event": name, "seq": seq, "instance": life.task, "container": container}
            yield t, "record", {**data, "request_id": request, **words.get((request, name), {})} if request else data
