"""What Docker refuses before it looks at the stack as a whole: schema, keys, variables, and YAML of its own mind."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Severity, Target
from swarmtest.lint.hints import hint
from swarmtest.lint.loading import refused_by_swarm
from swarmtest.lint.loading_compose import refused_by_compose
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.rules.versions import needs_version
from swarmtest.stack.syntax.building import Path_
from swarmtest.stack.syntax.layers import Layer

FORBIDDEN = {
    "extends": "Swarm knows no extends: write the service out, or merge a YAML anchor in (<<: *base)",
    "volume_driver": "name the driver under the top-level volumes",
    "volumes_from": "name the volume under the top-level volumes, and mount it in each service",
    **dict.fromkeys(("cpu_quota", "cpu_shares", "cpuset"), "write deploy.resources.limits.cpus"),
    **dict.fromkeys(("mem_limit", "memswap_limit"), "write deploy.resources.limits.memory"),
}
"""docker/cli ``cli/compose/types/types.go``, ``ForbiddenProperties``."""


def refusal(stack: Stack, layer: Layer, path: Path_, problem: str, fix: str) -> Finding:
    """A finding that Docker refuses the file, and why."""
    return Finding(
        rule="docker-refuses",
        severity=Severity.ERROR,
        certainty=Certainty.CERTAIN,
        place=stack.document.place_in(layer, path),
        effect=f"Docker will refuse this: {'.'.join(path) or 'the file'} {problem}",
        fix=fix,
    )


def _by_schema(stack: Stack) -> Iterator[Finding]:
    for layer, error in stack.document.schema_errors:
        if needs_version(stack, layer, error) or _is_cast(layer, error.path):
            continue
        if stack.document.target is Target.SWARM and _is_forbidden(error.path):
            continue
        yield refusal(stack, layer, error.path, error.problem, hint(error, stack.document.target))


def _is_cast(layer: Layer, path: Path_) -> bool:
    """Whether that's been said of the variable in it."""
    return any(note.kind == "cast" and note.path == path for note in layer.notes)


def _is_forbidden(path: Path_) -> bool:
    return len(path) == 3 and path[0] == "services" and path[2] in FORBIDDEN


def _forbidden(stack: Stack) -> Iterator[Finding]:
    for layer in stack.document.layers if stack.document.target is Target.SWARM else ():
        services = layer.tree.get("services")
        for name, body in services.items() if isinstance(services, dict) else ():
            for key in body if isinstance(body, dict) else ():
                if key in FORBIDDEN:
                    yield refusal(stack, layer, ("services", name, key), "is forbidden in a stack", FORBIDDEN[key])


_NOTES = {
    "invalid": (
        "has a dollar sign that begins no variable",
        "write $$ for a dollar sign; for a variable ${NAME} or ${NAME:-default}",
    ),
    "key": ("has a key that's no text", "put the key in quotes"),
}
_ODDITIES = {
    "key": ("has the key {text}, which is no text to Docker", "put the key in quotes"),
    "endless": ("is {text}, which Docker can't check", "write a finite number, or a text in quotes"),
    "directive": ("says {text}: Docker's parser knows YAML 1.1 only", "leave the directive out"),
    "merge": ("merges what's no mapping", "give << a mapping, or a list of mappings"),
}


def _by_reading(stack: Stack) -> Iterator[Finding]:
    for layer in stack.document.layers:
        odd_keys = {oddity.path for oddity in layer.oddities if oddity.kind == "key"}
        for note in layer.notes:
            if note.kind == "cast":
                problem = f"becomes {note.text!r}, which isn't {note.message}"
                yield refusal(stack, layer, note.path, problem, f"give the variable {note.message}")
            elif note.kind in _NOTES and not (note.kind == "key" and note.path in odd_keys):
                yield refusal(stack, layer, note.path, *_NOTES[note.kind])
        for oddity in layer.oddities:
            if oddity.kind in _ODDITIES:
                problem, fix = _ODDITIES[oddity.kind]
                yield refusal(stack, layer, oddity.path, problem.format(text=oddity.text), fix)


def _by_loading(stack: Stack) -> Iterator[Finding]:
    """Only what the schema has nothing against: it has said the rest."""
    refused = refused_by_swarm if stack.document.target is Target.SWARM else refused_by_compose
    said = {error.path for _layer, error in stack.document.schema_errors}
    for layer, path, problem, fix in refused(stack.document):
        if not any(path[: len(each)] == each for each in said):
            yield refusal(stack, layer, path, problem, fix)


def _docker_refuses(stack: Stack) -> Iterator[Finding]:
    for find in (_by_reading, _forbidden, _by_schema, _by_loading):
        yield from find(stack)


def _duplicate_key(stack: Stack) -> Iterator[Finding]:
    """Go's yaml.v3 refuses what other readers take the last of."""
    for layer in stack.document.layers:
        for oddity in layer.oddities:
            if oddity.kind == "duplicate-key":
                path = oddity.path
                yield Finding(
                    rule="duplicate-key",
                    severity=Severity.ERROR,
                    certainty=Certainty.CERTAIN,
                    place=stack.document.place_in(layer, path),
                    effect=f"Docker will refuse this: the key {oddity.text} is in line {oddity.first_line} already",
                    fix=f"keep one of the two, in line {oddity.first_line} or in line {oddity.line}",
                )


RULES = (
    Rule("docker-refuses", "what Docker refuses: nothing of the stack is deployed", _docker_refuses),
    Rule("duplicate-key", "a key twice in one mapping, which Docker refuses", _duplicate_key),
)
