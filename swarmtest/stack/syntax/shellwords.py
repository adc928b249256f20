"""Splits a command into words as Docker does: with google/shlex, which isn't quite a shell, nor Python's ``shlex``.

A ``#`` that begins a word begins a comment, to the end of the line; ``\\`` takes the next character as it is, in
double quotes too.
"""

from __future__ import annotations

_SPACES = " \t\r\n"


def split(text: str, *, comments: bool = True) -> list[str]:
    """The words.

    Arguments:
        comments: false for Compose, whose splitter (mattn/go-shellwords) takes ``#`` for a word as any other.

    Raises:
        ValueError: a quote that isn't closed, or a backslash at the end.
    """
    words: list[str] = []
    at, size = 0, len(text)
    while at < size:
        if text[at] in _SPACES:
            at += 1
        elif text[at] == "#" and comments:
            end = text.find("\n", at)
            at = size if end < 0 else end
        else:
            word, at = _word(text, at)
            words.append(word)
    return words


def _word(text: str, at: int) -> tuple[str, int]:
    made: list[str] = []
    quote = ""
    while at < len(text):
        character = text[at]
        if character == "\\" and quote != "'":
            at += 1
            if at >= len(text):
                raise ValueError("a backslash at the end of the command")
            made.append(text[at])
        elif quote:
            if character == quote:
                quote = ""
            else:
                made.append(character)
        elif character in "'\"":
            quote = character
        elif character in _SPACES:
            break
        else:
            made.append(character)
        at += 1
    if quote:
        raise ValueError(f"a quote {quote} that isn't closed")
    return "".join(made), at
