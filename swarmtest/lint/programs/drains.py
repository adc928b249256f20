"""How long programs take to finish what they're doing, by what the file says of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isfinite

from swarmtest.lint.programs.commands import base, flag, started, started_as
from swarmtest.lint.programs.known_programs import Known, known_program
from swarmtest.lint.services import LintService
from swarmtest.stack.syntax.durations import parse_duration


@dataclass(frozen=True, slots=True)
class Drain:
    """A limit that something in the container sets to its own shutdown.

    Attributes:
        program: its name.
        kind: ``server`` answers requests, ``worker`` does jobs, ``supervisor`` ends what it has started.
        seconds: infinite where it waits for as long as it takes.
        written: the flag or variable with its value; empty for the program's default.
        key: where it's written, or the program is.
    """

    program: str
    kind: str
    seconds: float
    written: str
    key: tuple[str, ...]


_VARIABLES = {
    "DOTNET_SHUTDOWNTIMEOUTSECONDS": ("the .NET host", "server", 1.0),
    "ASPNETCORE_SHUTDOWNTIMEOUTSECONDS": ("the .NET host", "server", 1.0),
    "SPRING_LIFECYCLE_TIMEOUT_PER_SHUTDOWN_PHASE": ("Spring", "server", 0.001),
    "SPRING_LIFECYCLE_TIMEOUTPERSHUTDOWNPHASE": ("Spring", "server", 0.001),
    "QUARKUS_SHUTDOWN_TIMEOUT": ("Quarkus", "server", 1.0),
    "S6_SERVICES_GRACETIME": ("s6", "supervisor", 0.001),
}
"""Variables that say by themselves what they're for, and what a bare number of them counts."""

_OWN = re.compile(r"(?:SHUTDOWN|GRACEFUL|DRAIN|TERMINATION)")
_OWN_LIMIT = re.compile(r"(?:TIMEOUT|LIMIT|PERIOD|GRACE|WAIT|DELAY|SECONDS|SECS|MS|MILLIS)")
_MILLISECONDS = re.compile(r"_(?:MS|MILLIS|MILLISECONDS)$")
_SECONDS = re.compile(r"_(?:S|SEC|SECS|SECONDS)$")
_SPRING = re.compile(r"(?:--|-D)spring\.lifecycle\.timeout-per-shutdown-phase=(\S+)")
_SOME_APP = "the app"
_WORKER_SHUTDOWN = re.compile(r"worker_shutdown_timeout\s+(\w+)")
_TRAEFIK_LIMIT = re.compile(r"lifecycle[._](?:request\w*)?gracetimeout\Z", re.IGNORECASE)
_WAITS = re.compile(r"(?:WAIT|DELAY)")


@dataclass(frozen=True, slots=True)
class _Said:
    """What a service says that bears on its shutdown; services say the same over and over, so it's a key."""

    image: str
    argv: tuple[str, ...]
    key: tuple[str, ...]
    init: bool
    variables: tuple[tuple[str, str], ...]

    def value(self, name: str) -> str | None:
        return next((text for key, text in self.variables if key == name), None)


def drains(service: LintService) -> tuple[Drain, ...]:
    """All limits that the file tells of, those that are written first."""
    argv = service.argv
    if not argv and not service.environment:
        return ()
    key = ("command",) if service.command is not None else ("entrypoint",)
    variables = tuple((name, text) for name, text in service.environment.items() if text is not None)
    return _drains(_Said(service.image.name, argv or (), key, service.init, variables))


@lru_cache(maxsize=4096)
def _drains(said: _Said) -> tuple[Drain, ...]:
    found = [*_of_programs(said), *_of_variables(said), *_of_traefik(said)]
    return tuple(sorted(found, key=lambda drain: not drain.written))


def waits(service: LintService) -> float:
    """Seconds that the app waits after its signal before it begins to drain, as far as a variable says so."""
    return sum(drain.seconds for drain in drains(service) if is_wait(drain))


def is_wait(drain: Drain) -> bool:
    """Whether it's the time before a drain, by the name of its variable, in which the app still takes requests."""
    return drain.key[0] == "environment" and _WAITS.search(drain.written.partition("=")[0]) is not None


def guessed(drain: Drain) -> bool:
    """Whether only the name of a variable tells what it's for."""
    return drain.program == _SOME_APP


