"""Whether the stop signal means to the program what it's meant to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from swarmtest.lint import Certainty, Edit, Finding, Severity
from swarmtest.lint.programs.commands import flag
from swarmtest.lint.programs.drains import programs
from swarmtest.lint.programs.stop_signals import (
    StopSignals,
    looks_like_nginx,
    postgres,
    signals_of_image,
    signals_of_program,
)
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.lint.wording import seconds

_NUMBERS = {1: "HUP", 2: "INT", 3: "QUIT", 9: "KILL", 10: "USR1", 12: "USR2", 15: "TERM", 19: "STOP", 28: "WINCH"}
_NAMES = frozenset(
    (
        "ABRT",
        "ALRM",
        "BUS",
        "CHLD",
        "CLD",
        "CONT",
        "FPE",
        "HUP",
        "ILL",
        "INT",
        "IO",
        "IOT",
        "KILL",
        "PIPE",
        "POLL",
        "PROF",
    )
).union(
    ("PWR", "QUIT", "SEGV", "STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP", "TTIN", "TTOU", "URG", "USR1", "USR2"),
    ("VTALRM", "WINCH", "XCPU", "XFSZ", "RTMIN", "RTMAX"),
)
"""What moby's ``signal.ParseSignal`` knows on Linux, beside RTMIN+N and RTMAX-N."""

_REAL_TIME = re.compile(r"RTMIN\+(?:[1-9]|1[0-5])|RTMAX-(?:[1-9]|1[0-4])")
_IGNORED = frozenset({"SIGCHLD", "SIGCLD", "SIGCONT", "SIGURG", "SIGWINCH"})
"""What the kernel does with them, where the program says nothing, is nothing."""


def stop_signal(service: LintService) -> str | None:
    """The signal that's written, as ``SIGTERM``; None where none is, or where it's no signal."""
    if service.stop_signal is None:
        return None
    text = service.stop_signal
    if text.isascii() and text.isdecimal():
        return f"SIG{_NUMBERS.get(int(text), text)}" if 1 <= int(text) <= 64 else None
    name = text.upper().removeprefix("SIG")
    return f"SIG{name}" if name in _NAMES or _REAL_TIME.fullmatch(name) else None


def _unknown(stack: Stack) -> Iterator[Finding]:
    """moby ``signal.ParseSignal``: the engine refuses the container."""
    for service in stack.services:
        if not service.stop_signal or stop_signal(service):
            continue
        yield Finding(
            "stop-signal-unknown",
            Severity.ERROR,
            Certainty.CERTAIN,
            service.place("stop_signal"),
            f"{service.stop_signal} is no signal: the file is taken, but the engine refuses to make the container, so"
            " no task"
            " ever starts",
            "write a signal's name, such as SIGTERM or SIGQUIT",
        )


def _kills(stack: Stack) -> Iterator[Finding]:
    """SIGKILL and SIGSTOP can't be caught."""
    for service in stack.services:
        signal = stop_signal(service)
        if signal not in ("SIGKILL", "SIGSTOP"):
            continue
        ends = "ends it in that instant" if signal == "SIGKILL" else "freezes it until SIGKILL"
        yield Finding(
            "stop-signal-kills",
            Severity.ERROR,
            Certainty.CERTAIN,
            service.place("stop_signal"),
            f"no program can act on {signal}: it {ends}, and whatever it was doing is cut; no grace helps",
            "leave stop_signal out, or name the signal at which the program drains",
        )


def _cuts(stack: Stack) -> Iterator[Finding]:
    """nginx/docker-nginx #377, PR #457; sclorg/nginx-container #242."""
    for service in stack.services:
        signal, by_image = stop_signal(service), signals_of_image(service.image)
        takes = by_image or _of_programs(service)
        if takes is None or _told_otherwise(service, takes):
            continue
        if signal in takes.cuts:
            yield _cut_by(service, takes, signal)
        elif service.stop_signal is None and by_image is None and not takes.image_sets and _default_hurts(takes):
            yield _cut_by_default(service, takes)


def _of_programs(service: LintService) -> StopSignals | None:
    return next((takes for words in programs(service) if (takes := signals_of_program(words))), None)


def _cut_by(service: LintService, takes: StopSignals, signal: str | None) -> Finding:
    grace = "" if service.grace_seconds is None else f", and the grace of {seconds(service.grace_seconds)} isn't used"
    softened = takes.program == "Celery"  # from 5.5 on its settings may make SIGQUIT a soft shutdown
    return Finding(
        "stop-signal-cuts",
        Severity.WARNING if softened else Severity.ERROR,
        Certainty.LIKELY if softened else Certainty.CERTAIN,
        service.place("stop_signal"),
        f"{takes.program} takes {signal} as the order to end at once: what's running is cut{grace}; it looks fast and"
        " clean,"
        " and a longer grace doesn't help",
        f"write stop_signal: {takes.drains}, at which {takes.program} finishes what it's doing",
        Edit(("services", service.name, "stop_signal"), takes.drains),
    )


def _default_hurts(takes: StopSignals) -> bool:
    return "SIGTERM" in takes.cuts or takes.program == "uWSGI"


