"""One self-contained page: template, style, scripts and data in one file that needs nothing else.

All text is escaped by the template, whatever an app or a path may hold. Should that ever fail, the page's own
policy still lets no script run but the ones that were put in here, by their hash, and lets nothing be fetched.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from swarmtest.reports.wording import visible

ASSETS = Path(__file__).parent / "assets"
CHARTS = "uplot/uPlot.iife.min.js"
SCRIPTS = ("view.js", "shapes.js", "rows.js", "lanes.js", "pointing.js", "plots.js", "page.js")


_TURNED = re.compile(r"(?<!\\)((?:\\\\)*)\\u(?:061c|200[ef]|202[a-e]|206[6-9])")
"""Characters in JSON that turn the text around them, where their backslash is none that's meant itself."""


def fill(template: str, values: Mapping[str, Any], *, drawn: Mapping[str, Any] | None = None) -> str:
    """The page as text.

    Arguments:
        template: name of a file in the folder of the assets.
        drawn: what the page's scripts draw; None for a page that has only the theme's switch.
    """
    script = _script(SCRIPTS if drawn is not None else ("page.js",))
    charts = _read(CHARTS).strip() if drawn is not None else ""
    scripts = [text for text in (charts, script) if text]
    style = (_read("uplot/uPlot.min.css") if drawn is not None else "") + _read("style.css") + _dark()
    page = (
        _environment()
        .get_template(template)
        .render(
            **values,
            policy="; ".join(
                (
                    "default-src 'none'",
                    "style-src 'unsafe-inline'",
                    "img-src data:",
                    "script-src " + " ".join(f"'sha256-{_hash(text)}'" for text in scripts),
                )
            ),
            style=Markup(style),  # noqa: S704 - our own files
            scripts=[Markup(text) for text in scripts],  # noqa: S704
            data=None if drawn is None else as_data(drawn),
            charts_licence=_read("uplot/LICENSE") if drawn is not None else "",
        )
    )
    return page if page.endswith("\n") else page + "\n"


@cache
def _environment() -> Environment:
    """One for all pages of a series, so that a template is taken apart once."""
    return Environment(
        loader=FileSystemLoader(ASSETS), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, finalize=lambda value: visible(value) if type(value) is str else value,
    )  # fmt: skip


def as_data(value: Mapping[str, Any]) -> Markup:
    """JSON that can stand inside a script element: no character in it can end that element."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    text = _TURNED.sub(r"\1\\ufffd", text)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704


def _script(names: tuple[str, ...]) -> str:
    return "\n".join(['(function () {\n"use strict";', *(_read(name) for name in names), "})();"])


def _dark() -> str:
    """The dark colours, by the reader's system and by the switch, which wins."""
    colours = _read("dark.css")
    by_system = f"@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{\n{colours}}} }}\n"
    return f"{by_system}@media screen {{ :root[data-theme=dark] {{\n{colours}}} }}\n"


def _read(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode("utf-8")).digest()).decode("ascii")
