"""What there is, a line each: read from the first lines of the files, so that nothing is listed twice."""

from __future__ import annotations

import importlib
import pkgutil

from swarmtest import checks
from swarmtest.scenario import load_scenario, scenario_names


def scenario_lines() -> list[tuple[str, str]]:
    """Each scenario's name and story."""
    return [(name, load_scenario(name).story) for name in scenario_names()]


def check_lines() -> list[tuple[str, str]]:
    """Each check's name and the first sentence of its module's docstring."""
    lines = []
    for found in sorted(pkgutil.iter_modules(checks.__path__), key=lambda item: item.name):
        module = importlib.import_module(f"{checks.__name__}.{found.name}")
        if hasattr(module, "check"):
            lines.append((found.name, (module.__doc__ or "").strip().splitlines()[0]))
    return lines
