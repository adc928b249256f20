"""Switches off a service that the one under test depends on: no replica of it is left.

No instance under test is touched. What becomes of them is the point: a health check that asks the
dependency lets Swarm kill all of them at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.errors import UsageError
from swarmtest.faults import Aim


@dataclass(frozen=True, slots=True)
class SwitchOff:
    """Scales another service of the stack to 0, and back to what it was at the end.

    Attributes:
        service: by its name in the file; None is what the stack file calls its dependency.
    """

    service: str | None = None
    name: str = "switch_off"
    lasting: bool = True
    ends: bool = False
    replaces: bool = False

    def granted(self, wishes: Mapping[str, Any]) -> SwitchOff:
        """The dependency that the stack file names.

        Raises:
            UsageError: the file names none.
        """
        if self.service is not None:
            return self
        if not wishes.get("dependency"):
            raise UsageError(
                "which service is to be switched off? The stack file doesn't say;"
                " add `x-swarmtest: {dependency: NAME}` with a service of the stack"
            )
        return replace(self, service=str(wishes["dependency"]))

    def settings(self) -> dict[str, Any]:
        """As the trace shows it."""
        return {"service": self.service}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:  # noqa: ARG002
        """How many replicas there were."""
        return {"service": self._named(), "replicas": deployment.replicas(self._named())}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:  # noqa: ARG002
        """Asks for none; they're stopped with their own grace."""
        deployment.scale(self._named(), 0)

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Asks for as many as there were."""
        deployment.scale(str(before["service"]), int(before["replicas"]))

    def _named(self) -> str:
        if self.service is None:
            raise UsageError("no service was named to be switched off; give one, or `x-swarmtest: {dependency: NAME}`")
        return self.service
