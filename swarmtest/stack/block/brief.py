"""What swarmtest is told about a stack: the ``x-swarmtest`` block, flags over it, defaults under it.

Everything has a default that's derived where it can be, so that a stack file without the block can
be tested as it is: the service under test is the one with a published port (or, behind a proxy, the
one that was named), the address is that port on the engine's host.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from swarmtest.errors import StackError, UsageError
from swarmtest.stack import Service, Stack
from swarmtest.stack.block.cold_start import DEFAULT_COLD_START, ColdStart, read_cold_start
from swarmtest.stack.block.frontdoor import FrontDoor, derived_url, read_front_door
from swarmtest.stack.block.kinds import Kind
from swarmtest.stack.block.limits import AskedLimit, read_limits
from swarmtest.stack.block.traffic import read_traffic, traffic_part
from swarmtest.stack.block.wishes import DEFAULT_STOP_AT, StopAt, read_stop_at, read_wishes, stop_at_flag
from swarmtest.stack.reader import TOKEN, Reader, refuse_unknown, share, span, word
from swarmtest.stack.syntax.durations import parse_duration, parse_rate

DEFAULT_LONGEST_SECONDS = 1.0
MOST_PROCESSES = 64
"""Processes that may share the traffic; more is a slip of the pen."""

_KEYS = (
    "service",
    "url",
    "front_door",
    "instance_header",
    "request_id_header",
    "traffic",
    "baseline",
    "longest_request",
    "ready_within",
    "release",
    "dependency",
    "stop_at",
    "cold_start",
    "limits",
)


@dataclass(frozen=True, slots=True)
class Overrides:
    """Flags of the command line; None leaves the stack's own word."""

    service: str | None = None
    url: str | None = None
    instance_header: str | None = None
    rate: float | None = None
    baseline_seconds: float | None = None
    stop_at: str | None = None
    limits: tuple[str, ...] = ()
    processes: int | None = None
    workers: int = 0
    listen: str = ""


@dataclass(frozen=True, slots=True)
class Brief:
    """All that a run has to know of a stack beside the file's promises.

    Attributes:
        url: where traffic goes; None in direct mode.
        url_given: whether somebody wrote it (otherwise its host follows the engine).
        longest_seconds: how long the longest planned request takes.
        ready_seconds: how long the deployment may take to get healthy.
        wishes: what faults need to know: ``release`` (``image``, ``environment``) and ``dependency``, where given.
        stop_at: what may be lost before a run is stopped; None for any.
        stop_at_given: whether somebody wrote it; otherwise it's for runs that are to lose nothing.
        cold_start: how slow the first requests on a new instance may be.
        limits: those of the file and the command line, for whatever scenario.
        traffic_words: of traffic that was taken from a file: from which, and what was left out.
    """

    service: str
    url: str | None
    url_given: bool
    front_door: FrontDoor
    kinds: tuple[Kind, ...]
    instance_header: str = "X-Instance-ID"
    request_id_header: str = "X-Request-ID"
    timeout_seconds: float = 30.0
    fresh_share: float = 0.5
    processes: int = 1
    workers: int = 0
    listen: str = ""
    baseline_seconds: float = 8.0
    longest_seconds: float = DEFAULT_LONGEST_SECONDS
    ready_seconds: float = 120.0
    wishes: Mapping[str, Any] = field(default_factory=dict)
    stop_at: StopAt | None = DEFAULT_STOP_AT
    stop_at_given: bool = False
    cold_start: ColdStart = DEFAULT_COLD_START
    limits: tuple[AskedLimit, ...] = ()
    traffic_words: tuple[str, ...] = ()


