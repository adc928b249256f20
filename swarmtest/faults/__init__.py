"""What can be done to a deployment: one file a fault.

A fault is a frozen dataclass of its settings. It hurts, and where the hurt lasts, it heals; it knows
neither the time, nor who's chosen, nor the trace. Healing rests on what was written down before the
hurt and on nothing else, so that ``swarmtest recover`` can heal after swarmtest itself was killed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from swarmtest.engine import Deployment, TaskView


@dataclass(frozen=True, slots=True)
class Aim:
    """Whom a fault hurts.

    Attributes:
        service: the service, by its name in the file.
        instances: the instances that were chosen; empty for a fault of the whole service.
    """

    service: str
    instances: tuple[TaskView, ...] = ()

    @property
    def containers(self) -> tuple[str, ...]:
        """Their containers."""
        return tuple(task.container for task in self.instances if task.container is not None)


class Fault(Protocol):
    """What a file in this folder offers."""

    @property
    def name(self) -> str:
        """One word, a verb: the file's name, as the trace and the reports show it."""

    @property
    def lasting(self) -> bool:
        """Whether it has to be healed."""

    @property
    def ends(self) -> bool:
        """Whether the instances that it's aimed at are to exit by it."""

    @property
    def replaces(self) -> bool:
        """Whether it sets out to replace every instance, by an update that has a status of its own."""

    def settings(self) -> dict[str, Any]:
        """What it does, as plain values for the plan and the trace; they make the same fault again."""

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:
        """What healing has to know, as plain values; written down before :meth:`hurt`."""

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Does it, once; never tried again."""

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Undoes it; harmless where there's nothing to undo."""


class Wishing(Protocol):
    """A fault that needs something of the stack's own: the image to release, say."""

    def granted(self, wishes: Mapping[str, Any]) -> Fault:
        """The same fault with what the stack's ``x-swarmtest`` block says.

        Raises:
            UsageError: the block doesn't say it; the message has the key to add.
        """
