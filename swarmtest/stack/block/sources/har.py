"""Requests out of a HAR file, which browsers save from their network panel.

Of all hosts in it the most frequent one is meant; ads and fonts come from others. Of the headers only ``Accept`` is
taken: the rest is the browser's own, or a secret.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from swarmtest.errors import StackError
from swarmtest.stack.block.sources import LeftOut, Sample, Taken, Wanted
from swarmtest.stack.block.sources.paths import split, template_of, wire_path
from swarmtest.stack.reader import is_header
from swarmtest.stack.syntax.yamlfile import read_text

WHAT = "a HAR file"
TAKEN_HEADERS = ("accept",)


class _Named(msgspec.Struct, frozen=True):
    name: str
    value: str


class _Request(msgspec.Struct, frozen=True):
    method: str
    url: str
    headers: list[_Named] = []
    post: Any = msgspec.field(name="postData", default=None)


class _Response(msgspec.Struct, frozen=True):
    status: int = 0


class _Entry(msgspec.Struct, frozen=True):
    request: _Request
    response: _Response = _Response()


class _Log(msgspec.Struct, frozen=True):
    entries: list[_Entry]


class _Har(msgspec.Struct, frozen=True):
    log: _Log


def read_har(path: Path, wanted: Wanted) -> Taken:
    """The requests of a HAR file that were answered well.

    Raises:
        StackError: it isn't one; the message has the entry.
    """
    entries = _read(path)
    host = wanted.host or _main_host(entries)
    left_out, samples = LeftOut(), []
    for entry in entries:
        request = entry.request
        parts = split(request.url)
        wire = wire_path(request.url)
        template = template_of(wire)
        if why := _hindrance(entry, parts.netloc, host, wanted):
            left_out.add(why, f"{request.method} {template}" if parts.netloc == host else parts.netloc)
        else:
            headers = {one.name: one.value for one in request.headers if _taken(one, wanted)}
            samples.append(Sample(request.method.upper(), wire, template, headers=headers))
    return Taken(tuple(samples), left_out)


def _read(path: Path) -> list[_Entry]:
    text = read_text(path, WHAT)
    try:
        return msgspec.json.decode(text, type=_Har).log.entries
    except msgspec.ValidationError as error:
        raise StackError(f"expected {WHAT}, as a browser saves it: {error}", file=path) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise StackError(f"expected {WHAT}, which is JSON: {error}", file=path) from error


def _main_host(entries: list[_Entry]) -> str:
    hosts = Counter(split(entry.request.url).netloc for entry in entries)
    return hosts.most_common(1)[0][0] if hosts else ""


def _hindrance(entry: _Entry, netloc: str, host: str, wanted: Wanted) -> str:
    """Why a request isn't taken; empty where it is."""
    method, status = entry.request.method.upper(), entry.response.status
    if netloc != host:
        return f"since only requests to {host} are meant (host says which)"
    if not entry.request.url.startswith(("http://", "https://")):
        return "since they aren't HTTP"
    if method not in wanted.methods:
        return f"since {method} isn't among the methods ({', '.join(wanted.methods)})"
    if entry.request.post is not None:
        return "since they have a body of their own"
    if not 200 <= status < 300 and status != 304:
        return "since they weren't answered with 2xx"
    return ""


def _taken(header: _Named, wanted: Wanted) -> bool:
    """Whether a header goes along. HTTP/2 has some that begin with a colon, and are none."""
    name = header.name.lower()
    return is_header(name, header.value) and (name in TAKEN_HEADERS or name in wanted.carry)
