"""Reloads the front door: a signal to its main process, at which it begins anew with the same settings.

No instance under test is touched. What the old process still carries is the point: open requests are to be answered,
HTTP/2 clients told to go elsewhere, and no new connection be refused meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.errors import UsageError
from swarmtest.faults import Aim

_MISSING = (
    "how is the front door reloaded? The stack file doesn't say;"
    " add `x-swarmtest: {front_door: {service: NAME, reload: SIGNAL}}`, SIGUSR2 for HAProxy (-W), SIGHUP for nginx"
)


@dataclass(frozen=True, slots=True)
class Reload:
    """One signal to the main process of each container of the front door.

    Attributes:
        service, signal: by the names in the file; None is what the stack file says of its front door.
    """

    service: str | None = None
    signal: str | None = None
    name: str = "reload"
    lasting: bool = False
    ends: bool = False
    replaces: bool = False

    def granted(self, wishes: Mapping[str, Any]) -> Reload:
        """The front door and the signal that the stack file names.

        Raises:
            UsageError: the file names none.
        """
        if self.service is not None and self.signal is not None:
            return self
        if not (wish := wishes.get("reload")):
            raise UsageError(_MISSING)
        return replace(self, service=str(wish["service"]), signal=str(wish["signal"]))

    def settings(self) -> dict[str, Any]:
        """As the trace shows it."""
        return {"service": self.service, "signal": self.signal}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:  # noqa: ARG002
        """Nothing: a signal can't be taken back."""
        return {}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:  # noqa: ARG002
        """Sends the signal."""
        if self.signal is None:
            raise UsageError(_MISSING)
        running = [task for task in deployment.tasks() if task.service == self.service and task.state == "running"]
        containers = [task.container for task in running if task.container is not None]
        if not containers:
            raise UsageError(f"no container of {self.service} runs, so the front door can't be reloaded")
        for container in containers:
            deployment.kill(container, self.signal)

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Nothing to undo."""
