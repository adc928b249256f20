"""Benchmarks: each file here is one, and says in figures how fast a part of swarmtest is.

A benchmark is a module with a docstring and a function ``measure(place) -> list[Figure]``; its name is the file's.
``make bench`` runs all of them, ``make bench ONLY="http1_speed schedule"`` those named.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Figure:
    """One number that was measured.

    Attributes:
        what: what it's a number of.
        value: as a person reads it, with its unit.
        target: what it's to be, likewise; empty where nothing is asked of it.
        met: whether it is that; None where nothing is asked of it, or it couldn't be measured here.
    """

    what: str
    value: str
    target: str = ""
    met: bool | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a benchmark runs.

    Attributes:
        folder: for whatever it writes; empty at its start.
        server_core, client_core: processors of their own for the two sides; the same one where there's only one.
    """

    folder: Path
    server_core: int
    client_core: int


class Benchmark(Protocol):
    """What a module of this folder is."""

    def measure(self, place: Place) -> list[Figure]: ...


def at_least(what: str, value: float, least: float, unit: str = "×") -> Figure:
    """A figure that's to be no less than ``least``."""
    return Figure(what, f"{value:,.2f} {unit}", f"at least {least:g} {unit}", value >= least)


def at_most(what: str, value: float, most: float, unit: str) -> Figure:
    """A figure that's to be no more than ``most``."""
    return Figure(what, f"{value:,.2f} {unit}", f"at most {most:g} {unit}", value <= most)
