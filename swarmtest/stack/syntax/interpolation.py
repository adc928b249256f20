"""Replaces the variables in a file's values, and casts what came of it, as the target does.

A field that wants a number takes a text only if a variable was replaced in it: ``replicas: "${N:-3}"`` is 3, and
``replicas: "3"`` is refused (docker/cli ``cli/compose/loader/interpolate.go``). Nothing in here raises: what a
person should hear is noted, and the rest goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.stack.syntax.building import Override, Path_
from swarmtest.stack.syntax.variables import Replace


class Unsure(str):
    """A text made with a variable that has no value here; the text is what Docker would take, with nothing put in.

    Attributes:
        variables: the names that have no value.
    """

    __slots__ = ("variables",)
    variables: tuple[str, ...]

    @classmethod
    def of(cls, text: str, *variables: str) -> Unsure:
        """A text that depends on these variables."""
        made = cls(text)
        made.variables = variables
        return made


@dataclass(frozen=True, slots=True)
class Note:
    """Something about a variable, or a key.

    Attributes:
        kind: ``unset``, ``required`` (and ``required-lost`` where Docker forgets it), ``invalid`` (a dollar sign that
            begins no variable), ``cast`` (no number, or no boolean) or ``key`` (one that's no text).
        text: the variable's name, the text or the key.
        message: what ``:?`` says, or what the text should have been.
    """

    kind: str
    path: Path_
    text: str
    message: str = ""


Cast = Callable[[str], Any]

_WHOLE = re.compile(r"[-+]?[0-9]+", re.ASCII)
_BOOLEANS = {
    **dict.fromkeys(("y", "yes", "true", "on"), True),
    **dict.fromkeys(("n", "no", "false", "off"), False),
}


def a_whole_number(text: str) -> int:
    """Go's ``strconv.Atoi``; raises ``ValueError``."""
    if not _WHOLE.fullmatch(text) or not -(2**63) <= int(text[:40]) < 2**63:
        raise ValueError
    return int(text)


def a_number(text: str) -> float:
    """Go's ``strconv.ParseFloat``, near enough; raises ``ValueError``."""
    if not text.isascii() or text != text.strip() or "_" in text:
        raise ValueError
    return float(text)


def a_boolean(text: str) -> bool:
    """What docker/cli takes for true or false; raises ``ValueError``."""
    if text.lower() not in _BOOLEANS:
        raise ValueError
    return _BOOLEANS[text.lower()]


_SAMPLES: dict[Cast, Any] = {a_whole_number: 1, a_number: 0.5, a_boolean: True}
_POLICY = {"parallelism": a_whole_number, "max_failure_ratio": a_number}
_LISTS = frozenset(("configs", "secrets", "ports", "volumes"))
_ULIMITS = 4
SWARM_CASTS: Mapping[Path_, Cast] = {
    ("configs", "[]", "mode"): a_whole_number,
    ("secrets", "[]", "mode"): a_whole_number,
    ("healthcheck", "retries"): a_whole_number,
    ("healthcheck", "disable"): a_boolean,
    ("deploy", "replicas"): a_whole_number,
    **{("deploy", part, key): cast for part in ("update_config", "rollback_config") for key, cast in _POLICY.items()},
    ("deploy", "restart_policy", "max_attempts"): a_whole_number,
    ("deploy", "placement", "max_replicas_per_node"): a_whole_number,
    ("ports", "[]", "target"): a_whole_number,
    ("ports", "[]", "published"): a_whole_number,
    **{(key,): a_boolean for key in ("privileged", "read_only", "stdin_open", "tty")},
    ("volumes", "[]", "read_only"): a_boolean,
    ("volumes", "[]", "volume", "nocopy"): a_boolean,
}
"""Of a service; ``[]`` is an item of a list. ``ulimits`` and what isn't a service is in :func:`cast_at`."""

COMPOSE_CASTS: Mapping[Path_, Cast] = {
    **{path: cast for path, cast in SWARM_CASTS.items() if path != ("ports", "[]", "published")},
    **{(key,): a_boolean for key in ("init", "oom_kill_disable")},
    **{(key,): a_whole_number for key in ("scale", "oom_score_adj", "pids_limit")},
    **{(key,): a_whole_number for key in ("cpu_count", "cpu_period", "cpu_quota", "cpu_shares")},
    **{(key,): a_number for key in ("cpus", "cpu_percent")},
}
_PARTS = {
    "networks": ("external", "internal", "attachable"),
    **dict.fromkeys(("volumes", "secrets", "configs"), ("external",)),
}


_CAST_PARTS = frozenset(key for keys in _PARTS.values() for key in keys)


def cast_at(path: Path_, casts: Mapping[Path_, Cast]) -> Cast | None:
    """What a replaced text becomes at a path."""
    if path[:1] != ("services",):
        return a_boolean if len(path) == 3 and path[2] in _PARTS.get(path[0], ()) else None
    below = path[2:]
    if below[:1] == ("ulimits",) and (len(path) == _ULIMITS or path[_ULIMITS:] in (("soft",), ("hard",))):
        return a_whole_number
    if len(below) > 1 and below[0] in _LISTS and below[1].isdigit():
        below = (below[0], "[]", *below[2:])
    return casts.get(below)


def sample_at(path: Path_, casts: Mapping[Path_, Cast]) -> Any:
    """A value that's in order at a path, in place of one that can't be known; None where any text is."""
    cast = cast_at(path, casts)
    return _SAMPLES[cast] if cast else None


class Interpolation:
    """Replaces the variables of one file.

    Arguments:
        casts: by path within a service; None leaves each value a text.
        always: whether a text is cast though no variable was replaced in it, as Compose does.
        unsure: whether a text that depends on an unset variable is an :class:`Unsure`.
    """

    def __init__(
        self,
        replace: Replace,
        environment: Mapping[str, str],
        casts: Mapping[Path_, Cast] | None,
        *,
        unsure: bool,
        always: bool = False,
    ) -> None:
        self._replace, self._environment, self._casts, self._unsure = replace, environment, casts, unsure
        self._always = frozenset(path[-1] for path in casts or ()) | _CAST_PARTS if always else frozenset()
        self.notes: list[Note] = []

    def below(self, value: Any, path: Path_ = ()) -> Any:
        """A value with its variables replaced; the same one where there are none."""
        if value.__class__ is str:
            return self._text(value, path) if "$" in value else value
        if value.__class__ is dict:
            return self._mapping(value, path)
        if value.__class__ is list:
            made = [
                item if item.__class__ is str and "$" not in item else self.below(item, (*path, str(index)))
                for index, item in enumerate(value)
            ]
            return value if all(new is old for new, old in zip(made, value, strict=True)) else made
        return Override(self.below(value.value, path)) if isinstance(value, Override) else value

    def _mapping(self, value: dict[Any, Any], path: Path_) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        for key, item in value.items():
            if key.__class__ is not str:
                return self._text_keys(value, path)
            kind = item.__class__
            if kind is str:
                if "$" in item or key in self._always:
                    changed[key] = self._text(item, (*path, key))
            elif kind is dict or kind is list or kind is Override:
                new = self.below(item, (*path, key))
                if new is not item:
                    changed[key] = new
        return {**value, **changed} if changed else value

    def _text_keys(self, value: dict[Any, Any], path: Path_) -> dict[str, Any]:
        strange = next(key for key in value if not isinstance(key, str))
        self.notes.append(Note("key", path, repr(strange)))
        return self._mapping({str(key): item for key, item in value.items()}, path)

    def _text(self, text: str, path: Path_) -> Any:
        result = self._replace(text, self._environment)
        for name in result.unset:
            self.notes.append(Note("unset", path, name))
        for each in result.missing:
            self.notes.append(Note("required-lost" if each.lost else "required", path, each.name, each.message))
        if result.invalid:
            self.notes.append(Note("invalid", path, text))
        unknown = (*result.unset, *(each.name for each in result.missing))
        if unknown and self._unsure:
            return Unsure.of(result.text, *unknown)
        if self._casts is None or (result.text == text and not self._always):
            return result.text
        cast = cast_at(path, self._casts)
        if cast is None:
            return result.text
        try:
            return cast(result.text)
        except ValueError:
            self.notes.append(Note("cast", path, result.text, (cast.__name__).replace("_", " ")))
            return result.text
