"""What the engine refuses of a rollout though the CLI lets it pass: odd modes, and times below zero."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.wording import seconds


def _replicas_in_global_mode(stack: Stack) -> Iterator[Finding]:
    """docker/cli ``cli/compose/convert/service.go``, ``convertDeployMode``; ``docker stack config`` lets it pass."""
    for service in stack.services:
        if not service.swarm or service.mode not in ("global", "global-job") or not service.has("deploy", "replicas"):
            continue
        yield Finding(
            rule="replicas-in-global-mode",
            severity=Severity.ERROR,
            certainty=Certainty.CERTAIN,
            place=service.place("deploy", "replicas"),
            effect=f"docker stack deploy refuses replicas beside mode: {service.mode}, and none of the stack's services"
            " is made",
            fix="leave replicas out, or the mode",
        )


def _job_with_update_config(stack: Stack) -> Iterator[Finding]:
    """swarmkit ``manager/controlapi/service.go``, ``validateJob``."""
    for service in stack.services:
        job = service.mode in ("replicated-job", "global-job")
        if not service.swarm or not job or not service.has("deploy", "update_config"):
            continue
        yield Finding(
            rule="job-with-update-config",
            severity=Severity.ERROR,
            certainty=Certainty.CERTAIN,
            place=service.place("deploy", "update_config"),
            effect="the engine refuses a job that has an update_config: a changed job is started anew, and that's all",
            fix="leave update_config out",
        )


def _times_below_zero(stack: Stack) -> Iterator[Finding]:
    """swarmkit ``validateUpdate`` and ``validateRestartPolicy``; nobody looks at those of ``rollback_config``."""
    for service in stack.services:
        times = (
            ("update_config", "delay", service.update.delay_seconds),
            ("update_config", "monitor", service.update.monitor_seconds),
            ("restart_policy", "delay", service.restart.delay_seconds),
            ("restart_policy", "window", service.restart.window_seconds),
        )
        for part, key, value in times if service.swarm else ():
            if value is not None and value < 0:
                yield Finding(
                    rule="times-below-zero",
                    severity=Severity.ERROR,
                    certainty=Certainty.CERTAIN,
                    place=service.place("deploy", part, key),
                    effect=f"the engine refuses a {key} of {seconds(value)} in {part}: it can't be negative",
                    fix=f"write a {key} of 0s or more",
                )


RULES = (
    Rule("replicas-in-global-mode", "a number of replicas beside one on each node: refused", _replicas_in_global_mode),
    Rule("job-with-update-config", "a job that's to be updated bit by bit: refused", _job_with_update_config),
    Rule("times-below-zero", "a delay, a monitor or a window below zero: refused", _times_below_zero),
)
