"""The page of each rule: what it finds, why, what to write instead, and how sure it is.

They're written under ``docs/lint/``, and are a part of the installed package, so that ``swarmtest lint --explain RULE``
needs no network.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from swarmtest.errors import UsageError

PAGES_URL = ""
"""Where the pages can be read on the web, with a slash at its end. Empty as long as there's no such place: then outputs
name the command that prints a page."""

_HERE = Path(__file__).parent


def folder() -> Path:
    """Where the pages are: beside this module once it's installed, under ``docs/`` in a checkout."""
    installed = _HERE / "docs"
    return installed if installed.is_dir() else _HERE.parents[1] / "docs" / "lint"


def page_url(rule: str) -> str:
    """The address of a rule's page on the web; empty where there's none."""
    return f"{PAGES_URL}{rule}.md" if PAGES_URL else ""


def page_hint(rule: str) -> str:
    """Where a person finds the page of a rule."""
    return page_url(rule) or f"swarmtest lint --explain {rule}"


def page_text(rule: str) -> str:
    """The page of a rule as it's written, in Markdown; empty where there's none."""
    try:
        return (folder() / f"{rule}.md").read_text(encoding="utf-8")
    except OSError:
        return ""


def explain(rule: str, known: Sequence[str]) -> str:
    """The page of a rule that a person named.

    Raises:
        UsageError: there's no such rule; the message has the near names.
    """
    if rule not in known:
        near = difflib.get_close_matches(rule, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "swarmtest list has them all"
        raise UsageError(f"no rule {rule!r}; {hint}")
    return page_text(rule)
