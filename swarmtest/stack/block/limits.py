"""The limits that an ``x-swarmtest`` block and ``--limit`` ask for, each with its place for later errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from swarmtest.errors import UsageError
from swarmtest.limits import LOST, SLOWEST, SUCCESS, Limit
from swarmtest.limits.grammar import EXAMPLE, parse_limit
from swarmtest.stack.block.kinds import Kind
from swarmtest.stack.reader import Reader, near, refuse_unknown

FLAG = "--limit"
CAN_ABORT = (LOST, SUCCESS, "refused")
"""What's known while a run goes on, beside answer times; every other class comes with judging."""


@dataclass(frozen=True, slots=True)
class AskedLimit:
    """A limit, and where it was written.

    Attributes:
        reader, index: its list in the file, and its place there; None for one of the command line.
    """

    limit: Limit
    reader: Reader | None = None
    index: int = 0

    def error(self, problem: str) -> UsageError:
        """An error that points at it."""
        problem = f"{self.limit.text!r}: {problem}"
        if self.reader is None:
            return UsageError(f"{FLAG} {problem}")
        return self.reader.source.error(problem, *self.reader.path, "limits", str(self.index))


def read_limits(about: Reader, flags: Iterable[str], kinds: Iterable[Kind]) -> tuple[AskedLimit, ...]:
    """The block's limits, and after them the command line's.

    Raises:
        StackError, UsageError: one can't be read, names a kind that there isn't, or is there twice.
    """
    items = about.body.get("limits")
    if items is not None and not isinstance(items, list):
        raise about.error(f"expected a list of limits such as {EXAMPLE}, found {items!r}", "limits")
    asked = [_of_block(about, item, index) for index, item in enumerate(items or [])]
    asked += [AskedLimit(_parsed_flag(text)) for text in flags]
    kinds = list(kinds)
    names, streams = [kind.name for kind in kinds], [kind.name for kind in kinds if kind.is_stream]
    seen: set[object] = set()
    for one in asked:
        if one.limit.kind is not None and one.limit.kind not in names:
            raise one.error(f"no kind of traffic is called {one.limit.kind!r}; {near(one.limit.kind, names)}")
        if one.limit.kind in streams:
            raise one.error(
                f"{one.limit.kind} sends no requests but holds streams open, which have checks of their own"
            )
        if (key := replace(one.limit, text="", abort=False)) in seen:
            raise one.error("it's there twice; leave one out")
        seen.add(key)
    return tuple(asked)


def _of_block(about: Reader, item: object, index: int) -> AskedLimit:
    here = (*about.path, "limits", str(index))
    if isinstance(item, str):
        return AskedLimit(_parsed(about, item, here), about, index)
    if not isinstance(item, dict) or "limit" not in item:
        problem = f"expected a limit such as {EXAMPLE}, or {{limit: …, abort: true}}, found {item!r}"
        raise about.source.error(problem, *here)
    part = Reader(about.source, item, *here)
    refuse_unknown(part, ("limit", "abort", "scenarios"))
    limit = _parsed(about, part.text("limit", ""), (*here, "limit"))
    if (said := part.text("abort", "false").lower()) not in ("true", "false"):
        raise part.error(f"expected true or false, found {said!r}", "abort")
    abort = said == "true"
    if abort and limit.unit != "ms" and limit.measure not in CAN_ABORT:
        problem = f"{limit.measure} is only known when the run is judged; what can stop it is {_can_abort()}"
        raise part.error(problem, "abort")
    if abort and limit.per_second and limit.measure == SUCCESS and limit.unit == "requests":
        raise part.error("a number of answers per second can't stop a run; a share such as 99% can", "abort")
    return AskedLimit(replace(limit, abort=abort, scenarios=_scenarios(part)), about, index)


def _can_abort() -> str:
    return f"p50, p99 and their like, {SLOWEST}, {', '.join(CAN_ABORT)}"


def _scenarios(part: Reader) -> tuple[str, ...]:
    value = part.body.get("scenarios")
    names = [value] if isinstance(value, str) else value
    if names is None:
        return ()
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        problem = f"expected names of scenarios, or orderly or destructive, found {value!r}"
        raise part.error(problem, "scenarios")
    return tuple(names)


def _parsed(about: Reader, text: str, path: tuple[str, ...]) -> Limit:
    try:
        return parse_limit(text)
    except ValueError as error:
        raise about.source.error(f"{text!r}: {error}", *path) from error


def _parsed_flag(text: str) -> Limit:
    try:
        return parse_limit(text)
    except ValueError as error:
        raise UsageError(f"{FLAG} {text!r}: {error}") from error
