"""Which images a stack needs, which of them are here, and how to make those that aren't."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from swarmtest.engine.client import Client, NotThere, Refused
from swarmtest.engine.commands import build_image, run_docker
from swarmtest.errors import EngineError, StackError, UsageError
from swarmtest.stack import Service, Stack


def _inspect(client: Client, service: Service) -> dict[str, Any]:
    return _inspect_image(client, service.image)


def _inspect_image(client: Client, image: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/images/{quote(image, safe='/:@')}/json")
    return found


def is_here(client: Client, image: str) -> bool:
    """Whether an image is on the engine.

    Raises:
        UsageError: what's given can't be the name of one.
    """
    try:
        _inspect_image(client, image)
    except NotThere:
        return False
    except Refused as error:
        if error.status != 400:
            raise
        raise UsageError(f"{image!r} can't be the name of an image: {error}") from error
    return True


def missing_images(client: Client, stack: Stack) -> list[str]:
    """Services whose image isn't on the engine.

    Raises:
        StackError: a service names no image, which a stack file must, or one that can't be a name.
    """
    missing = []
    for service in stack.services.values():
        if not service.image:
            raise stack.source.error(
                "no image; a stack file names one for each service (with `build:` beside it, swarmtest makes it)",
                "services",
                service.name,
                "image",
            )
        try:
            _inspect(client, service)
        except NotThere:
            missing.append(service.name)
        except Refused as error:
            if error.status != 400:
                raise
            raise stack.source.error(
                f"{service.image!r} can't be the name of an image: {error}", "services", service.name, "image"
            ) from error
    return missing


def local_only(client: Client, stack: Stack) -> bool:
    """Whether some image has no registry digest, so that asking a registry for one is in vain."""
    for service in stack.services.values():
        try:
            image = _inspect(client, service)
        except NotThere:
            return False
        if not image.get("RepoDigests"):
            return True
    return False


def make_missing(client: Client, stack: Stack, log: Path) -> list[str]:
    """Builds or pulls what's missing; gives the images that were made.

    Raises:
        StackError: an image can be neither pulled nor built.
    """
    made = []
    for name in missing_images(client, stack):
        service = stack.services[name]
        if service.build is not None:
            build_image(service.image, service.build, log=log)
        else:
            try:
                run_docker(["pull", service.image], timeout_seconds=600, log=log)
            except EngineError as error:
                raise StackError(
                    f"the image {service.image} isn't on the engine, can't be pulled, and the service has no `build:`"
                    f" to make it from; pull or build it first ({str(error).splitlines()[-1].strip()})",
                    file=stack.file,
                    line=stack.source.lines.get(("services", name, "image")),
                    key=f"services.{name}.image",
                ) from error
        made.append(service.image)
    return made


def pull_released(client: Client, images: Sequence[str], log: Path) -> dict[str, str | None]:
    """Pulls images to release that aren't here; says of each that was asked for why it couldn't be, None where it was.

    One that's nowhere is no reason not to run: what Swarm makes of such a release is to be seen.
    """
    found: dict[str, str | None] = {}
    for image in images:
        if is_here(client, image):
            continue
        try:
            run_docker(["pull", image], timeout_seconds=600, log=log)
            found[image] = None
        except EngineError as error:
            found[image] = str(error).splitlines()[-1].strip()
    return found


def image_facts(client: Client, stack: Stack) -> dict[str, dict[str, object]]:
    """Name, ID and digests of each service's image, for the settings of a verdict."""
    facts: dict[str, dict[str, object]] = {}
    for service in stack.services.values():
        try:
            image = _inspect(client, service)
        except NotThere:
            facts[service.name] = {"image": service.image}
            continue
        config = image.get("Config") or {}
        facts[service.name] = {
            "image": service.image,
            "id": image.get("Id"),
            "digests": image.get("RepoDigests") or [],
            "stop_signal": config.get("StopSignal"),
            "health": bool(config.get("Healthcheck")),
        }
    return facts
