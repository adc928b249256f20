"""What a health check runs, as the engine runs it (moby ``daemon/health.go``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from swarmtest.lint.programs.commands import SHELLS, base
from swarmtest.lint.programs.shell import Script, read_script
from swarmtest.lint.rules import Stack
from swarmtest.lint.services import LintService

_URL = re.compile(
    r"(?:(?P<scheme>https?)://)?(?P<host>\[[^\]]*\]|[A-Za-z0-9_.-]+)(?::(?P<port>\d+))?(?P<path>/[^\s'\"]*)?\Z"
)


@dataclass(frozen=True, slots=True)
class Probe:
    """A health check taken apart.

    Attributes:
        words: what's executed, where no shell is.
        script: what a shell is told, where one is.
        text: that script as written.
        dropped: items behind the script, which the shell gets as ``$0``, ``$1`` and so on, and doesn't run.
    """

    words: tuple[str, ...]
    script: Script | None
    text: str
    dropped: tuple[str, ...]

    @property
    def calls(self) -> tuple[tuple[str, ...], ...]:
        """Words of each program that it runs."""
        return tuple(command.words for command in self.script.commands) if self.script else (self.words,)


@dataclass(frozen=True, slots=True)
class Url:
    """What a program asks: parts that aren't written are empty, and the port is None."""

    scheme: str
    host: str
    port: int | None
    path: str


def probes(stack: Stack) -> Iterator[tuple[LintService, Probe]]:
    """Each service whose health check is in the file, in a form that the engine runs."""
    for service in stack.services:
        test = service.health.test if service.health else ()
        if len(test) > 1 and test[0] in ("CMD", "CMD-SHELL"):
            yield service, read_probe(test)


@lru_cache(maxsize=4096)
def read_probe(test: tuple[str, ...]) -> Probe:
    """Takes a test apart. A stack has the same few over and over, so they're kept."""
    words = test[1:]
    if test[0] == "CMD-SHELL":
        return Probe((), read_script(words[0]), words[0], words[1:])
    if base(words) in SHELLS and len(words) > 2 and words[1].startswith("-") and "c" in words[1]:
        return Probe((), read_script(words[2]), words[2], words[3:])
    return Probe(words, None, "", ())


def urls(words: tuple[str, ...]) -> Iterator[Url]:
    """What curl or wget are told to ask."""
    if base(words) not in ("curl", "wget"):
        return
    skipped = False
    for word in words[1:]:
        if skipped or word.startswith("-"):
            skipped = not skipped and word in _WITH_A_VALUE
            continue
        match = _URL.match(word)
        if match and ("." in match["host"] or "/" in word or ":" in word or match["host"] == "localhost"):
            host, port = match["host"], match["port"]
            yield Url(match["scheme"] or "", host, int(port) if port else None, match["path"] or "")


_WITH_A_VALUE = frozenset(("-o", "-O", "-H", "-X", "-d", "-u", "-A", "-m", "-w", "-T", "-t", "-U", "-b", "-e")).union(
    ("--output", "--output-document", "--header", "--request", "--data", "--user", "--max-time", "--connect-timeout"),
    ("--timeout", "--tries", "--retry", "--write-out", "--user-agent", "--cacert", "--resolve", "--unix-socket"),
)
"""Flags of curl and wget whose next word is no address; -O is wget's."""


def short_flags(words: tuple[str, ...]) -> str:
    """All one-letter flags of a program, in a row."""
    return "".join(word[1:] for word in words[1:] if word.startswith("-") and not word.startswith("--"))
