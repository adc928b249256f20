"""Connections: how many a database takes, and how many its clients may open, as far as a stack file says so.

Pools are looked for in the variables and addresses that are widely used for them; each of several processes in a
container has a pool of its own. What isn't written isn't counted, so a sum is a lower bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from swarmtest.lint.programs.writers import MYSQL, POSTGRES
from swarmtest.lint.services import LintService
from swarmtest.stack.reader import whole_number

_BOUNCERS = frozenset(("pgbouncer", "docker-pgbouncer"))

_LIMIT_WORD = re.compile(r"(?:-c|--)?max[_-]connections=(\d{1,7})", re.IGNORECASE)
_LIMIT_KEYS = (
    "POSTGRES_MAX_CONNECTIONS",
    "POSTGRESQL_MAX_CONNECTIONS",
    "PG_MAX_CONNECTIONS",
    "MYSQL_MAX_CONNECTIONS",
    "MARIADB_MAX_CONNECTIONS",
)
_BOUNCER_KEYS = ("PGBOUNCER_MAX_CLIENT_CONN", "MAX_CLIENT_CONN")

_POOL_KEY = re.compile(
    r"(?:DB|DATABASE|PG|POSTGRES|POSTGRESQL|MYSQL|SQLALCHEMY|SEQUELIZE|TYPEORM|KNEX)_?(?:CONNECTION_|MAX_)?POOL"
    r"(?:_?(?:SIZE|MAX|MAX_SIZE))?"
    r"|(?:MAX_)?POOL_(?:SIZE|MAX)"
    r"|(?:DB|DATABASE|PG|POSTGRES|POSTGRESQL|MYSQL)_MAX_(?:OPEN_)?CONN(?:ECTION)?S"
    r"|(?:SPRING_DATASOURCE_)?HIKARI_MAX(?:IMUM)?_?POOL_?SIZE|QUARKUS_DATASOURCE_JDBC_MAX_SIZE|GF_DATABASE_MAX_OPEN_CONN"
)
_OVERFLOW_KEYS = ("SQLALCHEMY_MAX_OVERFLOW", "DB_MAX_OVERFLOW", "DATABASE_MAX_OVERFLOW", "MAX_OVERFLOW")
_SQLALCHEMY_OVERFLOW = 10
"""``QueuePool`` of SQLAlchemy opens so many above its size unless it's told otherwise."""

_ADDRESS_POOL = re.compile(
    r"[?&](?:connection_limit|pool_size|pool|max_pool_size|maxPoolSize|maximumPoolSize|pool_max_conns)=(\d{1,6})"
)
_PROCESS_KEYS = ("WEB_CONCURRENCY", "GUNICORN_WORKERS", "UVICORN_WORKERS", "PUMA_WORKERS", "WEB_WORKERS")
_PROCESS_WORD = re.compile(r"(?:--workers|-w)(?:=|(?=\d))(\d{1,4})")
_SERVERS = frozenset(("gunicorn", "uvicorn", "hypercorn", "granian", "puma", "fastapi"))


@dataclass(frozen=True, slots=True)
class Limit:
    """How many connections a service takes.

    Attributes:
        usable: the limit without what the server keeps for its administrator.
        stated: whether the file says it; else it's the default.
    """

    service: LintService
    connections: int
    usable: int
    stated: bool


@dataclass(frozen=True, slots=True)
class Pool:
    """How many connections one instance may open.

    Attributes:
        said: how it comes about, for people: ``DB_POOL 10 x 2 processes``.
    """

    service: LintService
    connections: int
    said: str
    key: tuple[str, ...]


def limit_of(service: LintService) -> Limit | None:
    """What a service takes, if it's a database or a pooler that's known."""
    name = service.image.name
    if name in _BOUNCERS:
        return _stated(service, _BOUNCER_KEYS, kept=0) or Limit(service, 100, 100, stated=False)
    if name in POSTGRES:
        return _stated(service, _LIMIT_KEYS, kept=3) or Limit(service, 100, 97, stated=False)
    if name in MYSQL:
        return _stated(service, _LIMIT_KEYS, kept=0) or Limit(service, 151, 151, stated=False)
    return None


