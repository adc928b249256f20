"""Health checks that can't work as they're written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swarmtest.lint import Certainty, Edit, Finding, Severity
from swarmtest.lint.programs.commands import base
from swarmtest.lint.programs.probes import Probe, probes, short_flags
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.lint.wording import listed, shortened

_OPERATORS = frozenset({"||", "&&", "|", ";", ">", ">>", "2>&1", "2>/dev/null", ">/dev/null", "&>/dev/null", "&"})

_TAKES_ANY = frozenset({"echo", "true", "redis-cli", "valkey-cli", "printf"})
"""They end with 0 whatever else they're given; redis-cli does even where the server answers an error."""

_SCRIPTED = frozenset({"python", "python3", "node", "ruby", "perl", "php", "deno", "bun", "java"})
"""They hand further words to their script, which may or may not look at them."""

_NEEDS_MORE = frozenset({"curl", "wget", "test", "[", "nc", "grep", "python", "python3", "node", "php"})
"""Without words behind them they fail, or have nothing to run."""

_EMPTY_IS_FINE = frozenset({"redis-cli", "valkey-cli", "echo", "true", "cat", "python", "python3", "node", "php"})
"""Without words behind them, and with no input, they end with 0."""

ALWAYS = "the check is always green, whatever the app does"


def never(service: LintService) -> str:
    """What comes of a check that can't pass."""
    if service.swarm:
        return "the task never gets healthy, and a rollout can't finish"
    return "the container never gets healthy, and what depends on that isn't started"


def _test(service: LintService) -> tuple[str, ...]:
    return service.health.test if service.health else ()


def _operators_as_arguments(stack: Stack) -> Iterator[Finding]:
    """toptal/haste-server #401; docker/docs #14113, PR #10058; donknap/dpanel #257."""
    for service, probe in probes(stack):
        found = [word for word in probe.words[1:] if word in _OPERATORS or " || " in word]
        if probe.script or not found or "-c" in probe.words or "-e" in probe.words:
            continue
        name = base(probe.words)
        what = f"CMD starts no shell, so {name} gets {listed(sorted(set(found)))} as words of its own"
        place = service.place("healthcheck", "test")
        fix = f'write test: "{_as_text(probe.words)}", which a shell runs'
        if name in _SCRIPTED:
            effect = f"{what}: they do nothing, or disturb the script that {name} runs"
            yield Finding(_AS_ARGUMENTS, Severity.WARNING, Certainty.LIKELY, place, effect, fix)
            continue
        outcome = ALWAYS if name in _TAKES_ANY else f"it fails, and {never(service)}"
        certainty = Certainty.CERTAIN if name in _TAKES_ANY | _KNOWN else Certainty.LIKELY
        yield Finding(_AS_ARGUMENTS, Severity.ERROR, certainty, place, f"{what}; {outcome}", fix)


_KNOWN = frozenset({"curl", "wget", "test", "[", "pg_isready", "nc", "cat", "mysqladmin", "mariadb-admin", "grep"})
"""Known to fail over words that they don't know."""

_AS_ARGUMENTS = "health-operators-as-arguments"


def _as_text(words: tuple[str, ...]) -> str:
    return " ".join(words)


def _items_dropped(stack: Stack) -> Iterator[Finding]:
    """docker/docs #14113: of CMD-SHELL only the first item is the script."""
    for service, probe in probes(stack):
        if not probe.script or not probe.dropped or "$" in probe.text:
            continue
        lost = shortened(" ".join(probe.dropped))
        effect = f"the shell runs only {shortened(probe.text)!r}, and never {lost!r}; {_outcome(service, probe)}"
        yield Finding(
            "health-items-dropped",
            Severity.ERROR,
            Certainty.CERTAIN if probe.script.commands else Certainty.LIKELY,
            service.place("healthcheck", "test"),
            effect,
            f'write the whole check as one text: test: "{_as_text((probe.text, *probe.dropped))}"',
        )


def _outcome(service: LintService, probe: Probe) -> str:
    """Which way it goes wrong: always red, always green, or weaker than it looks."""
    commands = probe.script.commands if probe.script else ()
    words = commands[-1].words if commands else ()
    name = base(words)
    if len(words) == 1 and name in _EMPTY_IS_FINE:
        return f"{name} alone ends with 0, so {ALWAYS}"
    if len(words) == 1 and name in _NEEDS_MORE:
        return f"{name} alone fails, so {never(service)}"
    if name == "curl" and not _fails_on_status(words):
        return f"curl without -f ends with 0 on HTTP 500, too: {ALWAYS} as long as something answers"
    if name in _TAKES_ANY:
        return ALWAYS
    return "what's behind the first item is no part of the check"


