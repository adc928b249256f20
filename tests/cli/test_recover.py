"""The verb: what it prints, and what it exits with."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from swarmtest import cli
from swarmtest.events import TraceWriter
from tests.recovery.conftest import STACK, Killed, _no_engine_but_ours, client, connect, engine, freeze, killed

__all__ = ["_no_engine_but_ours", "client", "connect", "engine", "killed"]

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    def called(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["swarmtest", "recover", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err

    return called


def test_all_that_was_killed_is_recovered_and_a_second_time_there_is_nothing(killed: Killed, call: Call) -> None:
    killed.deploy(killed.folder(freeze(1)))
    code, out, _ = call("--out", str(killed.out))
    assert (code, f"  removed the stack {STACK}: " in out) == (0, True)
    assert call("--out", str(killed.out)) == (0, f"nothing to recover in {killed.out} or on the engine\n", "")


def test_what_could_not_be_healed_is_named_and_ends_with_4(killed: Killed, call: Call) -> None:
    folder = killed.folder(freeze(1), engine={"identity": "X", "cluster": "Y"})
    killed.engine.before = lambda _verb, path: (200, {"ID": "ENGINE", "Swarm": {}}) if path == "/info" else None
    code, out, _ = call(str(folder.path))
    assert code == 4
    assert "couldn't be healed: it ran on another engine" in out


@pytest.mark.parametrize("words", [("--stack", "nix"), ("--stack", "nix", "--keep"), ("--stack", "nix", "."), ("nix",)])
def test_wrong_usage_ends_with_2(killed: Killed, call: Call, words: tuple[str, ...]) -> None:
    code, out, err = call(*words)
    assert (code, out) == (2, "")
    assert err.startswith("swarmtest: error: ")


def test_a_run_that_goes_on_is_refused_by_its_folder(killed: Killed, call: Call) -> None:
    folder = killed.folder(freeze(1))
    with TraceWriter(folder.events):
        code, out, err = call(str(folder.path))
    assert (code, out) == (2, "")
    assert "its run goes on, and isn't touched" in err


def test_without_an_engine_nobody_can_tell(killed: Killed, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    code, out, err = call("--out", str(killed.out))
    assert (code, out) == (4, "")
    assert "no engine answers" in err
