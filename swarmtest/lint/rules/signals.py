"""Whether the stop signal gets to the program that has to drain."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Place, Severity
from swarmtest.lint.programs.commands import REPLACING_SHELLS, SHELLS, Started, base, started
from swarmtest.lint.programs.official import official
from swarmtest.lint.programs.shell import Script
from swarmtest.lint.programs.stop_signals import alpine
from swarmtest.lint.rolling import runs_once
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.lint.wording import listed, seconds, shortened

_WRAPPERS = {
    "npm": "npm passes the signal on or not, by its version (npm/cli #6547, #6684), and ends with an error when it"
    " does",
    "npx": "npx starts the program as a child, and passes the signal on or not, by npm's version",
    "yarn": "yarn starts the program as a child, and passes the signal on or not, by its version",
    "pnpm": "pnpm starts the program as a child, and passes the signal on or not, by its version",
    "nodemon": "nodemon is for development, and ends its child in its own way",
    "ts-node-dev": "ts-node-dev is for development, and ends its child in its own way",
    "concurrently": "concurrently starts shells, each with a program of its own",
    "make": "make starts a shell for each line of its recipe",
    "mvn": "Maven starts the app in a process of its own",
    "mvnw": "Maven starts the app in a process of its own",
    "gradle": "Gradle starts the app in a process of its own",
    "gradlew": "Gradle starts the app in a process of its own",
}
_RUNNERS = {"go": "run", "cargo": "run", "dotnet": "watch", "bun": "run", "deno": "task"}
_HOLDS_ON = frozenset({"tail", "wait", "sleep", "cat", "read"})
"""Commands at the end of a script that keep a container alive, and do no work."""

_OVER_AT_ONCE = frozenset(
    {"echo", "printf", "true", "false", "exit", "ls", "rm", "cp", "mv", "mkdir", "chown", "chmod", "date"}
)
"""Commands that nobody has to tell to stop: a script that ends with them is a chore."""


def to_stop(stack: Stack) -> Iterator[tuple[LintService, Started]]:
    """Each service that's told to stop while it works, and how the file starts it."""
    for service in stack.services:
        begun = started(service)
        if begun and not is_a_job(service):
            yield service, begun


def is_a_job(service: LintService) -> bool:
    """Whether it runs to its own end, so that nobody tells it to stop."""
    return service.mode in ("replicated-job", "global-job") or runs_once(service)


def what_happens(service: LintService, begun: Started, child: str) -> str:
    """What comes of a signal that stops at the process in front of the one that works."""
    if begun.init:
        return (
            f"{begun.init} passes it to the shell only, which ends at once, and the container with it: {child} is"
            " killed in"
            " that moment, which looks fast and clean"
        )
    return f"the signal doesn't get to {child}: each stop lasts {_whole_grace(service)}, and ends in SIGKILL"


def _whole_grace(service: LintService) -> str:
    known = service.grace_seconds
    return f"the whole {seconds(known)} of grace" if known is not None else "the whole grace"


def _at_shell(stack: Stack) -> Iterator[Finding]:
    """TryGhost/docker-library-ghost #37; krallin/tini #172, #45; govuk-pay/pay-frontend PR #923."""
    for service, begun in to_stop(stack):
        if begun.script is None or begun.extra:
            continue
        how = _stays(service, begun.script, begun.shell or "")
        if how is None:
            continue
        why, certainty, severity = how
        child = "what runs in the loop" if begun.script.loops else begun.main_name or "the program"
        yield Finding(
            "signal-stops-at-shell",
            severity,
            certainty,
            _written(service),
            f"{begun.shell} runs {shortened(begun.text)!r}: {why}; {what_happens(service, begun, child)}",
            _how_to_exec(begun.script),
        )


def _written(service: LintService) -> Place:
    """Where the script is: behind the entrypoint, if that's only the shell."""
    return service.place("command" if service.command else "entrypoint")


def _stays(service: LintService, script: Script, shell: str) -> tuple[str, Certainty, Severity] | None:
    """Why the shell is still there when the program runs, and how sure that is; None where it isn't, or handles it."""
    commands = script.commands
    idle = commands and commands[-1].name in _HOLDS_ON | _OVER_AT_ONCE and not script.loops
    if not commands or idle or script.calls("trap") or commands[-1].after == "&":
        return None
    if len(commands) > 1 and commands[-2].after == "|":
        return "a shell stays in front of a pipe", Certainty.CERTAIN, Severity.ERROR
    if commands[-1].name == "exec" or (script.compound and script.calls("exec")):
        return None
    if script.loops:
        return "a shell stays in front of a loop", Certainty.CERTAIN, Severity.WARNING
    if script.compound:
        return "a shell stays in front of what's in if, case or brackets", Certainty.LIKELY, Severity.WARNING
    return _stays_plain(script, shell in REPLACING_SHELLS or alpine(service.image))


