"""Variables that have no value here."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Place, Severity, Target
from swarmtest.lint.rules import Rule, Stack
from swarmtest.stack.syntax.interpolation import SWARM_CASTS, cast_at
from swarmtest.stack.syntax.layers import Layer


def _where(target: Target) -> str:
    return "the environment" if target is Target.SWARM else "the environment or in .env"


def _unset(stack: Stack) -> Iterator[Finding]:
    """One finding a variable and file: where it's used first."""
    target = stack.document.target
    for layer in stack.document.layers:
        seen: dict[str, list[int]] = {}
        for note in layer.notes:
            if note.kind in ("unset", "required-lost"):
                seen.setdefault(note.text, []).append(layer.lines.get(note.path) or 0)
        for name, lines in seen.items():
            yield _unset_finding(stack, layer, name, len(lines), target)


def _unset_finding(stack: Stack, layer: Layer, name: str, times: int, target: Target) -> Finding:
    note = next(note for note in layer.notes if note.text == name and note.kind in ("unset", "required-lost"))
    refused = target is Target.SWARM and cast_at(note.path, SWARM_CASTS) is not None
    then = "Docker will refuse an empty value there" if refused else "Docker puts an empty text in its place"
    more = f", {times} times in this file" if times > 1 else ""
    unread = "; docker stack deploy doesn't read .env (if you export it yourself, lint with --env-file .env)"
    dotenv = unread if target is Target.SWARM and _has_dotenv(layer) else ""
    return Finding(
        rule="unset-variable",
        severity=Severity.WARNING,
        certainty=Certainty.UNKNOWN,
        place=stack.document.place_in(layer, note.path),
        effect=f"{name} has no value here{more}: without one at the deploy, {then}{dotenv}",
        fix=f"set {name} in {_where(target)}, write ${{{name}:-default}}, or $${name} where a shell is to read it",
    )


def _has_dotenv(layer: Layer) -> bool:
    return (layer.path.parent / ".env").is_file()


def _required(stack: Stack) -> Iterator[Finding]:
    for layer in stack.document.layers:
        seen: set[str] = set()
        for note in layer.notes:
            if note.kind == "required" and note.text not in seen:
                seen.add(note.text)
                said = f" ({note.message})" if note.message else ""
                yield Finding(
                    rule="required-variable",
                    severity=Severity.WARNING,
                    certainty=Certainty.UNKNOWN,
                    place=stack.document.place_in(layer, note.path),
                    effect=f"{note.text} has no value here, and the file requires one{said}: Docker will refuse the"
                    " file where it isn't set",
                    fix=f"set {note.text} in {_where(stack.document.target)} before the deploy",
                )


def _dotenv(stack: Stack) -> Iterator[Finding]:
    dotenv = stack.document.dotenv
    if dotenv is not None and dotenv.refused_line is not None:
        yield Finding(
            rule="dotenv-refused",
            severity=Severity.ERROR,
            certainty=Certainty.CERTAIN,
            place=Place(dotenv.path, dotenv.refused_line, ()),
            effect=f"Docker will refuse this: line {dotenv.refused_line} of .env isn't NAME=value, and Compose reads"
            " it before anything else",
            fix="write NAME=value, with the value in quotes where it has spaces at its ends or a # in it",
        )


RULES = (
    Rule("unset-variable", "a variable without a value or a default", _unset),
    Rule("required-variable", "a variable that the file requires, and that isn't set here", _required),
    Rule("dotenv-refused", "a line of .env that Compose can't read", _dotenv),
)
