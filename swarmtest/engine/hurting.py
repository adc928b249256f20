"""What may be hurt, and how containers and nodes are hurt.

A container is hurt only if it's the stack's own by Swarm's label or says ``swarmtest.allow=true``; a
node only if it says so, since it's never ours alone. All else is refused before anything is sent.
"""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from typing import Any

from swarmtest.engine.client import Client, NotThere, Refused, translated
from swarmtest.engine.labels import ALLOW_LABEL, STACK_LABEL
from swarmtest.engine.updates import Change
from swarmtest.errors import EngineError, UsageError

STOP_ANSWER_SECONDS = 0.5
"""So long a stop is waited for, which is where a refusal shows; the engine answers when the container has exited."""


@dataclass(frozen=True, slots=True)
class Containers:
    """Signals, stops and freezes the containers of a stack; the engine reaches those of its own node only."""

    client: Client
    stack: str

    def kill(self, container: str, signal: str) -> None:
        """Sends a signal to the container's main process."""
        self._guard(container)
        self.client.post(f"/containers/{container}/kill", signal=signal)

    def stop(self, container: str, grace_seconds: float) -> None:
        """Asks the engine to stop a container, and doesn't wait for the exit.

        The engine answers at the exit, and some versions give up a stop whose client hangs up; so somebody
        waits for the answer, beside us. What comes of it shows in the container's events. The engine cuts
        the grace to whole seconds, as it does for a stop of Swarm's own.
        """
        self._guard(container)
        answers: queue.Queue[EngineError | None] = queue.Queue()

        def ask() -> None:
            try:
                with translated(f"stopping {container[:12]}"):
                    self.client.api.stop(container, timeout=int(grace_seconds))
            except EngineError as error:
                answers.put(error)
            else:
                answers.put(None)

        threading.Thread(target=ask, name=f"stop {container[:12]}", daemon=True).start()
        try:
            refusal = answers.get(timeout=STOP_ANSWER_SECONDS)
        except queue.Empty:
            return
        if refusal is not None:
            raise refusal

    def pause(self, container: str) -> None:
        """Freezes all processes of a container."""
        self._guard(container)
        self.client.post(f"/containers/{container}/pause")

    def unpause(self, container: str) -> None:
        """Lets a container go on; harmless where it's gone, has exited or isn't frozen."""
        try:
            self._guard(container)
            self.client.post(f"/containers/{container}/unpause")
        except NotThere:
            return
        except Refused as refused:
            if not any(words in str(refused) for words in ("not paused", "not running")):
                raise

    def _guard(self, container: str) -> None:
        labels = self.client.get(f"/containers/{container}/json")["Config"].get("Labels") or {}
        if labels.get(STACK_LABEL) != self.stack and labels.get(ALLOW_LABEL) != "true":
            raise UsageError(
                f"the container {container[:12]} isn't of the stack {self.stack}, so it isn't touched;"
                f" label it {ALLOW_LABEL}=true to allow it"
            )


def node_availability(client: Client, node: str) -> str:
    """``active``, ``pause`` or ``drain``; raises :class:`UsageError` as below."""
    return str(_allowed_node(client, node)["Spec"].get("Availability") or "active")


def set_node_availability(client: Client, node: str, availability: str) -> None:
    """Changes whether a node gets tasks; a drained one loses its own at once.

    Raises:
        UsageError: the node doesn't carry the opt-in label.
    """
    _allowed_node(client, node)

    def edit(spec: dict[str, Any]) -> bool:
        changed: bool = (spec.get("Availability") or "active") != availability
        spec["Availability"] = availability
        return changed

    Change(client, f"the node {node}", lambda: client.get(f"/nodes/{node}")).send(edit, f"/nodes/{node}/update")


def _allowed_node(client: Client, node: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/nodes/{node}")
    if (found["Spec"].get("Labels") or {}).get(ALLOW_LABEL) != "true":
        name = (found.get("Description") or {}).get("Hostname") or node
        raise UsageError(
            f"the node {name} runs other people's tasks too, so it isn't touched;"
            f" `docker node update --label-add {ALLOW_LABEL}=true {name}` allows it"
        )
    return found
