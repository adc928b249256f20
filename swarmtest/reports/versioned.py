"""Reads and writes the public documents of a folder: JSON, each with a version of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from swarmtest.errors import RunFolderError


class Versioned(Protocol):
    """A document that says its version."""

    @property
    def version(self) -> int:
        """The version of its format."""


Made = TypeVar("Made", bound=Versioned)


def write_whole(document: Versioned, path: Path) -> None:
    """Writes a document whole or not at all, the same bytes for the same document."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(msgspec.json.format(msgspec.json.encode(document, order="sorted"), indent=2) + b"\n")
    part.replace(path)


def read_versioned(path: Path, kind: type[Made], latest: int, *, missing: str, broken: tuple[str, str]) -> Made:
    """Reads a document.

    Arguments:
        latest: the newest version that's known.
        missing: what to do where there's no such file.
        broken: what the file is none of, and what to do then.

    Raises:
        RunFolderError: it's missing, broken or of a later version.
    """
    try:
        document = msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise RunFolderError(f"{path}: can't be read ({error.strerror}); {missing}") from error
    except msgspec.DecodeError as error:
        raise RunFolderError(f"{path}: not {broken[0]} ({error}); {broken[1]}") from error
    if document.version > latest:
        raise RunFolderError(f"{path}: version {document.version}, this swarmtest reads up to {latest}")
    return document
