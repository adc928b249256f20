"""What can be done to a deployment: one file a fault.

A fault is a frozen dataclass of its settings. It hurts, and where the hurt lasts, it heals; it knows
neither the time, nor who's chosen, nor the trace. Healing rests on what was written down before the
hurt and on nothing else, so that ``swarmtest recover`` can heal after swarmtest itself was killed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from swarmtest.engine import Deployment, TaskView
from swarmtest.errors import UsageError


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


def fault_names() -> list[str]:
    """All faults, by the names of their files."""
    return sorted(found.name for found in pkgutil.iter_modules(__path__))


def fault_of(name: str, settings: Mapping[str, Any]) -> Fault:
    """The fault that an act of a trace names, made again: class ``SwitchOff`` of the file ``switch_off.py``.

    Arguments:
        settings: as :meth:`Fault.settings` gave them.

    Raises:
        UsageError: this version has no such fault, or none with such settings.
    """
    if name not in fault_names():
        raise UsageError(f"no fault {name!r}; there are: {', '.join(fault_names())}; is it of a later swarmtest?")
    module = importlib.import_module(f"{__name__}.{name}")
    make: type[Fault] = getattr(module, "".join(part.capitalize() for part in name.split("_")))
    try:
        return make(**settings)
    except TypeError as error:
        raise UsageError(f"the fault {name} can't be made with {dict(settings)}: {error}") from error
