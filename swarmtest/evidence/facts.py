"""Which requests are plainly ok, told by DuckDB for all of them at once.

Plain is what leaves no doubt: a whole 2xx that names its instance and bears its own ID, with one start and one finish
on one container where instances log them. Whatever isn't plain is looked at one by one, so a
request that's wrongly called plain would be a loss that nobody sees; whatever is in doubt isn't.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from swarmtest.evidence.database import STEPS, Database

_STEPS = ", ".join(f"'{step}'" for step in STEPS)

_SAID = f"""
CREATE TABLE said AS
SELECT request_id AS id,
    count(*) FILTER (kind = 'record')::INTEGER AS lines,
    count(*) FILTER (event = 'start')::INTEGER AS starts,
    count(*) FILTER (event = 'intent')::INTEGER AS intents,
    count(*) FILTER (event = 'commit')::INTEGER AS commits,
    count(*) FILTER (event = 'finish')::INTEGER AS finishes,
    count(*) FILTER (kind = 'proxied')::INTEGER AS proxied,
    min(hash(container)) FILTER (kind = 'record') AS box,
    max(hash(container)) FILTER (kind = 'record') AS other,
    min(t) FILTER (event = 'start') AS started,
    max(t) FILTER (event = 'finish') AS finished,
    any_value(hash(server)) FILTER (kind = 'proxied' AND connected IS DISTINCT FROM false) AS server
FROM lines WHERE request_id <> '' AND (kind = 'proxied' OR event IN ({_STEPS})) GROUP BY request_id
"""

PLAIN = """
    r.client_outcome = 'complete' AND r.status BETWEEN 200 AND 299 AND r.instance <> ''
    AND (r.framing IN ('length', 'chunked', 'marker', 'end_stream') OR r.method = 'HEAD' OR r.status = 204)
    AND r.sent IS NOT NULL AND r.done IS NOT NULL AND r.kind IS NOT NULL
    AND coalesce(r.protocol, 'http1') IN ('http1', 'h2') AND coalesce(r.attempt, 1) = 1 AND r.again IS NULL
    AND r.stored IS NULL AND r.matched IS NULL AND r.goaway IS NULL
    AND r.id NOT IN (SELECT again FROM requests WHERE again IS NOT NULL)
"""
"""What the client has to say of a request that's plain."""

_RECORDED = """
    s.starts = 1 AND s.box = s.other AND s.finishes = {finishes} AND s.intents <= 1 AND s.commits <= 1
    AND s.lines = s.starts + s.intents + s.commits + s.finishes AND s.proxied <= 1
"""
_UNRECORDED = "coalesce(s.lines, 0) = 0 AND coalesce(s.proxied, 0) <= 1"

_FACTS = """
CREATE TABLE facts AS
SELECT r.n, coalesce(r.kind, '') AS kind, coalesce(r.protocol, 'http1') AS protocol,
    coalesce(r.reused, false) AS reused, r.status,
    coalesce(r.attempt, 1) AS attempt,
    CASE WHEN contains(split_part(r.id, '-', 1), '.burst') THEN split_part(r.id, '-', 1) END AS burst,
    r.planned, r.first_byte, coalesce(r.sent, r.planned, 0) AS began,
    coalesce(r.connected, r.sent, r.planned, 0) AS connected, coalesce(r.done, r.sent, r.planned, 0) AS ended,
    s.started, s.finished, hash(r.instance) AS called, s.box, hash(r.target) AS target,
    s.server, coalesce(s.proxied, 0) > 0 AS proxied,
    coalesce({plain}, false) AS sure
FROM requests r LEFT JOIN said s ON s.id = r.id
"""


@dataclass(frozen=True, slots=True)
class Whole:
    """What's true of all requests together.

    Attributes:
        sent: how many there are.
        different: how many IDs they have.
        names_itself: whether any answer names its instance.
        echoes: whether any answer bears its request's ID.
        began, last_began, ended: the first and the last beginning, the last end.
        handled: how many IDs have lines of an instance.
        strange: whether some of them may be none of the client's.
    """

    sent: int = 0
    different: int = 0
    names_itself: bool = False
    echoes: bool = False
    began: float | None = None
    last_began: float | None = None
    ended: float | None = None
    handled: int = 0
    strange: bool = False


def find_facts(database: Database, *, starts: bool, finishes: bool, plain: bool = True) -> Whole:
    """Makes the table ``facts``, a row for each request, with the doubt that's left about it.

    Arguments:
        starts, finishes: whether instances log them.
        plain: false takes every request for doubtful.
    """
    database.run(_SAID)
    named, echoes, different = database.rows(
        "SELECT coalesce(bool_or(instance IS NOT NULL), false), coalesce(bool_or(echoed), false),"
        " count(DISTINCT hash(id)) FROM requests"
    )[0]
    conditions = [f"({PLAIN})", "r.echoed" if echoes else "r.echoed IS NULL"]
    conditions.append(f"({_RECORDED.format(finishes=int(finishes)) if starts else _UNRECORDED})")
    database.run(_FACTS.format(plain=" AND ".join(conditions) if plain else "false"))
    sent, known, began, last, ended = database.rows(
        "SELECT count(*), count(box), min(began), max(began), max(ended) FROM facts"
    )[0]
    if different < sent:  # where all the numbers that stand for IDs are different, the IDs are, too
        different = int(database.value("SELECT count(DISTINCT id) FROM requests"))
    if different < sent:
        database.run(
            "UPDATE facts SET sure = false WHERE n IN (SELECT n FROM requests WHERE id IN"
            " (SELECT id FROM requests GROUP BY id HAVING count(*) > 1))"
        )
    handled = database.value("SELECT count(*) FROM said WHERE lines > 0")
    all_known = different == sent and handled == known
    return Whole(sent, different, named, echoes, began, last, ended, handled, strange=not all_known)


def strangers(database: Database) -> frozenset[str]:
    """IDs that lines of instances bear, and no request of the client."""
    found = database.rows("SELECT id FROM said WHERE lines > 0 AND id NOT IN (SELECT id FROM requests)")
    return frozenset(str(name) for (name,) in found)


def lines_of(database: Database, kind: str, columns: Sequence[str], ids: str) -> Iterator[tuple[Any, ...]]:
    """The lines about requests, in the order in which they were written.

    Arguments:
        kind: ``record`` or ``proxied``.
        ids: a statement that gives the requests' IDs.
    """
    steps = f"AND event IN ({_STEPS})" if kind == "record" else ""
    yield from database.rows(
        f"SELECT {', '.join(columns)} FROM lines WHERE kind = '{kind}' {steps} AND request_id <> ''"
        f" AND request_id IN ({ids}) ORDER BY rowid"
    )