def _fails_on_status(words: tuple[str, ...]) -> bool:
    return "f" in short_flags(words) or any(word.startswith("--fail") for word in words)


def _kind_missing(stack: Stack) -> Iterator[Finding]:
    """moby ``daemon/health.go``: no probe is made for a kind that it doesn't know."""
    for service in stack.services:
        test = _test(service)
        if not test or test[0] in ("CMD", "CMD-SHELL", "NONE"):
            continue
        yield Finding(
            "health-kind-missing",
            Severity.ERROR,
            Certainty.CERTAIN,
            service.place("healthcheck", "test"),
            f"the list has to begin with CMD or CMD-SHELL, and begins with {shortened(test[0])!r}: the engine never"
            f" runs the check; {never(service) if service.swarm else 'the container stays in the state starting'}",
            f'write test: ["{_kind_of(test)}", {", ".join(chr(34) + word + chr(34) for word in test)}]',
        )


def _none_as_text(stack: Stack) -> Iterator[Finding]:
    """docker/cli ``loader.go``, ``transformHealthCheckTest``, and compose-go: a text is always a script."""
    for service in stack.services:
        if _test(service) != ("CMD-SHELL", "NONE"):
            continue
        yield Finding(
            "health-none-as-text",
            Severity.ERROR,
            Certainty.CERTAIN,
            service.place("healthcheck", "test"),
            f"as a text, NONE is a command that a shell is to run: there's no such program, so {never(service)}",
            'write test: ["NONE"], or disable: true, to have no check; a check that can pass is better',
        )


def _kind_of(words: Sequence[str]) -> str:
    """What such a list was meant to begin with: a whole command in one item wants a shell."""
    return "CMD-SHELL" if len(words) == 1 and " " in words[0].strip() else "CMD"


def _program_not_found(stack: Stack) -> Iterator[Finding]:
    """moby ``daemon/health.go``: CMD executes its first item, spaces and all."""
    for service, probe in probes(stack):
        first = probe.words[0] if probe.words else ""
        if probe.script or " " not in first.strip():
            continue
        yield Finding(
            "health-program-not-found",
            Severity.ERROR,
            Certainty.CERTAIN,
            service.place("healthcheck", "test"),
            f"CMD starts no shell: it looks for a program whose name is {shortened(first)!r}, spaces and all, and finds"
            f" none; {never(service)}",
            f'write test: "{_as_text(probe.words)}", or one item for each word',
            _as_script(service) if len(probe.words) == 1 else None,
        )


def _as_script(service: LintService) -> Edit | None:
    """CMD-SHELL in the place of CMD makes a single item the script that it was meant to be."""
    key = ("services", service.name, "healthcheck", "test", "0")
    return Edit(key, "CMD-SHELL") if key in service.document.places else None


_SHORTEST_SECONDS = 0.001


def _values_refused(stack: Stack) -> Iterator[Finding]:
    """swarmkit's validation of a service, and moby ``daemon/container.go``, validateHealthCheck."""
    for service in stack.services:
        if service.health is None:
            continue
        given = {
            "interval": service.health.interval_seconds,
            "timeout": service.health.timeout_seconds,
            "start_period": service.health.start_period_seconds,
        }
        for key, seconds in given.items():
            if seconds is None or seconds == 0 or seconds >= _SHORTEST_SECONDS:
                continue
            yield Finding(
                "health-values-refused",
                Severity.ERROR,
                Certainty.CERTAIN,
                service.place("healthcheck", key),
                f"{key} of {service.value('healthcheck', key)} is below 1ms: the file is taken, and then the engine"
                + (
                    " refuses the service; what comes after it isn't deployed"
                    if service.swarm
                    else " refuses the container"
                ),
                f"write a {key} of at least 1ms, or leave it out for the default",
            )


RULES = (
    Rule(_AS_ARGUMENTS, "||, exit and the like in a list that no shell reads", _operators_as_arguments),
    Rule("health-items-dropped", "items behind the script of a CMD-SHELL list, which are never run", _items_dropped),
    Rule("health-kind-missing", "a list that begins with neither CMD nor CMD-SHELL is never run", _kind_missing),
    Rule("health-none-as-text", "NONE written as a text, which a shell is to run", _none_as_text),
    Rule("health-program-not-found", "a whole command as the first item of CMD", _program_not_found),
    Rule("health-values-refused", "times that the engine refuses when it makes the container", _values_refused),
)
