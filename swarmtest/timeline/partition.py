"""The requests of a run in two parts: those that are looked at one by one, and the plain rest, which is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from swarmtest.errors import RunFolderError
from swarmtest.evidence.database import Database
from swarmtest.evidence.facts import Whole, lines_of, strangers
from swarmtest.evidence.request import Request
from swarmtest.store import REQUEST_COLUMNS
from swarmtest.timeline.aliases import Aliases, Heard
from swarmtest.timeline.lifespan import Lifespan
from swarmtest.timeline.telling import find_telling
from swarmtest.timeline.witness import PROXIED_COLUMNS, TRAIL_COLUMNS, Proxied, Trail, proxied_of, trails_of

_UNSURE = "SELECT n FROM facts WHERE NOT sure"
_ODD = "SELECT n FROM odd WHERE n NOT IN (SELECT n FROM facts WHERE NOT sure)"
_STRANGERS = "SELECT id FROM said WHERE lines > 0 AND id NOT IN (SELECT id FROM requests)"
_WORDS = """
SELECT DISTINCT hash(word), word FROM (
    SELECT instance AS word FROM requests UNION ALL SELECT target FROM requests UNION ALL SELECT container FROM lines
) WHERE word IS NOT NULL
"""
"""Each name by the number that stands for it in the table ``facts``."""


@dataclass(frozen=True, slots=True)
class Group:
    """Plain requests that are alike.

    Attributes:
        burst: whose they are; None for the steady traffic.
        task: of the instance that answered them.
        before: whether they ended before the rollout began.
    """

    kind: str
    reused: bool
    burst: str | None
    task: str
    before: bool
    count: int


@dataclass(slots=True)
class Partition:
    """All requests of a run, and the lines about those that are looked at.

    Attributes:
        numbers, requests: of those that are looked at, in the order of their beginning.
        groups: the plain rest.
    """

    database: Database
    whole: Whole
    errors: Mapping[str, float]
    numbers: list[int] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    trails: dict[str, Trail] = field(default_factory=dict)
    proxied: dict[str, tuple[Proxied, ...]] = field(default_factory=dict)
    groups: tuple[Group, ...] = ()
    strangers: frozenset[str] = frozenset()
    named: frozenset[tuple[str, str]] = frozenset()

    @property
    def plain(self) -> int:
        """How many are only counted."""
        return sum(group.count for group in self.groups)

    def heard(self, said: Sequence[tuple[str, str]]) -> Heard:
        """What tells who an instance is."""
        sure = self.database.rows("SELECT DISTINCT called, target, box FROM facts WHERE sure AND box IS NOT NULL")
        words = {int(number): str(word) for number, word in self.database.rows(_WORDS)}
        self.named = frozenset((words[called], words[box]) for called, _, box in sure)
        learnt = set(self.named)
        dialled = {(words.get(target, ""), words[box]) for _, target, box in sure}
        for request in self.requests:
            trail = self.trails.get(request.id)
            if trail is None:
                continue
            if request.instance and len(set(trail.containers)) == 1:
                learnt.add((request.instance, trail.containers[0]))
            dialled.add((request.target or "", trail.container or ""))
        return Heard(said, sorted(learnt), sorted(dialled))

    def find_telling(self, lives: Sequence[Lifespan], aliases: Aliases, until: float | None) -> None:
        """Takes those out of the plain that tell something by themselves, and groups the rest.

        Arguments:
            until: when the rollout began, or else the run ended.
        """
        find_telling(self.database, lives, aliases)
        self._look_at(_ODD)
        self._in_order()
        rows = self.database.rows(
            "SELECT kind, reused, burst, task, ended < $until, count(*) FROM placed JOIN lives USING (life)"
            " WHERE n NOT IN (SELECT n FROM odd) GROUP BY ALL ORDER BY ALL",
            {"until": until if until is not None else float("inf")},
        )
        self.groups = tuple(Group(*row) for row in rows)

    def _look_at(self, chosen: str) -> None:
        """Makes objects of some of the requests, and of all lines about them.

        Arguments:
            chosen: a statement that gives their numbers.
        """
        columns = ", ".join(REQUEST_COLUMNS)
        if not self.database.value(f"SELECT count(*) FROM ({chosen})"):
            return
        rows = self.database.rows(f"SELECT n, {columns} FROM requests WHERE n IN ({chosen})")
        self.numbers += [row[0] for row in rows]
        self.requests += read_requests(dict(zip(REQUEST_COLUMNS, row[1:], strict=True)) for row in rows)
        ids = f"SELECT id FROM requests WHERE n IN ({chosen})"
        self.trails |= trails_of(lines_of(self.database, "record", TRAIL_COLUMNS, ids), self.errors)
        self.proxied |= proxied_of(lines_of(self.database, "proxied", PROXIED_COLUMNS, ids))

    def _look_at_strangers(self) -> None:
        self.strangers = strangers(self.database) if self.whole.strange else frozenset()
        if self.strangers:
            self.trails |= trails_of(lines_of(self.database, "record", TRAIL_COLUMNS, _STRANGERS), self.errors)

    def entire(self) -> Partition:
        """All requests as objects, none of them plain."""
        every = Partition(self.database, self.whole, self.errors, strangers=self.strangers)
        every._look_at("SELECT n FROM requests")
        every._in_order()
        every.trails |= {name: self.trails[name] for name in self.strangers}
        return every

    def _in_order(self) -> None:
        order = sorted(range(len(self.requests)), key=lambda k: (self.requests[k].began, self.requests[k].id))
        self.numbers, self.requests = [self.numbers[k] for k in order], [self.requests[k] for k in order]

    @staticmethod
    def begin(database: Database, errors: Mapping[str, float], whole: Whole) -> Partition:
        """The first look: all that isn't plain by what was said of it."""
        partition = Partition(database, whole, errors)
        partition._look_at(_UNSURE)
        partition._look_at_strangers()
        return partition


def read_requests(rows: Iterable[Mapping[str, object]]) -> list[Request]:
    """The client's records; fields that are null or missing have their defaults.

    Raises:
        RunFolderError: a record that no version ever wrote.
    """
    known = [{key: value for key, value in row.items() if value is not None} for row in rows]
    try:
        return msgspec.convert(known, type=list[Request], strict=False)
    except msgspec.ValidationError as error:
        raise RunFolderError(f"requests: {error}; was the folder edited?") from error
