"""Drains a node, as before its maintenance: Swarm stops all its tasks at once and makes new ones elsewhere.

That's no rolling update: ``update_config`` doesn't apply, neither its order nor its parallelism
(moby/moby #34139). A service whose instances are all on this node is down until new ones are healthy.
The node is put back to what it was; tasks that have gone don't come back by that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.errors import UsageError
from swarmtest.faults import Aim


@dataclass(frozen=True, slots=True)
class Drain:
    """Drains one node that carries the opt-in label.

    Attributes:
        node: its ID; None is the first node that may be drained, in the order of the instances' slots.
    """

    node: str | None = None
    name: str = "drain"
    lasting: bool = True
    ends: bool = False
    replaces: bool = False

    def settings(self) -> dict[str, Any]:
        """As the trace shows it."""
        return {"node": self.node}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:
        """Which node it is, and what it was."""
        node = self._chosen(deployment, aim)
        return {"node": node, "availability": deployment.availability(node)}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Drains it."""
        deployment.set_availability(self._chosen(deployment, aim), "drain")

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Puts it back to what it was."""
        deployment.set_availability(str(before["node"]), str(before["availability"]))

    def _chosen(self, deployment: Deployment, aim: Aim) -> str:
        if self.node is not None:
            return self.node
        running = [task for task in deployment.tasks() if task.service == aim.service and task.up]
        candidates = aim.instances or sorted(running, key=lambda task: task.slot or 0)
        refusal = UsageError(f"no instance of {aim.service} runs, so there's no node of its to drain; name one")
        for node in dict.fromkeys(task.node for task in candidates):
            try:
                deployment.availability(node)
            except UsageError as error:
                refusal = error
            else:
                return node
        raise refusal
