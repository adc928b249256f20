"""Scripts that a shell is given in a stack file, taken apart into their simple commands.

It's no shell: loops, conditions and groups are noted, and their commands listed in the order in which they're written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\r]+|\\\n)
    | (?P<comment>(?<![^\s;&|()])\#[^\n]*)
    | (?P<copy>\d*[<>]&[\d-]+)
    | (?P<redirect>&>>?|\d*(?:<<<|<<|>>|>\||[<>]&?))
    | (?P<operator>&&|\|\||;;|\|&|[;&|()\n])
    | (?P<word>(?:\$\([^()]*\)|\$\{[^}]*\}|`[^`]*`|[^\s;&|()<>"'\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+)
    | (?P<rest>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "fi", "while", "until", "for", "do", "done", "case", "esac", "{", "}"}
)


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command.

    Attributes:
        words: without quotes, redirections, and variables that are set for it.
        after: the operator behind it: ``&&``, ``||``, ``|``, ``&``, ``;``, or nothing at the end.
        redirected: whether its input or output goes elsewhere.
    """

    words: tuple[str, ...]
    after: str
    redirected: bool

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return self.words[0].rpartition("/")[2] if self.words else ""


@dataclass(frozen=True, slots=True)
class Script:
    """What a shell is told to do.

    Attributes:
        compound: whether it has loops, conditions or groups.
        loops: whether it has a loop.
    """

    commands: tuple[Command, ...]
    compound: bool
    loops: bool

    def calls(self, name: str) -> bool:
        """Whether one of its commands is this program or builtin."""
        return any(command.name == name for command in self.commands)

    @property
    def lists(self) -> tuple[tuple[Command, ...], ...]:
        """The commands, cut where one ends whatever the one before came to."""
        found: list[tuple[Command, ...]] = []
        begun: list[Command] = []
        for command in self.commands:
            begun.append(command)
            if command.after in (";", "&"):
                found.append(tuple(begun))
                begun = []
        return (*found, tuple(begun)) if begun else tuple(found)


@lru_cache(maxsize=4096)
def read_script(text: str) -> Script:
    """Takes a script apart. A stack has the same few over and over, so they're kept."""
    reading = _Reading()
    for match in _TOKEN.finditer(text):
        reading.take(match.lastgroup or "", match.group())
    reading.end("")
    return Script(
        tuple(reading.commands), bool(reading.keywords), not reading.keywords.isdisjoint({"while", "until", "for"})
    )


class _Reading:
    """What has been read so far of a script, and of the command that's under way."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.keywords: set[str] = set()
        self.words: list[str] = []
        self.redirected = False
        self.to_skip = False

    def take(self, kind: str, piece: str) -> None:
        match kind:
            case "operator":
                if piece in "()":
                    self.keywords.add(piece)
                self.end(_plain_operator(piece))
            case "redirect" | "copy":
                self.redirected, self.to_skip = True, kind == "redirect"
            case "word" | "rest":
                self.word(piece)

    def word(self, piece: str) -> None:
        if self.to_skip:
            self.to_skip = False
        elif not self.words and piece in _KEYWORDS:
            self.keywords.add(piece)
        elif self.words or not _ASSIGNMENT.match(piece):
            self.words.append(_unquoted(piece))

    def end(self, operator: str) -> None:
        if self.words:
            self.commands.append(Command(tuple(self.words), operator, self.redirected))
        self.words, self.redirected, self.to_skip = [], False, False


def _plain_operator(piece: str) -> str:
    return {"|&": "|", "\n": ";", ";;": ";", "(": ";", ")": ";"}.get(piece, piece)


def _unquoted(word: str) -> str:
    if not ("'" in word or '"' in word or "\\" in word):
        return word
    return _QUOTED.sub(lambda match: match[1] or match[2] or match[3] or "", word)
