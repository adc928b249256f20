"""Health checks that pass whatever the app does, or fail whatever it does."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.programs.commands import base
from swarmtest.lint.programs.probes import Probe, probes, short_flags
from swarmtest.lint.programs.shell import Command, Script
from swarmtest.lint.rolling import start_first
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.rules.health import ALWAYS, never
from swarmtest.lint.wording import shortened

_SUCCEEDS = frozenset({"true", ":", "echo", "printf"})
_PIPED = _SUCCEEDS | {"tee", "cat", "head", "tail", "wc", "sort"}
"""They end with 0 whatever comes through the pipe."""


def _always_passes(stack: Stack) -> Iterator[Finding]:
    """The last command decides, unless an earlier one left the script."""
    for service, probe in probes(stack):
        why = _why_always(probe)
        if why is None or probe.dropped:
            continue
        hurts = start_first(service)
        then = "; start-first takes the old task away before the new one serves" if hurts else ""
        yield Finding(
            "health-always-passes",
            Severity.ERROR if hurts else Severity.WARNING,
            Certainty.CERTAIN,
            service.place("healthcheck", "test"),
            f"{why}, so {ALWAYS}{then}",
            "let the check end with the status of what it asks, as curl -fsS http://127.0.0.1:PORT/health does",
        )


def _why_always(probe: Probe) -> str | None:
    """Why a check can't fail; None where it can, or where that isn't known."""
    if probe.script is None:
        name = base(probe.words)
        return f"{name} never fails" if name in _SUCCEEDS else None
    lists = probe.script.lists
    if probe.script.compound or not lists or _leaves_early(probe.script):
        return None
    last = lists[-1]
    if last[-1].after == "&":
        return f"{shortened(' '.join(last[-1].words))!r} is sent to the background"
    return _why_list_passes(last)


def _leaves_early(script: Script) -> bool:
    """Whether a command before the last one may end the script, or errors do."""
    leaves = any(command.name in ("exit", "return", "exec") for command in script.commands[:-1])
    return leaves or any(command.name == "set" for command in script.commands)


def _why_list_passes(commands: tuple[Command, ...]) -> str | None:
    last = commands[-1]
    before = commands[-2].after if len(commands) > 1 else ""
    if before == "&&":
        return None
    if before == "|":
        return f"a pipe ends as its last command does, and {last.name} never fails" if last.name in _PIPED else None
    said = "whatever fails, " if before == "||" else ""
    if last.name in ("exit", "return"):
        return f"{said}it ends with {' '.join(last.words)}" if last.words[1:] == ("0",) else None
    return f"{said}{shortened(' '.join(last.words))!r} succeeds" if last.name in _SUCCEEDS else None


def _never_passes(stack: Stack) -> Iterator[Finding]:
    """A script that ends with a failure, with no way out before."""
    for service, probe in probes(stack):
        script = probe.script
        if script is None or script.compound or not script.commands or _leaves_early(script):
            continue
        last = script.lists[-1]
        fails = last[-1].words in (("false",), ("exit", "1")) and (len(last) == 1 or last[-2].after == "&&")
        if fails:
            yield Finding(
                "health-never-passes",
                Severity.ERROR,
                Certainty.CERTAIN,
                service.place("healthcheck", "test"),
                f"it ends with {' '.join(last[-1].words)!r} whenever it gets that far, so {never(service)}",
                "write || exit 1 behind the command that asks, not ; exit 1 or && exit 1",
            )


def _ignores_status(stack: Stack) -> Iterator[Finding]:
    """toptal/haste-server #401: curl ends with 0 as soon as anything answers."""
    for service, probe in probes(stack):
        words = None if probe.dropped or _why_always(probe) else _deciding_curl(probe)
        if words is None:
            continue
        yield Finding(
            "health-ignores-status",
            Severity.WARNING,
            Certainty.CERTAIN,
            service.place("healthcheck", "test"),
            f"{shortened(' '.join(words))!r} ends with 0 on HTTP 500 and 503, too: a task that answers nothing but"
            " errors counts as healthy",
            "write curl -f (or --fail), which ends with 22 from status 400 on",
        )


def _deciding_curl(probe: Probe) -> tuple[str, ...] | None:
    """The curl whose exit code is the check's, where it doesn't look at the status."""
    commands = probe.script.commands if probe.script else (Command(probe.words, "", redirected=False),)
    compound = probe.script is not None and probe.script.compound
    for command in commands:
        decides = command.name == "curl" and command.after != "|" and not compound
        if decides and not _looks_at_status(command.words):
            return command.words
    return None


def _looks_at_status(words: tuple[str, ...]) -> bool:
    if "f" in short_flags(words) or any(word.startswith(("--fail", "-w", "--write-out")) for word in words):
        return True
    schemes = [word.partition("://")[0] for word in words[1:] if "://" in word]
    return any(scheme not in ("http", "https") for scheme in schemes)


def _finds_itself(stack: Stack) -> Iterator[Finding]:
    """The shell's own command line holds the pattern that's looked for."""
    for service, probe in probes(stack):
        found = _own_name(probe.script) if probe.script and not probe.script.compound else None
        if found is None or probe.dropped:
            continue
        what, certainty = found
        yield Finding(
            "health-finds-itself",
            Severity.WARNING,
            certainty,
            service.place("healthcheck", "test"),
            f"{what} finds the shell that runs the check, whose command line has the same word in it, so {ALWAYS}",
            "ask the app itself, such as by curl -fsS; or write a letter of the pattern in brackets: [n]ginx",
        )


def _own_name(script: Script) -> tuple[str, Certainty] | None:
    commands = script.commands
    for at, command in enumerate(commands):
        more = len(commands) > 1
        pattern = command.words[-1] if len(command.words) > 1 else ""
        plain = pattern and not set(pattern) & set("[]^$\\*(") and not pattern.startswith("-")
        if (
            command.name == "pgrep"
            and "f" in short_flags(command.words)
            and plain
            and "x" not in short_flags(command.words)
        ):
            return f"pgrep -f {pattern}", Certainty.CERTAIN if more else Certainty.LIKELY
        if command.name == "ps" and command.after == "|":
            return _piped(commands[at + 1 :])
    return None


def _piped(commands: tuple[Command, ...]) -> tuple[str, Certainty] | None:
    """Whether all that ``ps`` goes through lets the shell's own line pass."""
    chain: list[Command] = []
    for command in commands:
        chain.append(command)
        if command.after != "|":
            break
    greps = [command for command in chain if command.name in ("grep", "egrep")]
    if not greps or len(greps) != len(chain) or any("v" in short_flags(grep.words) for grep in greps):
        return None
    pattern = greps[-1].words[-1]
    plain = not set(pattern) & set("[]^$\\*(|")
    return (f"ps | grep {pattern}", Certainty.CERTAIN) if plain else None


RULES = (
    Rule("health-always-passes", "|| true, exit 0, echo and the like: the check can't fail", _always_passes),
    Rule("health-never-passes", "; exit 1 and && exit 1: the check can't pass", _never_passes),
    Rule("health-ignores-status", "curl without -f takes HTTP 500 for health", _ignores_status),
    Rule("health-finds-itself", "ps | grep and pgrep -f find the check's own shell", _finds_itself),
)
