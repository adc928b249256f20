"""Traffic out of what a team has already: an OpenAPI description, a HAR file or an access log.

Each becomes samples, which :mod:`swarmtest.stack.block.sources.mix` makes kinds of requests of. The defaults do no
harm: only methods that change nothing, no cookies, no secrets, no other hosts. What's left out is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing, by HTTP's own word (RFC 9110, 9.2.1); TRACE is of no use to anybody."""

FEW = 3


@dataclass(frozen=True, slots=True)
class Sample:
    """A request that may become a kind.

    Attributes:
        path: with its query, as it goes on the wire.
        template: what it has in common with others: the path with its IDs taken out.
        times: how often it was seen.
    """

    method: str
    path: str
    template: str
    times: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What may be taken.

    Attributes:
        carry: names of headers and of query parameters that are taken though they may be secret, in small letters.
        headers: added to each request by the stack file, so that what asks for a log-in can be answered.
    """

    methods: tuple[str, ...] = SAFE_METHODS
    carry: frozenset[str] = frozenset()
    headers: Mapping[str, str] = field(default_factory=dict)
    host: str | None = None
    base_path: str | None = None


class LeftOut:
    """What wasn't taken, by its reason."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, int]] = {}

    def add(self, reason: str, what: str, times: int = 1) -> None:
        """Notes one; ``what`` is shown as an example."""
        examples = self._found.setdefault(reason, {})
        examples[what] = examples.get(what, 0) + times

    def words(self) -> list[str]:
        """A line for each reason, with the first few that it's about."""
        lines = []
        for reason, examples in self._found.items():
            names = list(examples)
            more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
            lines.append(f"{sum(examples.values()):,} left out, {reason}: {', '.join(names[:FEW])}{more}")
        return lines


@dataclass(frozen=True, slots=True)
class Taken:
    """What a file gave."""

    samples: tuple[Sample, ...]
    left_out: LeftOut
