"""What a service starts: the init and the shell in front, and the programs behind them.

Only what the file says is known. A script in the image, and the image's own command, are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from swarmtest.lint.programs.shell import Script, read_script
from swarmtest.lint.services import LintService

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})

REPLACING_SHELLS = frozenset({"bash", "zsh", "ash"})
"""They replace themselves by the last command of ``-c`` (tried: bash 5.2, BusyBox 1.35); dash 0.5.12, ``sh`` on Debian
and Ubuntu, doesn't."""

_INITS = frozenset({"tini", "tini-static", "dumb-init", "docker-init", "catatonit"})

_REPLACED_BY_REST = frozenset(
    {
        "exec",
        "env",
        "nice",
        "nohup",
        "setsid",
        "stdbuf",
        "ionice",
        "gosu",
        "su-exec",
        "setpriv",
        "chroot",
        "ddtrace-run",
    }
    | {"opentelemetry-instrument"}
)
"""They become the program that they're given (``execve``), so they aren't there any more."""

_TWO_WORDS = frozenset({("bundle", "exec"), ("poetry", "run"), ("pipenv", "run"), ("newrelic-admin", "run-program")})

_HAS_AN_OPERAND = frozenset({"gosu", "su-exec", "chroot"})
"""Their first word that's no flag isn't the program yet."""


@dataclass(frozen=True, slots=True)
class Started:
    """How a service is started.

    Attributes:
        init: what stands before all else and passes signals on to its child; None where nothing does.
        shell: the shell with ``-c``; None where none is.
        script: what that shell is told.
        text: the same as written.
        extra: words behind the script, which it gets as ``$0``, ``$1`` and so on.
        main: words of the program that the container lives by, as far as the file tells; empty where it doesn't.
        programs: words of each program that's run.
    """

    init: str | None
    shell: str | None
    script: Script | None
    text: str
    extra: tuple[str, ...]
    main: tuple[str, ...]
    programs: tuple[tuple[str, ...], ...]

    @property
    def main_name(self) -> str:
        """The program that the container lives by, without its folder."""
        return base(self.main)


def base(words: tuple[str, ...]) -> str:
    """The program of some words, without its folder."""
    return words[0].rpartition("/")[2] if words else ""


def started(service: LintService) -> Started | None:
    """How a service is started; None where only its image knows."""
    argv = service.argv
    return started_as(tuple(argv), service.init) if argv else None


@lru_cache(maxsize=4096)
def started_as(argv: tuple[str, ...], init: bool) -> Started:
    """How words are started. A stack has the same few over and over, so they're kept."""
    words, own = _without_init(argv)
    before = own or ("docker-init" if init else None)
    words = unwrapped(words)
    shell = base(words)
    at = _script_at(words) if shell in SHELLS else None
    if at is None:
        return Started(before, None, None, "", (), words, (words,) if words else ())
    script = read_script(words[at])
    programs = tuple(unwrapped(command.words) for command in script.commands)
    return Started(before, shell, script, words[at], words[at + 1 :], programs[-1] if programs else (), programs)


def _without_init(words: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    if base(words) not in _INITS:
        return words, None
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] != "--":
        at += 1
    return words[at + 1 if words[at : at + 1] == ("--",) else at :], base(words)


def _script_at(words: tuple[str, ...]) -> int | None:
    """Where the script of ``sh -c`` stands."""
    given = False
    for at, word in enumerate(words[1:], 1):
        if not word.startswith(("-", "+")):
            return at if given else None
        given = given or (word[1:2] != "-" and "c" in word)
    return None


def unwrapped(words: tuple[str, ...]) -> tuple[str, ...]:
    """The program itself, without what becomes it: ``env A=1 bundle exec sidekiq`` is sidekiq."""
    while words:
        name = base(words)
        if words[:2] in _TWO_WORDS:
            words = words[2:]
        elif name.startswith("python") and words[1:2] == ("-m",):
            return words[2:]
        elif name.startswith("wait-for") and "--" in words:
            words = words[words.index("--") + 1 :]
        elif name in _REPLACED_BY_REST:
            words = tuple(_behind(words[1:], 1 if name in _HAS_AN_OPERAND else 0))
        else:
            return words
    return words


def _behind(words: tuple[str, ...], operands: int) -> Iterator[str]:
    """From the first word on that's neither a flag, nor a variable, nor an operand."""
    begun = False
    for word in words:
        if begun:
            yield word
        elif word.startswith("-") or "=" in word or word.lstrip("+-").isdigit():
            continue
        elif operands:
            operands -= 1
        else:
            begun = True
            yield word


def flag(words: tuple[str, ...], *names: str) -> str | None:
    """The value of a flag: ``-t 25``, ``-t25``, ``--timeout 25`` or ``--timeout=25``; the last one counts."""
    found: str | None = None
    for at, word in enumerate(words):
        for name in names:
            if word == name:
                found = words[at + 1] if at + 1 < len(words) else None
            elif name.startswith("--") and word.startswith(name + "="):
                found = word[len(name) + 1 :]
            elif len(name) == 2 and word.startswith(name) and word[2:].lstrip("=").isdigit():
                found = word[2:].lstrip("=")
    return found
