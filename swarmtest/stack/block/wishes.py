"""What faults need to know of a stack, and how much may be lost before a run is stopped.

The keys ``release``, ``dependency``, ``stop_at`` and the front door's ``reload`` of the ``x-swarmtest`` block.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.errors import UsageError
from swarmtest.stack import Stack
from swarmtest.stack.block.frontdoor import FrontDoor
from swarmtest.stack.reader import Reader, refuse_unknown
from swarmtest.stack.syntax.durations import parse_duration

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)\s*%\s*/\s*(\S+)")


@dataclass(frozen=True, slots=True)
class StopAt:
    """A run is stopped when this share of the requests that ended within so many seconds was lost."""

    share: float
    seconds: float

    def as_json(self) -> dict[str, float]:
        """As it stands in ``plan.json``."""
        return {"share": self.share, "seconds": self.seconds}


DEFAULT_STOP_AT = StopAt(0.05, 5.0)


def parse_stop_at(text: object) -> StopAt | None:
    """The limit of ``"5%/5s"``; None for ``off``.

    Raises:
        ValueError: neither; the message says what's expected.
    """
    expected = f'expected a share and a duration such as "5%/5s", or "off", found {text!r}'
    if str(text).strip().lower() == "off":
        return None
    if (match := _SHARE.fullmatch(str(text).strip())) is None:
        raise ValueError(expected)
    try:
        share, seconds = float(match[1]) / 100, parse_duration(match[2])
    except ValueError as error:
        raise ValueError(f"{expected} ({error})") from error
    if not 0 < share <= 1 or seconds < 1:
        raise ValueError(f"{expected}; the share is above 0 % and up to 100 %, the duration 1 s or more")
    return StopAt(share, seconds)


def stop_at_flag(text: str) -> StopAt | None:
    """The value of ``--stop-at``; raises :class:`UsageError` in plain words."""
    try:
        return parse_stop_at(text)
    except ValueError as error:
        raise UsageError(f"--stop-at: {error}") from error


def read_stop_at(about: Reader) -> StopAt | None:
    """The block's ``stop_at``; raises :class:`~swarmtest.errors.StackError`."""
    if about.body.get("stop_at") is None:
        return DEFAULT_STOP_AT
    try:
        return parse_stop_at(about.body["stop_at"])
    except ValueError as error:
        raise about.error(str(error), "stop_at") from error


def read_wishes(about: Reader, stack: Stack, service: str, door: FrontDoor) -> dict[str, Any]:
    """What the block says for faults; a key that isn't given is missing here too.

    Arguments:
        door: what chooses the instance; a proxy may say how it's reloaded.

    Raises:
        StackError: a value that can't be; the message has the line.
    """
    found: dict[str, Any] = {}
    if about.body.get("release") is not None:
        found["release"] = _release(about)
    if about.body.get("dependency") is not None:
        found["dependency"] = _dependency(about, stack, service, door.service)
    if door.reload is not None:
        found["reload"] = {"service": door.service, "signal": door.reload}
    return found


def _release(about: Reader) -> dict[str, Any]:
    value = about.body["release"]
    if isinstance(value, str):
        part = Reader(about.source, {"image": value}, *about.path, "release")
    elif isinstance(value, dict):
        part = about.part("release")
    else:
        raise about.error(f"expected an image, or a mapping such as {{image: api:2}}, found {value!r}", "release")
    refuse_unknown(part, ("image", "environment"))
    image, environment = part.text("image", ""), _environment(part)
    if not image and not environment:
        raise about.error("expected an image or variables to release, found neither", "release")
    if not image.isprintable() or " " in image:
        raise part.error(f"expected an image such as api:2, found {image!r}", "image")
    return {"image": image or None, "environment": environment}


def _environment(part: Reader) -> dict[str, str]:
    value = part.body.get("environment") or {}
    if isinstance(value, list):
        if wrong := [item for item in value if not isinstance(item, str) or "=" not in item]:
            raise part.error(f"expected a list of NAME=value, found {wrong[0]!r} in it", "environment")
        value = dict(item.split("=", 1) for item in value)
    if not isinstance(value, Mapping):
        raise part.error(f"expected a mapping or a list of NAME=value, found {value!r}", "environment")
    for name, text in value.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise part.error(f"expected the name of a variable, found {name!r}", "environment")
        if isinstance(text, (bool, list, dict)) or "\0" in str(text):
            raise part.error(f"{name}: expected a text or a number, found {text!r}; quote it", "environment")
    return {name: "" if text is None else str(text) for name, text in value.items()}


def _dependency(about: Reader, stack: Stack, service: str, door: str | None) -> str:
    name = about.text("dependency", "")
    others = [other for other in stack.services if other != service]
    if name == service:
        raise about.error(f"{name} is the service under test, and can't be its own dependency", "dependency")
    if name == door:
        raise about.error(f"{name} is the front door: without it no request gets to {service} at all", "dependency")
    if name not in stack.services:
        raise about.error(
            f"no service {name!r} beside {service}; there are: {', '.join(others) or 'none'}", "dependency"
        )
    if stack.services[name].mode != "replicated":
        raise about.error(f"{name} isn't replicated, so it can't be scaled to 0", "dependency")
    if not stack.services[name].replicas:
        raise about.error(f"{name} has no replica, so it can't be switched off; ask for one at least", "dependency")
    return name
