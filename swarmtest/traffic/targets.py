"""Where a new connection goes: one front door, or the tasks' own addresses in turn."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import msgspec

Address = tuple[socket.AddressFamily, tuple[str, int] | tuple[str, int, int, int]]


@dataclass(frozen=True, slots=True)
class Target:
    """A place to dial.

    Attributes:
        label: ``host:port``, as it goes into the record and the ``Host`` header.
        prefix: path of the URL, put before each request's own path.
    """

    host: str
    port: int
    label: str
    prefix: str = ""

    @classmethod
    def from_url(cls, url: str) -> Target:
        """The target of ``http://host[:port][/prefix]``."""
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 80
        return cls(host, port, _label(host, port), parts.path.rstrip("/"))

    @classmethod
    def from_text(cls, text: str) -> Target:
        """The target of ``host:port`` or ``[v6]:port``; raises ``ValueError`` for other texts."""
        host, colon, port = text.rpartition(":")
        if not colon or not host:
            raise ValueError(f"target {text!r}: expected host:port")
        host = host.strip("[]")
        return cls(host, int(port), _label(host, int(port)))

    def addresses(self) -> list[Address]:
        """Addresses to try in order; raises ``socket.gaierror`` when the name isn't known.

        Looked up anew for each connection, as what's behind a name changes in a rollout.
        """
        try:
            socket.inet_pton(socket.AF_INET, self.host)
        except OSError:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
            return [(family, address) for family, _, _, _, address in found]  # type: ignore[misc]
        return [(socket.AF_INET, (self.host, self.port))]


def _label(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Targets(Protocol):
    """Says where the next new connection goes."""

    def pick(self) -> Target | None:
        """The target, or ``None`` while none is listed."""
        ...


class FrontDoor:
    """Always the same target."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def pick(self) -> Target | None:
        return self._target


class ListedTargets:
    """The targets that the runner lists in a file, in turn; for a front door without a proxy.

    The file is replaced as a whole, so what is read is never half a list. An unreadable file
    leaves the last list as it is, with a word for the log, once.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._targets: list[Target] = []
        self._problem: str | None = None
        self._turn = 0

    def pick(self) -> Target | None:
        if not self._targets:
            return None
        self._turn += 1
        return self._targets[self._turn % len(self._targets)]

    def refresh(self) -> str | None:
        """Reads the file if it's another one than before; returns what's newly wrong with it, if anything."""
        problem = None
        try:
            status = self._path.stat()
            if (seen := (status.st_ino, status.st_mtime_ns)) == self._seen:
                return None
            self._seen = seen
            listed = msgspec.json.decode(self._path.read_bytes(), type=TargetList)
            self._targets = [Target.from_text(text) for text in listed.targets]
        except (OSError, ValueError) as error:
            problem = f"targets file {self._path}: {error}"
        known, self._problem = self._problem, problem
        return problem if problem != known else None


class TargetList(msgspec.Struct, frozen=True):
    """What the targets file holds."""

    targets: list[str]


def write_targets(path: Path, targets: Iterable[str]) -> None:
    """Replaces the targets file at one stroke; each target is ``host:port``."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(msgspec.json.encode(TargetList(list(targets))))
    fresh.replace(path)
