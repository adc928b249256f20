"""What a stack file alone can tell, before anything runs: rules read files, and nothing else.

A :class:`Finding` says what will happen and where it's written, how bad that is, and how sure it is: *certain* where
the file proves it, *likely* where it depends on what the image does, *unknown* where a file can't tell and something
else has to be looked at. A rule that can't know says so; it never guesses, and never counts as passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Target(StrEnum):
    """What the files are for: ``docker stack deploy`` or ``docker compose up``. They read the same file differently."""

    SWARM = "swarm"
    COMPOSE = "compose"


class Severity(StrEnum):
    """How bad: an error loses requests, work or the deployment itself; a warning may; an info does no harm."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Certainty(StrEnum):
    """How sure: by the file alone, by what's usual, or not to be known from a file."""

    CERTAIN = "certain"
    LIKELY = "likely"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something is written.

    Attributes:
        file: as the person named it.
        line: one-based; None where a file as a whole is meant.
        key: path of the key, such as ``("services", "api", "deploy", "replicas")``. Where the key itself is absent,
            the line is the one of the nearest key above it.
    """

    file: Path
    line: int | None
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A safe change of one value, that ``--fix`` makes: ``value`` at ``key``, put in where it's absent.

    Attributes:
        value: of the type that's to be read from the file: 2 for ``2``, and "2" for ``"2"``.
        after: keys beside it; a new one comes behind the first of them that's there, else at the end.
    """

    key: tuple[str, ...]
    value: str | int | bool
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found.

    Attributes:
        rule: name of the rule, which is the name of its page under ``docs/lint/``.
        effect: what will happen, in a sentence, with the numbers of this file.
        fix: what to do, in a sentence.
        edit: the same as a change of the file, where it's safe to make it without asking.
    """

    rule: str
    severity: Severity
    certainty: Certainty
    place: Place
    effect: str
    fix: str
    edit: Edit | None = None
