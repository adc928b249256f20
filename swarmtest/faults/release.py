"""Releases a new version: another image, other variables, or both, by the service's own update policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from swarmtest.engine import Deployment
from swarmtest.errors import UsageError
from swarmtest.faults import Aim


@dataclass(frozen=True, slots=True)
class Release:
    """An update to another version.

    Attributes:
        image: None keeps the image.
        environment: takes the place of variables of the same name; others stay as they are.
    """

    image: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    name: str = "release"
    lasting: bool = False
    ends: bool = False
    replaces: bool = True

    def granted(self, wishes: Mapping[str, Any]) -> Release:
        """The version that the stack file names; one with an image or variables of its own needs none.

        Raises:
            UsageError: the file names none.
        """
        if self.image is not None or self.environment:
            return self
        wish = wishes.get("release")
        if not wish:
            raise UsageError(
                "which version is to be released? The stack file doesn't say;"
                " add `x-swarmtest: {release: {image: NAME:TAG}}`, or `release: {environment: {NAME: value}}`"
            )
        return replace(self, image=wish.get("image"), environment=dict(wish.get("environment") or {}))

    def settings(self) -> dict[str, Any]:
        """As the trace shows it."""
        return {"image": self.image, "environment": dict(self.environment)}

    def before(self, deployment: Deployment, aim: Aim) -> dict[str, Any]:  # noqa: ARG002
        """Nothing: there's nothing to heal."""
        return {}

    def hurt(self, deployment: Deployment, aim: Aim) -> None:
        """Sends the update; what becomes of it shows in the service's update status."""
        deployment.release(aim.service, image=self.image, environment=self.environment)

    def heal(self, deployment: Deployment, aim: Aim, before: Mapping[str, Any]) -> None:
        """Nothing to undo: a version that's bad is rolled back by a step of its own, or by Swarm."""
