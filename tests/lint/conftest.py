"""A call of ``swarmtest lint`` in a folder of its own, with the rules of ``stand_ins``."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from swarmtest.lint import linting
from tests.calling import Call, Ended, end
from tests.lint import stand_ins


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(linting, "all_rules", lambda: stand_ins.RULES)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TAG"):
        monkeypatch.delenv(name, raising=False)

    def called(*words: str, stdin: str | bytes = "") -> Ended:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return end(monkeypatch, capsys, "lint", *words)

    return called
