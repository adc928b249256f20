"""A call of ``swarmtest lint`` in a folder of its own, with the rules of ``stand_ins``."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from swarmtest import cli
from swarmtest.lint import linting
from tests.lint import stand_ins


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    code: int
    out: str
    err: str


Call = Callable[..., Ended]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(linting, "all_rules", lambda: stand_ins.RULES)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TAG"):
        monkeypatch.delenv(name, raising=False)

    def called(*words: str, stdin: str | bytes = "") -> Ended:
        monkeypatch.setattr(sys, "argv", ["swarmtest", "lint", *words])
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        assert "Traceback" not in said.err + said.out
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, said.out, said.err)

    return called
