"""A call of the command as the shell makes it, without a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from swarmtest import cli


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

    code: int
    out: str
    err: str


Call = Callable[..., Ended]


def end(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> Ended:
    """Calls ``swarmtest`` with some words; it ends without a traceback, whatever they are."""
    monkeypatch.setattr(sys, "argv", ["swarmtest", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr()
    assert "Traceback" not in said.err + said.out
    assert isinstance(ended.value.code, int)
    return Ended(ended.value.code, said.out, said.err)
