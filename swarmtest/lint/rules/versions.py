"""The key ``version``, which decides what's legal in a stack."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity, Target
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.schema import LATEST, VERSIONS, SchemaError, version_of
from swarmtest.stack.syntax.layers import Layer

_NAME = "docker-refuses-version"


def needs_version(stack: Stack, layer: Layer, error: SchemaError) -> str | None:
    """The first version in which an error wouldn't be one, where that's later than the file's own."""
    if stack.document.target is Target.COMPOSE or error.path == ("version",):
        return None
    own = VERSIONS.index(version_of(layer.tree))
    later = VERSIONS[own + 1 :]
    if not later or error.path in stack.document.refused_in(layer, LATEST):
        return None
    return next((version for version in later if error.path not in stack.document.refused_in(layer, version)), None)


def _finding(stack: Stack, layer: Layer, path: tuple[str, ...], effect: str, fix: str) -> Finding:
    place = stack.document.place_in(layer, path)
    return Finding(_NAME, Severity.ERROR, Certainty.CERTAIN, place, f"Docker will refuse this: {effect}", fix)


def _refused_version(stack: Stack) -> Iterator[Finding]:
    if stack.document.target is Target.COMPOSE:
        return
    layers = stack.document.layers
    for layer in layers:
        version = version_of(layer.tree)
        if version not in VERSIONS:
            effect = f"version {version} is no version of stack files; they're 3.0 to {LATEST}"
            yield _finding(stack, layer, ("version",), effect, 'write version: "3.8", or leave it out')
        elif version != version_of(layers[0].tree):
            first = version_of(layers[0].tree)
            effect = f"the version is {version} here and {first} in {layers[0].path}; all files need the same"
            yield _finding(stack, layer, ("version",), effect, f'write version: "{first}"')
    for layer, error in stack.document.schema_errors:
        if needed := needs_version(stack, layer, error):
            own = version_of(layer.tree)
            how = "" if isinstance(layer.tree.get("version"), str) else " (without quotes it's read as a number)"
            effect = f"{'.'.join(error.path)} needs version {needed}, and this file says {own}{how}"
            yield _finding(stack, layer, error.path, effect, f'write version: "{needed}" or later, or leave it out')


RULES = (Rule(_NAME, "what the version key doesn't allow", _refused_version),)
