"""What swarmtest is told about a stack: the ``x-swarmtest`` block, flags over it, defaults under it.

Everything has a default that's derived where it can be, so that a stack file without the block can
be tested as it is: the service under test is the one with a published port (or, behind a proxy, the
one that was named), the address is that port on the engine's host.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from swarmtest.durations import parse_duration, parse_rate
from swarmtest.errors import StackError, UsageError
from swarmtest.stack import Reader, Service, Stack

DEFAULT_RATE = 20.0
DEFAULT_LONGEST_SECONDS = 1.0
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
)
_KIND_KEYS = ("method", "path", "ms", "rate", "body_bytes", "headers", "end_marker", "expect_bytes")


@dataclass(frozen=True, slots=True)
class FrontDoor:
    """How traffic reaches the instances, and how soon it's said to notice that one is going.

    Attributes:
        mode: ``proxy``, ``mesh`` (routing mesh) or ``direct`` (each task has a host port).
        service: the proxy's service.
        detects: ``dns``, ``tasks``, ``probe``, ``none``; None where the file doesn't say.
        within_seconds: its detection time by its settings; None where the file doesn't say.
    """

    mode: str
    service: str | None = None
    detects: str | None = None
    within_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of request: ``{ms}`` in the path becomes a number out of ``milliseconds``."""

    name: str
    method: str
    path: str
    rate: float
    milliseconds: tuple[float, float] | None = None
    body_bytes: int = 0
    headers: Mapping[str, str] | None = None
    end_marker: str | None = None
    expect_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Overrides:
    """Flags of the command line; None leaves the stack's own word."""

    service: str | None = None
    url: str | None = None
    instance_header: str | None = None
    rate: float | None = None
    baseline_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Brief:
    """All that a run has to know of a stack beside the file's promises.

    Attributes:
        url: where traffic goes; None in direct mode.
        url_given: whether somebody wrote it (otherwise its host follows the engine).
        longest_seconds: how long the longest planned request takes.
        ready_seconds: how long the deployment may take to get healthy.
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
    baseline_seconds: float = 8.0
    longest_seconds: float = DEFAULT_LONGEST_SECONDS
    ready_seconds: float = 120.0


def read_brief(stack: Stack, flags: Overrides | None = None) -> Brief:
    """The brief of a stack.

    Raises:
        StackError: a key that isn't known, a value that can't be, no published port to send to.
        UsageError: a flag names what the stack hasn't got.
    """
    flags = flags or Overrides()
    about = Reader(stack.source, stack.about, "x-swarmtest")
    _refuse_unknown(about, _KEYS)
    service = _service_name(stack, about, flags)
    door = _front_door(stack, about, service)
    url = _url(about, flags)
    kinds = _kinds(about, flags.rate)
    longest = max([DEFAULT_LONGEST_SECONDS, *(kind.milliseconds[1] / 1000 for kind in kinds if kind.milliseconds)])
    traffic = about.part("traffic")
    return Brief(
        service=service,
        url=None if door.mode == "direct" else url or _derived_url(stack, service, door),
        url_given=url is not None,
        front_door=door,
        kinds=kinds,
        instance_header=_instance_header(about, flags),
        request_id_header=_word(about, "request_id_header", "X-Request-ID"),
        timeout_seconds=_span(traffic, "timeout", 30.0, above_zero=True),
        fresh_share=_share(traffic, "fresh_share", 0.5),
        baseline_seconds=_span(about, "baseline", 8.0) if flags.baseline_seconds is None else flags.baseline_seconds,
        longest_seconds=_span(about, "longest_request", longest, above_zero=True),
        ready_seconds=_span(about, "ready_within", 120.0, above_zero=True),
    )


def _span(reader: Reader, key: str, default: float, *, above_zero: bool = False) -> float:
    """A duration of our own: Docker takes negative ones, we have no use for them."""
    seconds = reader.seconds(key, default)
    if seconds < 0 or (above_zero and seconds == 0):
        raise reader.error(f"expected a duration {'above zero' if above_zero else 'of zero or more'}", key)
    return seconds


_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def _word(reader: Reader, key: str, default: str) -> str:
    """A token of HTTP: the name of a header or a method."""
    word = reader.text(key, default)
    if not _TOKEN.fullmatch(word):
        raise reader.error(f"expected one word such as {default}, found {word!r}", key)
    return word


def _instance_header(about: Reader, flags: Overrides) -> str:
    if flags.instance_header is None:
        return _word(about, "instance_header", "X-Instance-ID")
    if not _TOKEN.fullmatch(flags.instance_header):
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
    if parts.scheme == "https":
        return f"only plain http can be driven, found {url!r}; name the port behind the TLS end"
    return None if usable and parts.scheme == "http" and not parts.query and not parts.fragment else expected


def _refuse_unknown(reader: Reader, known: tuple[str, ...]) -> None:
    for key in reader.body:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}"
            raise reader.error(f"unknown key; {hint}", key)


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


def _front_door(stack: Stack, about: Reader, service: str) -> FrontDoor:
    value = about.body.get("front_door")
    if value == "direct":
        if not any(port.mode == "host" for port in stack.services[service].ports):
            raise about.error(f"direct needs a port of {service} with `mode: host`", "front_door")
        return FrontDoor("direct", detects="tasks", within_seconds=0.5)
    if value is None or isinstance(value, dict):
        part = about.part("front_door")
        _refuse_unknown(part, ("service", "detects", "within"))
        name = part.text("service", "") or _only_proxy(stack, service)
        if name is not None and name not in stack.services:
            raise part.error(f"no service {name!r} in the stack; it has {', '.join(stack.services)}", "service")
        detects = part.choice("detects", ("dns", "tasks", "probe", "none"), "none") if "detects" in part.body else None
        within = part.seconds("within", 0.0) if "within" in part.body else None
        if name is not None and name != service:
            return FrontDoor("proxy", name, detects, within)
        mesh = any(port.mode == "ingress" for port in stack.services[service].ports)
        return FrontDoor("mesh" if mesh else "host", None, detects, within)
    raise about.error(f"expected direct, or a mapping such as {{service: edge}}, found {value!r}", "front_door")


def _only_proxy(stack: Stack, service: str) -> str | None:
    """The one other service that publishes a port, where the service under test publishes none."""
    if stack.services[service].ports:
        return None
    others = [other.name for other in stack.services.values() if other.ports and other.name != service]
    return others[0] if len(others) == 1 else None


def _derived_url(stack: Stack, service: str, door: FrontDoor) -> str:
    publisher: Service = stack.services[door.service or service]
    ports = [port for port in publisher.ports if port.published and port.protocol == "tcp"]
    if not ports:
        raise StackError(
            f"no published port to send traffic to: {publisher.name} publishes none;"
            ' add `ports: ["8080:80"]`, or say `x-swarmtest: {url: http://…}` or --url',
            file=stack.file,
            line=stack.source.lines.get(("services", publisher.name)),
            key=f"services.{publisher.name}.ports",
        )
    return f"http://127.0.0.1:{ports[0].published}"


def _kinds(about: Reader, rate: float | None) -> tuple[Kind, ...]:
    traffic = about.part("traffic")
    _refuse_unknown(traffic, ("kinds", "timeout", "fresh_share", *_KIND_KEYS))
    if "kinds" in traffic.body:
        part = traffic.part("kinds")
        kinds = [_kind(part.part(name), name) for name in part.body]
        if not kinds:
            raise traffic.error("expected at least one kind of request", "kinds")
    else:
        body = {key: value for key, value in traffic.body.items() if key in _KIND_KEYS}
        kinds = [_kind(Reader(about.source, body, *traffic.path), "get")]
    if rate is None:
        return tuple(kinds)
    factor = rate / sum(kind.rate for kind in kinds)
    return tuple(_scaled(kind, factor) for kind in kinds)


def _scaled(kind: Kind, factor: float) -> Kind:
    return replace(kind, rate=kind.rate * factor)


def _kind(reader: Reader, name: str) -> Kind:
    _refuse_unknown(reader, (*_KIND_KEYS, "timeout", "fresh_share"))
    path = reader.text("path", "/")
    if not path.startswith("/") or not path.isascii() or not path.isprintable() or " " in path:
        raise reader.error(f"expected a path that begins with / and has no spaces (%20), found {path!r}", "path")
    try:
        rate = parse_rate(reader.body.get("rate", DEFAULT_RATE))
    except ValueError as error:
        raise reader.error(str(error), "rate") from error
    return Kind(
        name=name,
        method=_word(reader, "method", "GET").upper(),
        path=path,
        rate=rate,
        milliseconds=_milliseconds(reader),
        body_bytes=reader.whole("body_bytes", 0),
        headers=_headers(reader.part("headers")),
        end_marker=reader.text("end_marker", "") or None,
        expect_bytes=reader.whole("expect_bytes", 0) or None,
    )


def _headers(reader: Reader) -> dict[str, str]:
    headers = {name: reader.text(name, "") for name in reader.body}
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not value.isprintable() or not value.isascii():
            raise reader.error(f"expected a header of ASCII on one line, found {name!r}: {value!r}", name)
    return headers


LONGEST_MILLISECONDS = 3_600_000.0
_DECIMAL = re.compile(r"[0-9]{1,9}(?:\.[0-9]*)?")


def _decimal(value: object) -> float | None:
    """The number that a value is or spells (interpolation gives text), None where it's none of ours."""
    return float(str(value)) if not isinstance(value, bool) and _DECIMAL.fullmatch(str(value)) else None


def _milliseconds(reader: Reader) -> tuple[float, float] | None:
    value: Any = reader.body.get("ms")
    if value is None:
        return None
    match [_decimal(item) for item in (value if isinstance(value, list) else [value, value])]:
        case [float(least), float(most)] if least <= most <= LONGEST_MILLISECONDS:
            return least, most
        case _:
            raise reader.error(f"expected milliseconds such as [20, 300], up to an hour, found {value!r}", "ms")


def _share(reader: Reader, key: str, default: float) -> float:
    share = _decimal(reader.body.get(key, default))
    if share is None or share > 1:
        raise reader.error(f"expected a share from 0 to 1, found {reader.body[key]!r}", key)
    return share


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
