"""All that a stack is sent: its kinds of requests, written in the block or taken from a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from swarmtest.stack.block.kinds import KIND_KEYS, MOST_OPEN, Kind, read_headers, read_kind
from swarmtest.stack.block.sources.mix import SOURCE_KEYS, Mix, read_mix
from swarmtest.stack.reader import Reader, refuse_unknown

_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}")
_WITH_A_FILE = ("rate", "arrivals", "headers", "protocol", "streams", "retries")
"""Keys of a kind that hold for all of a file's requests."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What's sent.

    Attributes:
        words: where it was taken from and what was left out; nothing where it's written in the block.
    """

    kinds: tuple[Kind, ...]
    words: tuple[str, ...] = ()


def traffic_part(about: Reader) -> Reader:
    """The block's part about traffic; a plain path is short for a mapping with it.

    Raises:
        StackError: neither a path nor a mapping.
    """
    value = about.body.get("traffic")
    if isinstance(value, str):
        return Reader(about.source, {"path": value}, *about.path, "traffic")
    if value is not None and not isinstance(value, dict):
        raise about.error(f"expected a path such as /orders, or a mapping, found {value!r}", "traffic")
    return about.part("traffic")


def read_traffic(about: Reader, rate: float | None) -> Traffic:
    """All kinds; ``rate`` scales them together.

    Raises:
        StackError: a key that isn't known, a value that can't be, or a file that gives nothing to send.
    """
    part = traffic_part(about)
    refuse_unknown(part, ("kinds", "timeout", "fresh_share", "processes", *KIND_KEYS, *SOURCE_KEYS))
    mix = read_mix(part, read_headers(part.part("headers")))
    kinds = _of_mix(part, mix) if mix is not None else _written(part)
    if all(kind.is_stream for kind in kinds):
        raise part.error("streams alone show no request that is lost; add a kind of request beside them", "kinds")
    if rate is not None:
        factor = rate / sum(kind.rate for kind in kinds if not kind.is_stream)
        kinds = [kind if kind.is_stream else scaled(kind, factor) for kind in kinds]
    for kind in kinds:
        if (waiting := kind.rate * (kind.milliseconds or (0.0, 0.0))[1] / 1000) > MOST_OPEN:
            problem = f"{kind.name}: {kind.rate:g} a second of requests that long are {waiting:,.0f} open at once"
            raise part.error(f"{problem}, and the client can hold {MOST_OPEN:,}; ask for less", "rate")
    return Traffic(tuple(kinds), mix.words if mix is not None else ())


def scaled(kind: Kind, factor: float) -> Kind:
    """The kind with a rate so many times as high."""
    return replace(kind, rate=kind.rate * factor, shape=kind.shape and kind.shape.scaled(factor))


def _written(part: Reader) -> list[Kind]:
    """The kinds that the block itself names."""
    if "kinds" not in part.body:
        body = {key: value for key, value in part.body.items() if key in KIND_KEYS}
        return [read_kind(Reader(part.source, body, *part.path), "get")]
    named = part.part("kinds")
    if beside := [key for key in part.body if key in KIND_KEYS]:
        raise part.error("it counts for no kind where there are kinds; put it into each of them", beside[0])
    if odd := [name for name in named.body if not _NAME.fullmatch(name)]:
        raise named.error("a kind's name has up to 40 letters, digits, . _ and -: it's part of request IDs", odd[0])
    kinds = [read_kind(named.part(name), name) for name in named.body]
    if not kinds:
        raise part.error("expected at least one kind of request", "kinds")
    return kinds


def _of_mix(part: Reader, mix: Mix) -> list[Kind]:
    """A kind for each part of a file's mix; the rate is that of all of them together."""
    useless = [key for key in part.body if key == "kinds" or (key in KIND_KEYS and key not in _WITH_A_FILE)]
    if useless:
        raise part.error("it's of no use where the requests come from a file; leave one of the two out", useless[0])
    body = {key: value for key, value in part.body.items() if key in _WITH_A_FILE}
    base = read_kind(Reader(part.source, body, *part.path), "all")
    if base.protocol not in ("http1", "h2"):
        raise part.error(f"expected http1 or h2 for requests from a file, found {base.protocol!r}", "protocol")
    return [
        replace(
            scaled(base, one.share),
            name=one.name,
            method=one.method,
            path=one.path,
            paths=one.paths,
            headers={**one.headers, **(base.headers or {})},
        )
        for one in mix.parts
    ]
