"""Sends instances a signal, and nothing after it: neither a grace nor a SIGKILL comes.

SIGTERM sent like this is what a supervisor inside the container would do, or a ``docker kill`` by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.faults import Aim

ENDING = ("SIGTERM", "SIGINT", "SIGQUIT", "SIGKILL")
"""Signals at which a process is to exit."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal to the main process of each chosen instance.

    Attributes:
        signal: its name, such as ``SIGTERM`` or ``SIGUSR1``.
    """

    signal: str = "SIGTERM"
    name: str = "signal"
    lasting: bool = False
    replaces: bool = False

    @property
    def ends(self) -> bool:
        """Whether the signal is one at which a process is to exit."""
        return self.signal in ENDING

    def settings(self) -> dict[str, Any]:
        """As the trace shows it."""
        return {"signal": self.signal}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:  # noqa: ARG002
        """Nothing: a signal can't be taken back."""
        return {}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Sends the signal."""
        for container in aim.containers:
            deployment.kill(container, self.signal)

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Nothing to undo."""
