"""Runs all benchmarks, or those that are named, and prints and keeps what they found."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import shutil
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

import bench
from bench import Figure, Place
from bench.tools.machine import description

OUT = Path(__file__).resolve().parent.parent / "build" / "bench"


def names() -> list[str]:
    """All benchmarks there are."""
    found = (module.name for module in pkgutil.iter_modules(bench.__path__) if not module.ispkg)
    return sorted(name for name in found if not name.startswith("_"))


def place_for(name: str) -> Place:
    """An empty folder, and two processors of those that this process may use."""
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cores = sorted(os.sched_getaffinity(0))
    return Place(folder, cores[0], cores[-1])


def run(name: str) -> list[Figure]:
    """What one benchmark found; that it broke is a finding, too."""
    try:
        return importlib.import_module(f"bench.{name}").measure(place_for(name))
    except Exception as error:
        return [Figure(name, f"not measured: {type(error).__name__}: {error}", met=False)]


def main(asked: list[str]) -> int:
    """Returns 0 when everything that was asked for was met."""
    known = names()
    if odd := [name for name in asked if name not in known]:
        print(f"no benchmark named {', '.join(odd)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    console, machine = Console(), description()
    console.print(escape(machine))
    found = {}
    for name in asked or known:
        with console.status(name):
            found[name] = run(name)
        console.print(_table(name, found[name]))
    figures = {name: [asdict(figure) for figure in some] for name, some in found.items()}
    written = OUT / "results.json"
    results = {"at": datetime.now(UTC).isoformat(), "machine": machine, "found": figures}
    written.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    console.print(f"written to {written}")
    return 0 if all(figure.met is not False for some in found.values() for figure in some) else 1


def _table(name: str, figures: list[Figure]) -> Table:
    words = (sys.modules[f"bench.{name}"].__doc__ or name).splitlines()[0] if f"bench.{name}" in sys.modules else name
    table = Table(title=f"{name}: {escape(words)}", title_justify="left", title_style="bold")
    for column in ("what", "measured", "asked for", ""):
        table.add_column(column, justify="right" if column == "measured" else "left")
    for figure in figures:
        verdict = {True: "[green]met[/]", False: "[red]missed[/]", None: ""}[figure.met]
        table.add_row(escape(figure.what), escape(figure.value), escape(figure.target), verdict)
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
