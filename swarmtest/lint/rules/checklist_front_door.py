"""How the front door learns that a task is gone, as far as a file tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from swarmtest.lint import Certainty, Finding, Place, Severity
from swarmtest.lint.programs.commands import base
from swarmtest.lint.programs.drains import programs
from swarmtest.lint.programs.stop_signals import looks_like_nginx, signals_of_image
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.lint.subject import ANNOUNCED_SECONDS
from swarmtest.lint.wording import listed, seconds
from swarmtest.stack.syntax.durations import parse_duration

_DEFAULT_REFRESH_SECONDS = 15.0
_REFRESH = ("providers.swarm.refreshseconds", "providers.docker.swarmmoderefreshseconds")
_ON = ("providers.swarm", "providers.docker.swarmmode")


def _is_nginx(service: LintService) -> bool:
    takes = signals_of_image(service.image)
    by_image = looks_like_nginx(service.image) or (takes is not None and takes.program == "nginx")
    return by_image or any(base(words) in ("nginx", "openresty") for words in programs(service))


def _resolves_once(stack: Stack) -> Iterator[Finding]:
    """langgenius/dify #40448; GluuFederation/gluu-docker #29; OpenNeuroOrg/openneuro PR #925."""
    named = {service.name for service in stack.services}
    direct = {s.name for s in stack.services if s.swarm and str(s.value("deploy", "endpoint_mode")).lower() == "dnsrr"}
    for service in stack.services:
        found = _asks_tasks(service, named, direct) if _is_nginx(service) else None
        if found is None:
            continue
        certainty, what, place = found
        yield Finding(
            "proxy-resolves-once",
            Severity.WARNING,
            certainty,
            place,
            f"{what}: an nginx that resolves its upstream only at its start dials the addresses of tasks that are"
            " gone, from"
            " the first replacement on until it's reloaded",
            "look at its configuration: it needs resolver 127.0.0.11 valid=1s, with the name in a variable or with"
            " resolve at"
            " the server; or use the service's own address, endpoint_mode: vip",
        )


def _asks_tasks(service: LintService, named: set[str], direct: set[str]) -> tuple[Certainty, str, Place] | None:
    """Why the names that nginx asks for may stand for single tasks; None where nothing tells that."""
    key, task_name = _names_tasks(service, named, "tasks.%s" if service.swarm else "//%s")
    behind = sorted(direct - {service.name})
    if task_name and not service.swarm:
        what = f"Compose gives a container that's made anew a new address, and {task_name[2:]} is one of them"
        return Certainty.UNKNOWN, what, service.place(*key)
    if task_name:
        return Certainty.LIKELY, f"{task_name} names the tasks themselves", service.place(*key)
    if behind:
        have = "has" if len(behind) == 1 else "have"
        what = f"{listed(behind)} {have} endpoint_mode: dnsrr, so that a name stands for the tasks themselves"
        return Certainty.UNKNOWN, what, service.place("image")
    return None


def _names_tasks(service: LintService, named: set[str], form: str) -> tuple[tuple[str, ...], str]:
    """Where a variable or the command has the name of another service in it, in a form such as ``tasks.NAME``."""
    wanted = [form % name for name in named if name != service.name]
    for name, text in service.environment.items():
        if text and (found := next((each for each in wanted if _within(each, text)), "")):
            return ("environment", name), found
    command = " ".join(service.argv or ())
    return ("command",), next((each for each in wanted if _within(each, command)), "")


def _within(name: str, text: str) -> bool:
    """Whether a name stands in a text, and not only the beginning of a longer one."""
    _, found, after = text.partition(name)
    return bool(found) and not (after[:1].isalnum() or after[:1] in "-_.")


def _list_late(stack: Stack) -> Iterator[Finding]:
    """traefik/traefik #7886, #11252, #7373: the list of tasks is asked for each 15 s, unless something else is"
    " written."""
    for service in stack.services:
        settings = _traefik(service)
        if not service.swarm or not any(name.startswith(_ON) and value != "false" for name, value in settings.items()):
            continue
        said = next((settings[name] for name in _REFRESH if name in settings), None)
        refresh = _DEFAULT_REFRESH_SECONDS if said is None else _seconds(said)
        reached = [each.name for each in stack.services if each is not service and _by_tasks(each)]
        if refresh is None or refresh < ANNOUNCED_SECONDS or not reached:
            continue
        late = refresh - ANNOUNCED_SECONDS
        yield Finding(
            "proxy-list-late",
            Severity.WARNING,
            Certainty.LIKELY,
            service.place("command" if service.command else "environment"),
            f"Traefik asks Swarm for its tasks each {seconds(refresh)}{'' if said else ', the default'}, and a task"
            " is told"
            f" to stop {seconds(ANNOUNCED_SECONDS)} after it left that list: for up to {seconds(late)} requests go to"
            " tasks of"
            f" {listed(reached)} that have closed, unless those go on accepting that long",
            "write --providers.swarm.refreshSeconds=1 (Traefik 2: providers.docker.swarmModeRefreshSeconds), or the"
            " label"
            " traefik.swarm.lbswarm=true (Traefik 2: traefik.docker.lbswarm), with which Swarm balances",
        )


def _traefik(service: LintService) -> Mapping[str, str]:
    """Traefik's settings by name, from its command line and its environment."""
    if service.image.name != "traefik":
        return {}
    found: dict[str, str] = {}
    for word in service.argv or ():
        name, _, value = word.lstrip("-").lower().partition("=")
        found[name] = value or "true"
    for name, text in service.environment.items():
        if name.startswith("TRAEFIK_"):
            found[name.removeprefix("TRAEFIK_").lower().replace("_", ".")] = (text or "").lower()
    return found


def _by_tasks(service: LintService) -> bool:
    """Whether Traefik is told to send to its tasks themselves."""
    labels = service.value("deploy", "labels")
    words = [f"{key}={value}" for key, value in labels.items()] if isinstance(labels, Mapping) else labels
    given = [str(word).lower() for word in words] if isinstance(words, list) else []
    wanted = any(word.startswith("traefik.") and word != "traefik.enable=false" for word in given)
    return wanted and not any(word.endswith("lbswarm=true") for word in given) and "traefik.enable=false" not in given


def _seconds(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return parse_duration(text)
    except ValueError:
        return None


RULES = (
    Rule("proxy-resolves-once", "nginx in front of names that stand for single tasks", _resolves_once),
    Rule("proxy-list-late", "Traefik learns of a stop later than the task", _list_late),
)
