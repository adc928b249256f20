"""From samples to kinds of requests: alike ones together, the most frequent first, each with its share of the rate."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swarmtest.stack.block.sources import SAFE_METHODS, LeftOut, Sample, Taken, Wanted
from swarmtest.stack.block.sources.access_log import read_access_log
from swarmtest.stack.block.sources.har import read_har
from swarmtest.stack.block.sources.openapi import read_openapi
from swarmtest.stack.block.sources.paths import is_probe, name_of, secret_parameters
from swarmtest.stack.reader import TOKEN, Reader

SOURCES: Mapping[str, Callable[[Path, Wanted], Taken]] = {
    "openapi": read_openapi,
    "har": read_har,
    "access_log": read_access_log,
}
SOURCE_KEYS = (*SOURCES, "methods", "most_kinds", "carry", "host", "base_path")
MOST_KINDS = 20
MOST_PATHS = 50
"""So many paths of a kind are asked for, the most frequent ones; more make no other traffic."""
LONGEST_TURN = 200


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of the mix, and its share of all requests.

    Attributes:
        path: the most frequent one.
        paths: all of them in turn, each as often as it occurred; none where there's but one.
    """

    name: str
    method: str
    path: str
    share: float
    headers: Mapping[str, str]
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mix:
    """What a file became.

    Attributes:
        words: where it came from, and what was left out.
    """

    parts: tuple[Part, ...]
    words: tuple[str, ...]


def source_of(traffic: Reader) -> str | None:
    """The key that names a file to take traffic from.

    Raises:
        StackError: two of them, or a key that's of no use without one.
    """
    found = [key for key in SOURCES if key in traffic.body]
    if len(found) > 1:
        raise traffic.error(f"expected one file to take traffic from, found {' and '.join(found)}", found[1])
    if not found and (useless := [key for key in SOURCE_KEYS if key in traffic.body]):
        raise traffic.error(f"it's of no use without one of {', '.join(SOURCES)}", useless[0])
    return found[0] if found else None


def read_mix(traffic: Reader, headers: Mapping[str, str]) -> Mix | None:
    """The mix of the file that ``traffic`` names; None where it names none.

    Arguments:
        headers: those that the stack file adds to each request.

    Raises:
        StackError: the file can't be read, or holds nothing that may be taken.
    """
    key = source_of(traffic)
    if key is None:
        return None
    name = traffic.text(key, "")
    if not name:
        raise traffic.error("expected the path of a file, found none", key)
    path = traffic.source.path.parent / name
    if not path.is_file():
        raise traffic.error(f"no such file: {path}; the path begins at the folder of the stack file", key)
    taken = SOURCES[key](path, _wanted(traffic, key, headers))
    most = traffic.whole("most_kinds", MOST_KINDS, least=1)
    parts = make_parts(_fitting(taken, traffic), most, taken.left_out)
    if not parts:
        why = "; ".join(taken.left_out.words()) or "it holds no request"
        raise traffic.error(f"nothing of {name} can be sent: {why}", key)
    kinds = "1 kind" if len(parts) == 1 else f"{len(parts)} kinds"
    return Mix(tuple(parts), (f"{kinds} of requests from {name}", *taken.left_out.words()))


def make_parts(samples: list[Sample], most: int, left_out: LeftOut) -> list[Part]:
    """Groups what's alike; each group is a kind, which asks for its paths in turn."""
    groups: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    headers: dict[tuple[str, str], Mapping[str, str]] = {}
    for sample in samples:
        groups[sample.method, sample.template][sample.path] += sample.times
        headers.setdefault((sample.method, sample.path), sample.headers)
    ordered = sorted(groups.items(), key=lambda group: -group[1].total())
    for (method, template), paths in ordered[most:]:
        left_out.add(
            f"since only the {most} most frequent are taken (most_kinds)", f"{method} {template}", paths.total()
        )
    total = sum(paths.total() for _, paths in ordered[:most])
    parts: list[Part] = []
    for (method, template), paths in ordered[:most]:
        path = paths.most_common(1)[0][0]
        name = name_of(method, template, [part.name for part in parts])
        parts.append(Part(name, method, path, paths.total() / total, headers[method, path], in_turn(paths)))
    return parts


def in_turn(paths: Mapping[str, int]) -> tuple[str, ...]:
    """The paths in an order in which each comes as often as its number says, evenly spread."""
    chosen = Counter(paths).most_common(MOST_PATHS)
    if len(chosen) < 2:
        return ()
    total = sum(times for _, times in chosen)
    length = min(total, LONGEST_TURN)
    came = dict.fromkeys(paths, 0)
    turn = []
    for n in range(1, length + 1):
        path = max(chosen, key=lambda one: n * one[1] - came[one[0]] * total)[0]
        came[path] += 1
        turn.append(path)
    return tuple(turn)


def _fitting(taken: Taken, traffic: Reader) -> list[Sample]:
    """Those that are neither a probe's nor may hold a secret."""
    carry = [name.lower() for name in _words(traffic, "carry")]
    kept = []
    for sample in taken.samples:
        if is_probe(sample.path):
            reason = "since they ask how an instance is, which a draining one answers with no"
            taken.left_out.add(reason, f"{sample.method} {sample.template}", sample.times)
        elif names := secret_parameters(sample.path, carry):
            reason = f"with what may be a secret in the query, {names[0]} (carry: [{names[0]}] takes it)"
            taken.left_out.add(reason, f"{sample.method} {sample.template}", sample.times)
        else:
            kept.append(sample)
    return kept


def _wanted(traffic: Reader, key: str, headers: Mapping[str, str]) -> Wanted:
    for option, source in (("host", "har"), ("base_path", "openapi")):
        if option in traffic.body and source != key:
            raise traffic.error(f"it's for {source} alone", option)
    base = traffic.text("base_path", "") if "base_path" in traffic.body else None
    if base and not base.startswith("/"):
        raise traffic.error(f"expected a path that begins with /, found {base!r}", "base_path")
    return Wanted(
        methods=tuple(word.upper() for word in _words(traffic, "methods")) or SAFE_METHODS,
        carry=frozenset(word.lower() for word in _words(traffic, "carry")),
        headers=headers,
        host=traffic.text("host", "") or None,
        base_path=base,
    )


def _words(traffic: Reader, key: str) -> list[str]:
    value: Any = traffic.body.get(key)
    words = [value] if isinstance(value, str) else value or []
    if not isinstance(words, list) or not all(isinstance(word, str) and TOKEN.fullmatch(word) for word in words):
        raise traffic.error(f"expected a list of words, found {value!r}", key)
    return words