def _stated(service: LintService, keys: tuple[str, ...], kept: int) -> Limit | None:
    """PostgreSQL keeps 3 connections for superusers; MySQL has one more for them."""
    found = [int(match[1]) for word in _words(service) if (match := _LIMIT_WORD.fullmatch(word))]
    if found:
        return Limit(service, found[-1], found[-1] - kept, stated=True)
    for key in keys:
        number = whole_number(service.environment.get(key))
        if number is not None and number > 0:
            return Limit(service, number, number - kept, stated=True)
    return None


def pool_of(service: LintService) -> Pool | None:
    """What one instance of a service may open; None where the file names no pool."""
    if service.image.name in _BOUNCERS:
        return _named(service, ("DEFAULT_POOL_SIZE", "PGBOUNCER_DEFAULT_POOL_SIZE"))
    if limit_of(service) is not None:
        return None
    pool = _named(service, tuple(key for key in service.environment if _POOL_KEY.fullmatch(key.upper())))
    pool = pool or _in_address(service) or _rails(service)
    if pool is None:
        return None
    count, said = pool.connections, pool.said
    overflow = _overflow(service, pool)
    if overflow:
        count, said = count + overflow, f"({said} + overflow {overflow})"
    processes = _processes(service)
    said += f" x {processes} processes" if processes > 1 else ""
    return Pool(service, count * processes, said, pool.key)


def _overflow(service: LintService, pool: Pool) -> int:
    for key in _OVERFLOW_KEYS:
        if key in service.environment:
            return max(whole_number(service.environment[key]) or 0, 0)
    return _SQLALCHEMY_OVERFLOW if "SQLALCHEMY" in pool.key[-1] else 0


def _named(service: LintService, keys: tuple[str, ...]) -> Pool | None:
    for key in keys:
        number = whole_number(service.environment.get(key))
        if number is not None and number > 0:
            return Pool(service, number, f"{key} {number}", ("environment", key))
    return None


def _in_address(service: LintService) -> Pool | None:
    for key, value in service.environment.items():
        match = _ADDRESS_POOL.search(value) if value and "://" in value else None
        if match:
            return Pool(service, int(match[1]), f"{match[0][1:].replace('=', ' ')}", ("environment", key))
    return None


def _rails(service: LintService) -> Pool | None:
    """``database.yml`` as Rails makes it has a pool of ``RAILS_MAX_THREADS``."""
    return _named(service, ("RAILS_MAX_THREADS",))


def _processes(service: LintService) -> int:
    words = list(_words(service))
    if _SERVERS.isdisjoint(word.rpartition("/")[2] for word in words):
        words = []
    words += (service.environment.get("GUNICORN_CMD_ARGS") or "").split()
    for word, after in pairwise([*words, ""]):
        match = _PROCESS_WORD.fullmatch(word)
        number = int(match[1]) if match else whole_number(after) if word in ("--workers", "-w") else None
        if number is not None and number > 0:
            return number
    for key in _PROCESS_KEYS:
        number = whole_number(service.environment.get(key))
        if number is not None and number > 0:
            return number
    return 1


def speaks_to(service: LintService, limit: Limit, databases: int) -> bool:
    """Whether it's a client: its variables name the database as a host, or none while the stack has just one."""
    return names(service, limit) or (databases == 1 and not any(_hosts(service)))


def names(service: LintService, limit: Limit) -> bool:
    """Whether a client's variables have a database as their host."""
    return limit.service.name in _hosts(service)


def _hosts(service: LintService) -> Iterator[str]:
    for key, value in service.environment.items():
        if not value:
            continue
        if "://" in value and not value.startswith(("http:", "https:", "redis:", "rediss:", "amqp:", "amqps:")):
            yield value.rpartition("://")[2].partition("/")[0].rpartition("@")[2].partition(":")[0].partition("?")[0]
        elif key.upper().endswith(("DB_HOST", "DATABASE_HOST", "PGHOST", "POSTGRES_HOST", "MYSQL_HOST", "DB_HOSTNAME")):
            yield value.partition(":")[0]


def _words(service: LintService) -> Iterator[str]:
    """The words of what's started, those of a shell's script among them."""
    for word in service.argv or ():
        yield from word.split() if " " in word else (word,)
