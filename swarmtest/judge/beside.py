"""What a run's folder holds beside its requests: the clients' records of streams and of HTTP/2 connections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from swarmtest.errors import RunFolderError
from swarmtest.evidence.connection import Connection
from swarmtest.evidence.stream import Stream
from swarmtest.store import RunFolder
from swarmtest.tables import CONNECTIONS, STREAMS

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Beside:
    """Records that are no requests."""

    streams: tuple[Stream, ...] = ()
    connections: tuple[Connection, ...] = ()


NOTHING = Beside()


def read_beside(folder: RunFolder) -> Beside:
    """All of a folder.

    Raises:
        RunFolderError: a table that can't be read, or a record that no version ever wrote.
    """
    streams, connections = folder.read_table(STREAMS), folder.read_table(CONNECTIONS)
    return Beside(tuple(read_streams(streams)), tuple(read_connections(connections)))


def read_streams(rows: Iterable[Mapping[str, Any]]) -> list[Stream]:
    """The client's records of streams; fields that are null or missing have their defaults."""
    return records_of("streams", rows, list[Stream])


def read_connections(rows: Iterable[Mapping[str, Any]]) -> list[Connection]:
    """The client's records of HTTP/2 connections, likewise."""
    return records_of("connections", rows, list[Connection])


def records_of(what: str, rows: Iterable[Mapping[str, Any]], kind: type[T]) -> T:
    """Rows as records; fields that are null or missing have their defaults.

    Raises:
        RunFolderError: a record that no version ever wrote.
    """
    known = [{key: value for key, value in row.items() if value is not None} for row in rows]
    try:
        return msgspec.convert(known, type=kind, strict=False)
    except msgspec.ValidationError as error:
        raise RunFolderError(f"{what}: {error}; was the folder edited?") from error
