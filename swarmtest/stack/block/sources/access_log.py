"""Requests out of an access log: common and combined format, or a JSON object a line, also gzipped.

Only what was answered with 2xx (or 304) is taken: scanners ask for a lot that isn't there.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from swarmtest.errors import StackError
from swarmtest.stack.block.sources import LeftOut, Sample, Taken, Wanted
from swarmtest.stack.block.sources.paths import template_of, wire_path

WHAT = "an access log"
_COMBINED = re.compile(r'.*?\[[^\]]*\] "(?P<request>(?:[^"\\]|\\.)*)" (?P<status>[0-9]{3})(?: |$)')
_REQUEST = re.compile(r"(?P<method>[A-Z]+) (?P<target>\S+)(?: HTTP/[0-9.]+)?")
_METHODS = ("method", "request_method", "RequestMethod", "verb", "http_method")
_TARGETS = ("uri", "request_uri", "path", "url", "RequestPath", "target", "request_path")
_STATUSES = ("status", "status_code", "DownstreamStatus", "code", "response_code")
UNREADABLE_SHARE = 0.5
EXPECTED = 'lines such as 1.2.3.4 - - [day] "GET /path HTTP/1.1" 200 512, or JSON with method, path and status'

_Line = tuple[str, str, int]


def read_access_log(path: Path, wanted: Wanted) -> Taken:
    """The requests of a log, with how often each was sent.

    Raises:
        StackError: it isn't one; the message has the line.
    """
    found, unreadable, first = Counter[_Line](), 0, 0
    for number, line in enumerate(_lines(path), start=1):
        if (read := parse_line(line)) is not None:
            found[read] += 1
        else:
            unreadable, first = unreadable + 1, first or number
    if unreadable > UNREADABLE_SHARE * (found.total() + unreadable):
        raise StackError(f"expected {WHAT} with {EXPECTED}", file=path, line=first)
    left_out, samples = LeftOut(), []
    for (method, target, status), times in found.items():
        wire = wire_path(target) if target.startswith(("/", "http://", "https://")) else ""
        template = template_of(wire) if wire else target[:40]
        if why := _hindrance(method, wire, status, wanted):
            left_out.add(why, f"{method} {template}", times)
        else:
            samples.append(Sample(method, wire, template, times))
    if unreadable:
        left_out.add("since they aren't lines of an access log", f"line {first}", unreadable)
    return Taken(tuple(samples), left_out)


def _hindrance(method: str, wire: str, status: int, wanted: Wanted) -> str:
    """Why a request isn't taken; empty where it is."""
    if not wire:
        return "since they name no path"
    if method not in wanted.methods:
        return f"since {method} isn't among the methods ({', '.join(wanted.methods)})"
    if not 200 <= status < 300 and status != 304:
        return "since they weren't answered with 2xx"
    return ""


def parse_line(line: str) -> _Line | None:
    """Method, target and status of a line; None where it isn't one of an access log."""
    if line.startswith("{"):
        return _of_json(line)
    found = _COMBINED.match(line)
    request = _REQUEST.fullmatch(found["request"]) if found is not None else None
    if found is None:
        return None
    if request is None:  # what was sent wasn't HTTP, which servers log all the same
        return "?", found["request"], int(found["status"])
    return request["method"], request["target"], int(found["status"])


def _of_json(line: str) -> _Line | None:
    try:
        fields = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.DecodeError:
        return None
    inner = fields.get("request")
    if isinstance(inner, str) and (request := _REQUEST.fullmatch(inner)):
        fields = {"method": request["method"], "uri": request["target"], **fields}
    elif isinstance(inner, dict):
        fields = {**inner, **fields}
    method, target, status = (_first(fields, names) for names in (_METHODS, _TARGETS, _STATUSES))
    if method is None or target is None or status is None or not status.isdigit():
        return None
    return method.upper(), target, int(status)


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((str(fields[name]) for name in names if isinstance(fields.get(name), (str, int))), None)


def _lines(path: Path) -> Iterator[str]:
    """The lines that aren't empty; what isn't UTF-8 in them is what somebody sent, and no reason to stop."""
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for line in file:
                if text := line.decode("utf-8", "replace").strip():
                    yield text
    except FileNotFoundError as error:
        raise StackError(f"no such file; give the path of {WHAT}", file=path) from error
    except (OSError, EOFError) as error:
        raise StackError(f"can't be read: {error}", file=path) from error
