"""Work that runs beside or behind the main process, where no signal gets to it in good order."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.programs.commands import Started, base
from swarmtest.lint.programs.drains import drains
from swarmtest.lint.programs.shell import Command
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.rules.signals import is_a_job, to_stop
from swarmtest.lint.services import LintService
from swarmtest.lint.wording import seconds, shortened

_DETACHES = frozenset({"--detach", "--daemon", "--daemonize", "--background"})
_STARTERS = frozenset({"service", "systemctl", "rc-service", "pm2", "forever", "apachectl", "apache2ctl", "celery"})
_FOLLOWS = frozenset({"-f", "-F", "--follow", "-fn0"})
_HARMLESS = frozenset(
    {"mkdir", "touch", "chown", "chmod", "echo", "cp", "mv", "rm", "ln", "cd", "export", "set", "printf", "sleep"}
)


def _detached(stack: Stack) -> Iterator[Finding]:
    """openwisp/docker-openwisp #694."""
    for service, begun in to_stop(stack):
        found = _left_beside(begun)
        if found is None:
            continue
        work, main, certainty = found
        grace = seconds(service.grace_seconds) if service.grace_seconds is not None else "the grace"
        if begun.init or (begun.script and begun.script.commands[-1].name == "exec"):
            then = f"the signal ends {main} within the second, and the kernel kills all else in the container with it"
        else:
            then = f"nothing acts on the signal for {grace}, then all is killed together"
        yield Finding(
            "work-detached-from-main",
            Severity.ERROR if certainty is Certainty.CERTAIN else Severity.WARNING,
            certainty,
            service.place("command" if service.command else "entrypoint"),
            f"{shortened(work)!r} runs beside the main process, which is {main!r}: {then}; the work is never told to"
            " finish,"
            " and a longer grace doesn't change that",
            f"make it the main process: exec {shortened(work)} in the foreground, each in a service of its own",
        )


def _left_beside(begun: Started) -> tuple[str, str, Certainty] | None:
    """What's started beside the main process, and what that is; None where nothing is, or the script sees to it."""
    script = begun.script
    if script is None or begun.extra or len(script.commands) < 2 or script.calls("trap"):
        return None
    before, last = script.commands[:-1], script.commands[-1]
    main = shortened(" ".join(word for word in last.words if word != "exec"))
    beside = [command for command in before if command.after == "&" or _starts_a_daemon(command)]
    words = last.words[1:] if last.name == "exec" else last.words
    holds = (base(words) == "tail" and _FOLLOWS & set(words)) or words in (("sleep", "infinity"), ("wait",))
    if beside and not script.loops:
        certainty = Certainty.CERTAIN if holds and not script.compound else Certainty.LIKELY
        return " ".join(beside[0].words), main, certainty
    work = [command for command in before if command.name not in _HARMLESS]
    return (" ".join(work[-1].words), main, Certainty.LIKELY) if holds and work else None


def _starts_a_daemon(command: Command) -> bool:
    """Whether a command returns at once, and leaves something running."""
    words = command.words
    if words[0].startswith("/etc/init.d/") or command.name in _STARTERS:
        return "start" in words[1:]
    return not _DETACHES.isdisjoint(words[1:])


def _supervised(stack: Stack) -> Iterator[Finding]:
    """Unitech/pm2 #2502: a supervisor's own limit ends the drain, whatever the grace is."""
    for service in stack.services:
        for drain in () if is_a_job(service) else drains(service):
            grace = service.grace_seconds
            if drain.kind != "supervisor" or grace is None or drain.seconds >= int(grace):
                continue
            written = f" by {drain.written}" if drain.written else ", its default"
            yield Finding(
                "supervisor-ends-drain",
                Severity.WARNING,
                Certainty.CERTAIN if drain.written else Certainty.LIKELY,
                service.place(*drain.key),
                f"{drain.program} kills what it has started {seconds(drain.seconds)} after its signal{written}: of"
                " the grace"
                f" of {seconds(grace)} the app gets no more than that",
                _RAISE[drain.program],
            )


_NO_SUPERVISOR = "start the program without it, in a service of its own"
_RAISE = {
    "supervisord": "write stopwaitsecs in its configuration (where it may be set already), some seconds below the"
    " grace",
    "pm2": "write --kill-timeout in milliseconds, some seconds below the grace; the app has to act on SIGINT",
    "foreman": "write -t with seconds, some below the grace",
    "honcho": _NO_SUPERVISOR,
    "overmind": "write -t with seconds, some below the grace",
    "s6": "raise S6_SERVICES_GRACETIME, in milliseconds, to some seconds below the grace",
    "su": "write exec su-exec or gosu instead of su, which become the program",
}


def _jvm_reduced(stack: Stack) -> Iterator[Finding]:
    """-Xrs: the JVM doesn't act on SIGTERM, so no shutdown hook runs."""
    for service, begun in to_stop(stack):
        said = any(base(words) == "java" and "-Xrs" in words for words in begun.programs)
        where = ("command" if service.command else "entrypoint",) if said else _in_java_options(service)
        if where is None:
            continue
        yield Finding(
            "jvm-ignores-signals",
            Severity.ERROR,
            Certainty.CERTAIN,
            service.place(*where),
            "with -Xrs the JVM leaves SIGTERM alone: no shutdown hook runs, and nothing is drained",
            "take -Xrs out",
        )


def _in_java_options(service: LintService) -> tuple[str, ...] | None:
    for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS"):
        if "-Xrs" in (service.environment.get(name) or "").split():
            return "environment", name
    return None


RULES = (
    Rule("work-detached-from-main", "work in the background of a main process that does none", _detached),
    Rule("supervisor-ends-drain", "a supervisor kills the app before the grace is over", _supervised),
    Rule("jvm-ignores-signals", "-Xrs switches the JVM's shutdown hooks off", _jvm_reduced),
)