def programs(service: LintService) -> tuple[tuple[str, ...], ...]:
    """Words of each program that the file starts."""
    begun = started(service)
    return begun.programs if begun else ()


def _of_programs(said: _Said) -> Iterator[Drain]:
    for words in started_as(said.argv, said.init).programs if said.argv else ():
        known = known_program(words)
        if base(words) == "nginx":
            yield from _of_nginx(words, said.key)
        if known is None:
            continue
        drain = _flagged(known, words, said.key) or _in_environment(known, said)
        if drain is None and known.program == "gunicorn":
            drain = _in_gunicorn_arguments(known, said)
        yield drain or Drain(known.program, known.kind, known.default, "", said.key)


def _flagged(known: Known, words: tuple[str, ...], key: tuple[str, ...]) -> Drain | None:
    for name in known.flags:
        text = flag(words, name)
        value = _value(text, known.unit)
        if text is not None and value is not None:
            return Drain(known.program, known.kind, inf if value < 0 else value, f"{name} {text}", key)
    return None


def _in_environment(known: Known, said: _Said) -> Drain | None:
    text = said.value(known.variable) if known.variable else None
    value = _value(text, known.unit)
    if value is None:
        return None
    written = f"{known.variable}={text}"
    return Drain(known.program, known.kind, inf if value < 0 else value, written, ("environment", known.variable))


def _in_gunicorn_arguments(known: Known, said: _Said) -> Drain | None:
    text = said.value("GUNICORN_CMD_ARGS") or ""
    try:
        return _flagged(known, tuple(shlex.split(text)), ("environment", "GUNICORN_CMD_ARGS")) if text else None
    except ValueError:
        return None


def _of_variables(said: _Said) -> Iterator[Drain]:
    for name, text in said.variables:
        kind = "server"
        if name in _VARIABLES:
            program, kind, unit = _VARIABLES[name]
            value = _value(text, unit)
        elif name.startswith(("JAVA_", "JDK_", "_JAVA")) and (match := _SPRING.search(text)):
            program, value = "Spring", _value(match[1], 0.001)
        elif _OWN.search(name) and _OWN_LIMIT.search(name) and not name.startswith(("UVICORN_", "GOOD_JOB_")):
            program, value = _SOME_APP, _value(text, _unit(name))
        else:
            continue
        if value is not None and value >= 0:
            yield Drain(program, kind, value, f"{name}={text}", ("environment", name))


def _of_nginx(words: tuple[str, ...], key: tuple[str, ...]) -> Iterator[Drain]:
    """``nginx -g 'worker_shutdown_timeout 30s;'``."""
    for text in words[1:]:
        match = _WORKER_SHUTDOWN.search(text)
        value = _value(match[1], 1.0) if match else None
        if match and value is not None:
            yield Drain("nginx", "server", value, match[0], key)


def _of_traefik(said: _Said) -> Iterator[Drain]:
    """Each entry point takes requests for a while after the signal (0 s by default), then drains (10 s)."""
    if said.image != "traefik":
        return
    given: list[tuple[tuple[str, ...], str]] = [(said.key, word) for word in said.argv]
    given += [(("environment", name), f"{name}={text}") for name, text in said.variables]
    found = {"gracetimeout": 10.0, "requestacceptgracetimeout": 0.0}
    written: list[str] = []
    key = said.key
    for where, text in given:
        name, _, value = text.partition("=")
        limit = _value(value, 1.0) if _TRAEFIK_LIMIT.search(name) else None
        if limit is not None:
            last = re.split(r"[._]", name.lower())[-1]
            found[last] = limit
            written.append(text)
            key = where
    yield Drain("Traefik", "server", sum(found.values()), " and ".join(written), key)


def _unit(name: str) -> float | None:
    """What a bare number counts, if the variable's name says so."""
    return 0.001 if _MILLISECONDS.search(name) else 1.0 if _SECONDS.search(name) else None


def _value(text: str | None, unit: float | None) -> float | None:
    """Seconds, or None where it's no time, or nothing says what it counts."""
    if text is None:
        return None
    try:
        number = float(text)
        return number * unit if unit is not None and isfinite(number) else None
    except ValueError:
        pass
    try:
        return parse_duration(text.lower().removeprefix("pt"))
    except ValueError:
        return None