def read_brief(stack: Stack, flags: Overrides | None = None) -> Brief:
    """The brief of a stack.

    Raises:
        StackError: a key that isn't known, a value that can't be, no published port to send to.
        UsageError: a flag names what the stack hasn't got.
    """
    flags = flags or Overrides()
    about = Reader(stack.source, stack.about, "x-swarmtest")
    refuse_unknown(about, _KEYS)
    service = _service_name(stack, about, flags)
    _refuse_unservable(stack, stack.services[service])
    door = read_front_door(stack, about, service)
    if flags.workers and door.mode == "direct":
        raise UsageError("--workers: other machines can't follow the tasks; the traffic needs a front door")
    url = _url(about, flags)
    sent = read_traffic(about, flags.rate)
    kinds = sent.kinds
    longest = max([DEFAULT_LONGEST_SECONDS, *(kind.milliseconds[1] / 1000 for kind in kinds if kind.milliseconds)])
    traffic = traffic_part(about)
    instance, request_id = _instance_header(about, flags), word(about, "request_id_header", "X-Request-ID")
    if instance.lower() == request_id.lower():
        problem = f"{instance} already names the request; the instance needs another header"
        raise about.error(problem, "instance_header") if flags.instance_header is None else UsageError(problem)
    return Brief(
        service=service,
        url=None if door.mode == "direct" else url or derived_url(stack, service, door),
        url_given=url is not None,
        front_door=door,
        kinds=kinds,
        instance_header=instance,
        request_id_header=request_id,
        timeout_seconds=span(traffic, "timeout", 30.0, above_zero=True),
        fresh_share=share(traffic, "fresh_share", 0.5),
        processes=_processes(traffic) if flags.processes is None else flags.processes,
        workers=flags.workers,
        listen=flags.listen,
        baseline_seconds=span(about, "baseline", 8.0) if flags.baseline_seconds is None else flags.baseline_seconds,
        longest_seconds=span(about, "longest_request", longest, above_zero=True),
        ready_seconds=span(about, "ready_within", 120.0, above_zero=True),
        wishes=read_wishes(about, stack, service, door),
        stop_at=read_stop_at(about) if flags.stop_at is None else stop_at_flag(flags.stop_at),
        stop_at_given=flags.stop_at is not None or about.body.get("stop_at") is not None,
        cold_start=read_cold_start(about),
        limits=read_limits(about, flags.limits, kinds),
        traffic_words=sent.words,
    )


def _instance_header(about: Reader, flags: Overrides) -> str:
    if flags.instance_header is None:
        return word(about, "instance_header", "X-Instance-ID")
    if not TOKEN.fullmatch(flags.instance_header):
        raise UsageError(f"--instance-header: expected one word such as X-Instance-ID, found {flags.instance_header!r}")
    return flags.instance_header


def _url(about: Reader, flags: Overrides) -> str | None:
    """The address somebody wrote, None where nobody did."""
    url = about.text("url", "") if flags.url is None else flags.url
    if not url and flags.url is None:
        return None
    if problem := _url_problem(url):
        raise UsageError(f"--url: {problem}") if flags.url is not None else about.error(problem, "url")
    return url


def _url_problem(url: str) -> str | None:
    expected = f'expected an address such as "http://127.0.0.1:8080", found {url!r}'
    if not url.isascii() or not url.isprintable() or " " in url:
        return expected
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        return f"{expected} ({error})"
    if parts.username is not None:
        return f"no name or password is sent, so leave it out of {parts.hostname!r}'s address; see traffic headers"
    if parts.scheme == "https":
        return f"only plain http can be driven, found {url!r}; name the port behind the TLS end"
    return None if usable and parts.scheme == "http" and not parts.query and not parts.fragment else expected


def _service_name(stack: Stack, about: Reader, flags: Overrides) -> str:
    name = flags.service or about.text("service", "")
    if name:
        if name in stack.services:
            return name
        problem = f"no service {name!r} in {stack.file}; it has {', '.join(stack.services)}"
        raise UsageError(problem) if flags.service else about.error(problem, "service")
    published = [service for service in stack.services.values() if service.ports]
    if len(published) == 1:
        return published[0].name
    found = ", ".join(service.name for service in published) or "none"
    raise StackError(
        f"which service is under test? Services with a published port: {found};"
        " say `x-swarmtest: {service: NAME}` in the file or --service NAME",
        file=stack.file,
    )


def _processes(traffic: Reader) -> int:
    if traffic.body.get("processes") == "auto":
        return min(os.cpu_count() or 1, MOST_PROCESSES)
    processes = traffic.whole("processes", 1, least=1)
    if processes > MOST_PROCESSES:
        raise traffic.error(f"expected auto, or up to {MOST_PROCESSES} processes, found {processes}", "processes")
    return processes


def _refuse_unservable(stack: Stack, service: Service) -> None:
    """A service under test that can't serve, however long one waits for it."""
    if service.mode.endswith("-job"):
        problem = f"{service.name} is a job, and this tests services that answer requests; name another one"
        raise stack.source.error(problem, "services", service.name, "deploy", "mode")
    if service.mode == "replicated" and not service.replicas:
        problem = f"{service.name} is to be tested, and has no replica; ask for one at least"
        raise stack.source.error(problem, "services", service.name, "deploy", "replicas")


def rate_flag(text: str) -> float:
    """The value of ``--rate``; raises :class:`UsageError` in plain words."""
    try:
        return parse_rate(text)
    except ValueError as error:
        raise UsageError(f"--rate: {error}") from error


def duration_flag(name: str, text: str) -> float:
    """The value of a flag that is a duration; raises :class:`UsageError` in plain words."""
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error
    if seconds < 0:
        raise UsageError(f"{name}: expected a duration of zero or more, found {text!r}")
    return seconds
