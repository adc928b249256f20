"""What a YAML reader makes of a value that isn't in quotes, and of tags that only Compose knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from swarmtest.lint import Certainty, Finding, Severity, Target
from swarmtest.lint.rules import Rule, Stack
from swarmtest.stack.syntax.building import PLAIN
from swarmtest.stack.syntax.layers import Layer

_BASE_60 = re.compile(r"[0-9]{1,5}:[0-5]?[0-9](?::[0-5]?[0-9])*", re.ASCII)


def _unquoted(stack: Stack) -> Iterator[Finding]:
    """docker/compose #103, containers/podman-compose #736: older readers take 22:22 for a number of base 60."""
    for layer in stack.document.layers:
        services = layer.tree.get("services")
        for name, body in services.items() if isinstance(services, dict) else ():
            ports = body.get("ports") if isinstance(body, dict) else None
            for index, port in enumerate(ports) if isinstance(ports, list) else ():
                path = ("services", str(name), "ports", str(index))
                if isinstance(port, str) and _BASE_60.fullmatch(port) and _is_plain(layer, path):
                    yield Finding(
                        rule="unquoted-port",
                        severity=Severity.INFO,
                        certainty=Certainty.CERTAIN,
                        place=stack.document.place_in(layer, path),
                        effect=f"Docker reads {port} as it's meant; readers of YAML 1.1 take it for the number"
                        f" {_base_60(port)}",
                        fix=f'write "{port}", in quotes',
                    )


def _is_plain(layer: Layer, path: tuple[str, ...]) -> bool:
    node: Any = layer.lines.node(path) if hasattr(layer.lines, "node") else None
    return node is not None and node.tag == PLAIN


def _base_60(port: str) -> int:
    number = 0
    for digits in port.split(":"):
        number = number * 60 + int(digits)
    return number


def _tags(stack: Stack) -> Iterator[Finding]:
    """The tags of Compose 2.24 and later; docker/cli reads past them."""
    for layer in stack.document.layers if stack.document.target is Target.SWARM else ():
        for oddity in layer.oddities:
            if oddity.kind != "tag" or oddity.text not in ("!reset", "!override"):
                continue
            reset = oddity.text == "!reset"
            yield Finding(
                rule="tags-not-understood",
                severity=Severity.ERROR if reset else Severity.WARNING,
                certainty=Certainty.CERTAIN,
                place=stack.document.place_in(layer, oddity.path),
                effect=f"docker stack deploy doesn't know {oddity.text}, and reads past it: "
                + (
                    'what\'s behind it stands, and null becomes the text "null"'
                    if reset
                    else "the value is merged with that of the files before, instead of taking its place"
                ),
                fix="take the key out of the files that the stack is deployed from"
                if reset
                else "take the tag out, and give only files that say it once",
            )


RULES = (
    Rule("unquoted-port", "a port that older readers take for a number of base 60", _unquoted),
    Rule("tags-not-understood", "!reset or !override in a stack", _tags),
)