def _cut_by_default(service: LintService, takes: StopSignals) -> Finding:
    if takes.program == "uWSGI":
        effect = "takes SIGTERM as the order to begin anew, not to end: it's killed when the grace is over"
    else:
        effect = "takes SIGTERM as the order to end at once, and what's running is cut"
    return Finding(
        "stop-signal-cuts",
        Severity.WARNING,
        Certainty.LIKELY,
        service.place("stop_signal"),
        f"no stop_signal is written, so it's SIGTERM unless the image says otherwise, and {takes.program} {effect}",
        "write die-on-term in uWSGI's settings, or stop_signal: SIGQUIT"
        if takes.program == "uWSGI"
        else f"write stop_signal: {takes.drains}, at which {takes.program} finishes what it's doing",
    )


def _told_otherwise(service: LintService, takes: StopSignals) -> bool:
    """Whether a setting changes what the signal means, or may: a configuration file can't be looked into."""
    words = [word for program in programs(service) for word in program]
    if takes.program == "uWSGI":
        settings = ("--ini", "--yaml", "--yml", "--xml", "--json", "--emperor", "--hook-master-start")
        configured = any(flag(tuple(words), name) for name in settings) or any(word.endswith(".ini") for word in words)
        return "--die-on-term" in words or "UWSGI_DIE_ON_TERM" in service.environment or configured
    if takes.program == "Resque":
        return not {"TERM_CHILD", "GRACEFUL_TERM"}.isdisjoint(service.environment)
    return False


def _postgres(stack: Stack) -> Iterator[Finding]:
    """PostgreSQL's postmaster: TERM waits for all clients, INT ends their sessions, QUIT leaves recovery to the"
    " start."""
    for service in stack.services:
        signal = stop_signal(service)
        if signal not in ("SIGTERM", "SIGQUIT") or not postgres(service.image):
            continue
        waits = "waits until every client has gone by itself, which pooled connections never do, so it ends in SIGKILL"
        leaves = "ends without a checkpoint"
        yield Finding(
            "stop-signal-cuts",
            Severity.ERROR if signal == "SIGQUIT" else Severity.WARNING,
            Certainty.CERTAIN if signal == "SIGQUIT" else Certainty.LIKELY,
            service.place("stop_signal"),
            f"at {signal} PostgreSQL {leaves if signal == 'SIGQUIT' else waits}, and the next start has to recover"
            " first",
            "leave stop_signal out: the image's own is SIGINT, a fast and orderly end",
        )


def _unverified(stack: Stack) -> Iterator[Finding]:
    """nginx/docker-nginx #377: forks and older images have SIGTERM."""
    for service in stack.services:
        if service.stop_signal is not None:
            continue
        old = signals_of_image(service.image) and service.image.name == "nginx" and _before_quit(service.image.tag)
        if not old and (signals_of_image(service.image) or not looks_like_nginx(service.image)):
            continue
        yield Finding(
            "stop-signal-unverified",
            Severity.WARNING,
            Certainty.UNKNOWN,
            service.place("image"),
            f"nginx drains at SIGQUIT, and cuts what's running at SIGTERM; which of them {service.image.text} is"
            " stopped by"
            " is its own setting, and images made before the end of 2020 have SIGTERM",
            "write stop_signal: SIGQUIT, or look: docker inspect -f '{{.Config.StopSignal}}' " + service.image.text,
        )


def _before_quit(tag: str) -> bool:
    """Whether a version is older than 1.19.5, the first official nginx with SIGQUIT."""
    parts = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", tag)
    if not parts or (parts[3] is None and parts[2] == "19"):
        return False
    return (int(parts[1]), int(parts[2]), int(parts[3] or 0)) < (1, 19, 5)


def _ignored(stack: Stack) -> Iterator[Finding]:
    """signal(7): their default is to be ignored."""
    for service in stack.services:
        signal = stop_signal(service)
        takes = signals_of_image(service.image) or _of_programs(service)
        if signal not in _IGNORED or (takes and takes.drains == signal):
            continue
        if signal == "SIGWINCH" and ("httpd" in service.image.text or "apache" in service.image.text):
            continue
        yield Finding(
            "stop-signal-ignored",
            Severity.WARNING,
            Certainty.LIKELY,
            service.place("stop_signal"),
            f"a program that doesn't ask for {signal} never notices it: each stop then lasts the whole grace, and"
            " ends in"
            " SIGKILL",
            "leave stop_signal out for SIGTERM, or name the signal at which the program drains",
        )


RULES = (
    Rule("stop-signal-unknown", "a stop signal that the engine doesn't know", _unknown),
    Rule("stop-signal-kills", "SIGKILL or SIGSTOP as the stop signal", _kills),
    Rule(
        "stop-signal-cuts",
        "a signal at which this program ends at once, or not at all",
        lambda stack: (*_cuts(stack), *_postgres(stack)),
    ),
    Rule("stop-signal-unverified", "nginx in an image whose stop signal isn't known", _unverified),
    Rule("stop-signal-ignored", "a stop signal that programs usually ignore", _ignored),
)
