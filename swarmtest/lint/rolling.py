"""How many instances of a service are replaced at once, and what it is that's being replaced."""

from __future__ import annotations

from collections.abc import Mapping

from swarmtest.lint import Target
from swarmtest.lint.document import Unsure
from swarmtest.lint.programs.writers import data_folders
from swarmtest.lint.services import LintService, Policy
from swarmtest.stack.reader import whole_number

_QUEUE_WORKERS = frozenset(
    ("celery", "beat", "sidekiq", "resque", "rq", "rqworker", "arq", "taskiq", "dramatiq", "huey_consumer", "horizon")
).union(
    ("solid_queue", "good_job", "jobs:work", "que", "queue:work", "faktory-worker", "worker", "scheduler", "crond"),
    ("cron", "supercronic", "yacron", "rqscheduler", "clockwork"),
)


def rolls(service: LintService) -> bool:
    """Whether Swarm replaces its tasks by ``update_config``; jobs have none, and Compose has none."""
    return service.swarm and service.mode in ("replicated", "global")


def start_first(service: LintService) -> bool:
    """Whether Swarm starts a new task before it stops the old one."""
    return rolls(service) and service.update.order == "start-first"


def instances(service: LintService) -> int | None:
    """How many there are; None for one on each node, and where the number can't be known."""
    if service.document.target is Target.COMPOSE:
        scale = service.value("scale")
        return service.replicas if scale is None else None if isinstance(scale, Unsure) else whole_number(scale)
    return service.replicas if service.mode == "replicated" else None


def at_once(service: LintService, policy: Policy) -> int | None:
    """How many are replaced at the same time: all of them where parallelism is 0 (swarmkit ``updater.go``)."""
    count, parallelism = instances(service), policy.parallelism
    if parallelism is None or count is None:
        return None
    return count if parallelism == 0 else min(parallelism, count)


def runs_once(service: LintService) -> bool:
    """Whether it looks like something that runs to its end, such as a migration: nothing restarts or asks it."""
    return service.restart.condition == "none" and not service.ports and service.health is None


def takes_from_a_queue(service: LintService) -> bool:
    """Whether it looks like a worker: what it's away for waits in a queue, and nobody is refused."""
    words = service.argv or ()
    return not service.ports and any(
        part in _QUEUE_WORKERS for word in words for part in word.replace("/", " ").split()
    )


def writes_alone(service: LintService) -> bool:
    """Whether it's a known database, queue or the like, whose data no second process may write."""
    return data_folders(service.image) is not None


def one_node(service: LintService) -> str | None:
    """The placement constraint that leaves a service a single node."""
    constraints = service.value("deploy", "placement", "constraints")
    for each in constraints if isinstance(constraints, list) else ():
        name, equals, value = str(each).partition("==")
        if equals and name.strip() in ("node.hostname", "node.id") and value.strip():
            return str(each)
    return None


def host_network(service: LintService) -> bool:
    """Whether it's in the node's own network: by the network's name in a stack, by ``network_mode`` in Compose."""
    if not service.swarm:
        return bool(service.value("network_mode") == "host")
    networks = service.value("networks")
    return any(_is_host(service, str(name)) for name in networks or ()) if isinstance(networks, (list, dict)) else False


def _is_host(service: LintService, name: str) -> bool:
    known = service.document.tree.get("networks")
    body = known.get(name) if isinstance(known, Mapping) else None
    if not isinstance(body, Mapping):
        return False
    external = body.get("external")
    inner = external.get("name") if isinstance(external, Mapping) else None
    return bool(external) and (body.get("name") or inner or name) == "host"
