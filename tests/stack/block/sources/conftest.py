"""A stack file beside the file that its traffic comes from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from swarmtest.stack.block.brief import Brief, Overrides, read_brief
from swarmtest.stack.services import read_stack

ReadBrief = Callable[..., Brief]


@pytest.fixture
def read(tmp_path: Path) -> ReadBrief:
    """Reads a stack whose block has this ``traffic``."""

    def of(traffic: str, rate: float | None = None) -> Brief:
        file = tmp_path / "stack.yml"
        services = "services: {web: {image: demo, ports: ['8080:80']}}\n"
        file.write_text(f"{services}x-swarmtest:\n  traffic: {traffic}\n")
        return read_brief(read_stack(file, {}), Overrides(rate=rate))

    return of
