"""Variables in a text, as the target replaces them; the two don't agree.

``docker stack deploy`` (docker/cli ``cli/compose/template/template.go``) knows ``:-``, ``-``, ``:?`` and ``?``, also
without braces (``$A-x`` is a default), and takes a default as it stands. Compose (compose-go ``template/template.go``)
knows ``:+`` and ``+`` too, replaces variables in defaults, and leaves a dollar sign that begins nothing as it is, where
a stack is refused for it. Nothing in here raises: what's wrong is in the result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_NAME = r"[_a-zA-Z][_a-zA-Z0-9]*"
_SWARM = re.compile(
    rf"\$(?:(?P<escaped>\$)|(?P<named>{_NAME}(?::?[-?][^}}]*)?)|\{{(?P<braced>{_NAME}(?::?[-?][^}}]*)?)\}}|(?P<invalid>))"
)
_LOST = "\0"
"""In place of a dollar sign that begins nothing: it's gone where Docker forgets the error."""
_COMPOSE_BRACED = re.compile(rf"({_NAME})(?:(:?[-+?])(.*))?")
_COMPOSE_NAMED = re.compile(_NAME)


@dataclass(frozen=True, slots=True)
class Missing:
    """A variable that ``:?`` or ``?`` asks for; ``lost`` where Docker's own code forgets the error and goes on."""

    name: str
    message: str
    lost: bool = False


@dataclass(slots=True)
class Replaced:
    """What became of a text.

    Attributes:
        unset: variables that have no value and no default; they're empty in the text.
        invalid: a dollar sign begins no variable, and Docker refuses the file for it.
    """

    text: str = ""
    unset: list[str] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    invalid: bool = False


Replace = Callable[[str, Mapping[str, str]], Replaced]


def replaced_by_swarm(text: str, environment: Mapping[str, str]) -> Replaced:
    """As the stack commands do it. An error is forgotten when another variable follows it in the same text."""
    result = Replaced()
    failed: str | Missing | None = None

    def value_of(found: re.Match[str]) -> str:
        nonlocal failed
        if found["escaped"]:
            return "$"
        if found["invalid"] is not None:
            failed = "invalid"
            return _LOST
        written = found["named"] or found["braced"]
        operator = next((each for each in (":-", "-", ":?", "?") if each in written), "")
        name, _, argument = written.partition(operator) if operator else (written, "", "")
        value, missing = _chosen(name, operator, argument, environment, result)
        failed = missing
        if missing is not None:
            result.missing.append(missing)
        return value

    replaced = _SWARM.sub(value_of, text)
    result.invalid = failed == "invalid"
    result.text = replaced.replace(_LOST, "$" if result.invalid else "")
    result.missing = [
        each if each is failed else Missing(each.name, each.message, lost=True) for each in result.missing
    ]
    return result


def _chosen(
    name: str, operator: str, argument: str, environment: Mapping[str, str], result: Replaced
) -> tuple[str, Missing | None]:
    value = environment.get(name)
    present = value is not None and not (operator.startswith(":") and value == "")
    match operator[-1:]:
        case "-":
            return (value or "") if present else argument, None
        case "+":
            return argument if present else "", None
        case "?" if not present:
            return "", Missing(name, argument)
        case _:
            if value is None:
                result.unset.append(name)
            return value or "", None


def replaced_by_compose(text: str, environment: Mapping[str, str]) -> Replaced:
    """As Compose does it."""
    result = Replaced()
    done: list[str] = []
    rest = text
    while rest:
        before, dollar, after = rest.partition("$")
        done.append(before)
        if not dollar:
            break
        if after.startswith("$"):
            done.append("$")
            rest = after[1:]
        elif after.startswith("{"):
            rest = _braced(after[1:], environment, result, done)
        elif found := _COMPOSE_NAMED.match(after):
            done.append(_chosen(found[0], "", "", environment, result)[0])
            rest = after[found.end() :]
        else:  # compose-go's pattern finds nothing there, and leaves it: ``$(date)`` is for a shell
            done.append("$")
            rest = after
    result.text = "".join(done)
    return result


def _braced(after: str, environment: Mapping[str, str], result: Replaced, done: list[str]) -> str:
    """Replaces what's in the braces, and gives what comes behind them."""
    end = _closing(after)
    found = _COMPOSE_BRACED.fullmatch(after[:end]) if end >= 0 else None
    if found is None:
        result.invalid = True
        return after[end + 1 :] if end >= 0 else after
    name, operator, argument = found[1], found[2] or "", found[3] or ""
    value, missing = _chosen(name, operator, argument, environment, result)
    if operator:
        inner = replaced_by_compose(argument, environment)
        result.invalid = result.invalid or inner.invalid
        if missing is not None:
            result.missing.append(Missing(name, inner.text))
        elif value == argument and (operator[-1] == "+" or value != environment.get(name)):
            value = inner.text
            result.unset += inner.unset
            result.missing += inner.missing
    done.append(value)
    return after[end + 1 :]


def _closing(text: str) -> int:
    """Where the brace is that closes the one before the text, -1 where there's none."""
    depth, at = 1, 0
    while at < len(text):
        if text[at] == "}":
            depth -= 1
            if not depth:
                return at
        elif text.startswith("${", at):
            depth += 1
            at += 1
        at += 1
    return -1
