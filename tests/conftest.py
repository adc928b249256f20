"""Which tests may run beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest

SOCKETS = ("traffic", "stacks", "engine", "running", "test_cli.py", "test_watch.py", "test_interrupts.py")
"""Tests that open ports: on one worker, since a port that one test lets go of is the next one's, and a
client that's still at it would knock at a stranger's door."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).parts[0] in SOCKETS and config.pluginmanager.hasplugin("xdist"):
            item.add_marker(pytest.mark.xdist_group("sockets"))
