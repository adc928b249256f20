"""Health checks that may not work in the image, or ask at the wrong door."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.programs.commands import SHELLS, base
from swarmtest.lint.programs.probes import Probe, probes, urls
from swarmtest.lint.programs.stop_signals import alpine, has_curl, shell_less, slim
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.rules.health import never
from swarmtest.lint.services import Image, LintService

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]", "0.0.0.0"})  # noqa: S104  addresses to compare with


def _tool_unverified(stack: Stack) -> Iterator[Finding]:
    """DependencyTrack/dependency-track #458; iam4x/bobarr PR #236."""
    for service, probe in probes(stack):
        missing = next(
            (tool for words in probe.calls if (tool := base(words)) and _may_miss(service.image, tool)), None
        )
        if missing is None:
            continue
        kind = "an Alpine image" if alpine(service.image) else "a slim image"
        yield Finding(
            "health-tool-unverified",
            Severity.WARNING,
            Certainty.UNKNOWN,
            service.place("healthcheck", "test"),
            f"the check needs {missing}, and {kind} such as {service.image.text} has none unless somebody put it in;"
            f" without it {never(service)}",
            f"see whether it's there: docker run --rm --entrypoint {missing} {service.image.text} --version; if not,"
            " install"
            " it, or ask with what the image has",
        )


def _may_miss(image: Image, tool: str) -> bool:
    if tool == "curl":
        return (alpine(image) or slim(image)) and not (has_curl(image) and not slim(image))
    return tool == "wget" and slim(image)


def _shell_missing(stack: Stack) -> Iterator[Finding]:
    """Images without a shell run nothing but their own program."""
    for service, probe in probes(stack):
        if not shell_less(service.image):
            continue
        name = base(probe.words)
        if probe.script is None and name not in SHELLS | {"curl", "wget"}:
            continue
        needs = "a shell" if probe.script else name
        yield Finding(
            "health-shell-missing",
            Severity.ERROR,
            Certainty.LIKELY,
            service.place("healthcheck", "test"),
            f"the check needs {needs}, and an image such as {service.image.text} has nothing but its program;"
            f" {never(service)}",
            'let the program check itself: test: ["CMD", "/app", "healthcheck"]',
        )


def _localhost_busybox(stack: Stack) -> Iterator[Finding]:
    """wallabag/docker #407; strausmann/mcp-dockhand #92."""
    for service, probe in probes(stack):
        asked = [url for words in probe.calls if base(words) == "wget" for url in urls(words)]
        if not alpine(service.image) or not any(url.host == "localhost" for url in asked):
            continue
        yield Finding(
            "health-localhost-busybox",
            Severity.WARNING,
            Certainty.LIKELY,
            service.place("healthcheck", "test"),
            "BusyBox's wget asks the first address of localhost, which may be ::1, and tries no other: an app that"
            " listens"
            f" on IPv4 only answers its users, but {never(service)}",
            "write 127.0.0.1 instead of localhost",
        )


def _asks_published_port(stack: Stack) -> Iterator[Finding]:
    """The check runs inside the container, where the published port isn't."""
    for service, probe in probes(stack):
        port = _port_asked(probe)
        wrong = [each for each in service.ports if each.published == port and each.target != port]
        if port is None or not wrong or _mentions(service, port):
            continue
        yield Finding(
            "health-asks-published-port",
            Severity.WARNING,
            Certainty.LIKELY,
            service.place("healthcheck", "test"),
            f"the check asks port {port}, which is published outside; inside the container, where it runs, the app"
            " listens"
            f" on {wrong[0].target}: nothing answers, and {never(service)}",
            f"ask 127.0.0.1:{wrong[0].target}",
        )


def _port_asked(probe: Probe) -> int | None:
    """The port at which it asks its own container; None where it asks elsewhere, or several."""
    asked = {url.port for words in probe.calls for url in urls(words) if url.host in _LOOPBACK and url.port}
    return asked.pop() if len(asked) == 1 else None


def _mentions(service: LintService, port: int) -> bool:
    """Whether anything in the service says that the app listens on this port, too."""
    text = str(port)
    words = (*(service.argv or ()), *(value or "" for value in service.environment.values()))
    inside = any(each.target == port for each in service.ports)
    return inside or any(text in word for word in words) or text in str(service.value("expose") or "")


RULES = (
    Rule("health-tool-unverified", "curl or wget where the image may have none", _tool_unverified),
    Rule("health-shell-missing", "a check that needs a shell, in an image without one", _shell_missing),
    Rule("health-localhost-busybox", "BusyBox's wget and localhost", _localhost_busybox),
    Rule("health-asks-published-port", "the port that's published isn't the one inside", _asks_published_port),
)
