"""Paths of requests: which belong together, what they're called, and what in them may be secret."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit

LONGEST_NAME = 36
"""Shorter than a kind's name may be, so that a number fits behind it."""

_ID = re.compile(
    r"[0-9]+|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|(?=.*[0-9])[0-9a-fA-F]{8,}|(?=.*[0-9])[A-Za-z0-9_-]{16,}"
)
"""A segment that names one thing among many: a number, a UUID, a hash, a long token with digits in it."""
_SECRET = re.compile(
    r"(?:.*[_.-])?(?:api_?key|key|token|secret|passw(?:or)?d|pwd|auth|authorization|session(?:_?id)?|sid|sig|signature"
    r"|jwt|credentials?)|code|state|apikey|accesstoken|idtoken",
    re.IGNORECASE,
)
_ON_THE_WIRE = "/%:@!$&'()*+,;=~-._?"


PROBES = ("healthz", "livez", "readyz", "health", "liveness", "readiness", "metrics")


def is_probe(path: str) -> bool:
    """Whether it's a path by which probes ask how an instance is, and no user does."""
    return path.partition("?")[0].rstrip("/").rpartition("/")[2].lower() in PROBES


def is_secret(name: str) -> bool:
    """Whether a query parameter may hold what nobody should put into a stack's tests."""
    return _SECRET.fullmatch(name) is not None


def secret_parameters(path: str, carry: Iterable[str]) -> list[str]:
    """Names of the query parameters that may be secret, and weren't asked for."""
    names = [name for name, _ in parse_qsl(path.partition("?")[2], keep_blank_values=True)]
    return [name for name in names if is_secret(name) and name.lower() not in set(carry)]


def wire_path(target: str) -> str:
    """The path and query of a URL as they go on the wire: ASCII, no spaces, no braces that would mean something."""
    if not target.startswith("/"):
        parts = split(target)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return quote(target.partition("#")[0], safe=_ON_THE_WIRE, errors="replace")


def split(url: str) -> SplitResult:
    """The parts of a URL; of what is none, no part."""
    try:
        return urlsplit(url)
    except ValueError:  # a bracket that isn't closed, say
        return SplitResult("", "", "", "", "")


def template_of(path: str) -> str:
    """The path with ``{id}`` where one thing of many is named, and the names of its query's parameters."""
    before, _, query = path.partition("?")
    segments = ["{id}" if _ID.fullmatch(segment) else segment for segment in before.split("/")]
    names = sorted({name for name, _ in parse_qsl(query, keep_blank_values=True)})
    return "/".join(segments) + (f"?{'&'.join(names)}" if names else "")


def name_of(method: str, template: str, taken: Iterable[str]) -> str:
    """A kind's name, such as ``get-orders-id``; another number where it's taken."""
    words = re.findall(r"[A-Za-z0-9._]+", template.partition("?")[0])
    name = "-".join([method.lower(), *words])[:LONGEST_NAME].rstrip("-.")
    names, number, found = set(taken), 2, name
    while found in names:
        found, number = f"{name}-{number}", number + 1
    return found