def _stays_plain(script: Script, replaces: bool) -> tuple[str, Certainty, Severity] | None:
    """The same of commands one after the other, by whether the shell replaces itself by the last one."""
    if len(script.commands) > 1:
        if replaces:
            why = "the shell is PID 1 until the last command, and gives way to that only by its version"
            return why, Certainty.LIKELY, Severity.WARNING
        return "with several commands the shell stays PID 1", Certainty.CERTAIN, Severity.ERROR
    if replaces and not script.commands[0].redirected:
        return None
    return "dash, Debian's sh, stays PID 1, and bash gives way", Certainty.LIKELY, Severity.WARNING


def _how_to_exec(script: Script) -> str:
    commands = script.commands
    if len(commands) > 1 and commands[-2].after == "|":
        return "write to stdout without a pipe, and exec before the program; docker logs keeps what it says"
    if len(commands) == 1:
        words = ", ".join(f'"{word}"' for word in commands[0].words)
        return f"write command: [{words}], or exec before it, and confirm it with a stop test"
    if script.loops:
        return "let the script trap TERM, or run one program that does the loop itself"
    return f"write exec before the last command: exec {shortened(' '.join(commands[-1].words))}"


def _at_wrapper(stack: Stack) -> Iterator[Finding]:
    """TryGhost/docker-library-ghost #37; sclorg/s2i-nodejs-container #120."""
    for service, begun in to_stop(stack):
        why = _wrapper(begun.main)
        if why is None:
            continue
        yield Finding(
            "signal-stops-at-wrapper",
            Severity.WARNING,
            Certainty.LIKELY,
            _written(service),
            f"{why}: where the signal isn't passed on, each stop lasts {_whole_grace(service)} and ends in SIGKILL,"
            " and where the wrapper ends first, the app is killed in that moment",
            "start the program itself, such as node server.js, and confirm it with a stop test",
        )


def _wrapper(words: tuple[str, ...]) -> str | None:
    name = base(words)
    if name in _RUNNERS and words[1:2] == (_RUNNERS[name],):
        return f"{name} {words[1]} starts the program as a child of its own"
    if name == "php" and words[1:3] == ("artisan", "serve"):
        return "artisan serve starts PHP's own server as a child"
    return _WRAPPERS.get(name)


def _drops_words(stack: Stack) -> Iterator[Finding]:
    """``sh -c`` takes one word as its script; the others are that script's parameters."""
    for service, begun in to_stop(stack):
        if not begun.script or not begun.extra or "$" in begun.text:
            continue
        yield Finding(
            "shell-drops-words",
            Severity.ERROR,
            Certainty.CERTAIN,
            _written(service),
            f"{begun.shell} -c takes one word as its script: it runs {shortened(begun.text)!r}, and"
            f" {shortened(' '.join(begun.extra))!r} is only $0, $1 and so on",
            f"quote the whole script: {begun.shell} -c 'exec {shortened(' '.join((begun.text, *begun.extra)))}'",
        )


def _main_unknown(stack: Stack) -> Iterator[Finding]:
    """What PID 1 is stands in the image, or in a script of it."""
    unknown = [service for service in stack.services if _only_image_knows(service)]
    if not unknown:
        return
    first = unknown[0]
    yield Finding(
        "main-process-unknown",
        Severity.INFO,
        Certainty.UNKNOWN,
        first.place("image"),
        f"what gets the stop signal in {listed(service.name for service in unknown)} is decided by the image's own"
        " command,"
        " or by a script in it, which the file doesn't show",
        "see that each starts its program in exec form, and that scripts end in exec; then confirm it with a stop test",
    )


def _only_image_knows(service: LintService) -> bool:
    if is_a_job(service):
        return False
    begun = started(service)
    if begun is None:
        return not official(service.image) or service.has("build")
    script = begun.main_name.endswith(".sh") or begun.main_name in SHELLS
    return script and begun.script is None


RULES = (
    Rule("signal-stops-at-shell", "a shell stays in front of the program, and passes no signal on", _at_shell),
    Rule("signal-stops-at-wrapper", "npm, yarn, make and the like in front of the program", _at_wrapper),
    Rule("shell-drops-words", "words behind the script of sh -c", _drops_words),
    Rule("main-process-unknown", "services whose image decides what gets the signal", _main_unknown),
)
