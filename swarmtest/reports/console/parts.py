"""What console reports are put together from: titles, verdicts, items, and the way out.

Each verdict is a word first and a colour second. Only the sixteen colours of the terminal's own palette
are used and none of its whites, greys and yellows, so that light and dark backgrounds both work; rich
drops colours for ``NO_COLOR`` and everything but the text where the output isn't a terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from swarmtest.reports import CheckEntry, wording

STYLES = {"passed": "green", "failed": "bold red", "not_proved": "magenta"}
EVIDENCE_SHOWN = 5
ASCII = str.maketrans({"±": "+-", "·": "-", "→": ">", "─": "-", "…": ".", "–": "-"})


class PlainConsole(Console):
    """A console on which no text of an app drives the terminal."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments, their text without control characters."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(wording.visible(segment.text), segment.style)


def write(draw: Callable[[Console], None], out: TextIO, width: int | None) -> None:
    """Draws on a console, and writes that to ``out`` without blanks at the ends of lines, in ASCII where it must."""
    console = PlainConsole(file=out, width=width, highlight=False, emoji=False, markup=False)
    with console.capture() as captured:
        draw(console)
    text = captured.get()
    if not (getattr(out, "encoding", None) or "utf-8").lower().startswith("utf"):
        text = text.translate(ASCII).encode("ascii", "replace").decode("ascii")
    out.write("\n".join(line.rstrip(" ") for line in text.split("\n")))


def heading(text: str | None) -> RenderableType:
    """A line with a title in it, below an empty one; a bare line without."""
    rule = Rule(style="dim") if text is None else Rule(Text(text, style="bold"), align="left", style="dim")
    return Padding(rule, (1, 0, 0, 0))


def verdict_word(outcome: str) -> Text:
    """``not proved``, in the colour of it."""
    return Text(wording.outcome_words(outcome), style=STYLES.get(outcome, "bold red"))


def check_text(check: CheckEntry, said: set[str]) -> RenderableType:
    """The sentence, and where it isn't passed what it rests on; advice that was ``said`` isn't said again."""
    if check.outcome == "passed":
        return Text(check.sentence if check.limit is None else f"{check.name}: {check.sentence}")
    head = Text.assemble((check.name, "bold"), ": ", check.sentence)
    shown = [bullet("·", line) for line in check.evidence[:EVIDENCE_SHOWN]]
    if len(check.evidence) > EVIDENCE_SHOWN:
        shown.append(bullet("·", f"and {len(check.evidence) - EVIDENCE_SHOWN} more in verdicts.json"))
    if check.advice and check.advice not in said:
        said.add(check.advice)
        shown.append(bullet("→", check.advice, "bold"))
    return Group(head, *shown)


def bullet(sign: str, text: str, style: str = "") -> RenderableType:
    """A sign, and a text that's indented as a whole."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(sign, Text(text, style=style))
    return grid
