"""What's usually wrong where a YAML parser stops: its own words name its grammar, not the slip of the pen."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"found character '(.+)' that cannot start any token")

_BRACKET = re.compile(r"expected ',' or '([\]}])'")

_INDENTED = "this line isn't indented as its neighbours are"

_HINTS = (
    (
        "mapping values are not allowed",
        "quotes are missing round a value with a colon and a space, or it's indented wrong",
    ),
    ("expected <block end>, but found '<block", _INDENTED),
    ("expected <block end>, but found '-'", _INDENTED),
    ("could not find expected ':'", "a key without its colon, or a text that's indented too little"),
    ("found undefined alias", "its anchor, with & for *, has to stand above it in the same file"),
)


def in_plain_words(problem: str, opened_in_line: int | None) -> str:
    """The parser's words, and behind them what to look at where that's known.

    Arguments:
        opened_in_line: where what the parser was reading begins, one-based.
    """
    hint = _hint(problem, opened_in_line)
    return f"{problem}; {hint}" if hint else problem


def _hint(problem: str, opened_in_line: int | None) -> str:
    if token := _TOKEN.match(problem):
        return (
            "indent with spaces, not with tabs" if token[1] == r"\t" else f"put what begins with {token[1]} in quotes"
        )
    if opened_in_line is not None and problem == "found unexpected end of stream":
        return f"a quote that's opened in line {opened_in_line} is never closed"
    if opened_in_line is not None and (bracket := _BRACKET.match(problem)):
        return f"what's opened in line {opened_in_line} has to be closed by {bracket[1]}"
    return next((hint for begin, hint in _HINTS if problem.startswith(begin)), "")
