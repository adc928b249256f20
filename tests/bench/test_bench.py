"""What's measured isn't tested here, only that every benchmark can be found, named and told."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from bench import Figure, Place, at_least, at_most
from bench.__main__ import main, names, run

DOCS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"


@pytest.mark.parametrize("name", names())
def test_a_benchmark_says_in_a_line_what_it_measures_and_is_in_the_docs(name: str) -> None:
    module = importlib.import_module(f"bench.{name}")
    assert (module.__doc__ or "").splitlines()[0].endswith(".")
    assert callable(module.measure)
    assert f"`{name}`" in DOCS.read_text()


def test_figures_are_held_to_what_is_asked_for() -> None:
    assert at_least("a", 3.0, 3.0) == Figure("a", "3.00 ×", "at least 3 ×", met=True)
    assert at_least("a", 2.9, 3.0).met is False
    assert at_most("a", 5.0, 5.0, "ms").met is True
    assert at_most("a", 5.1, 5.0, "ms").met is False


def test_a_benchmark_that_breaks_is_a_finding_and_no_crash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def breaks(place: Place) -> list[Figure]:
        raise RuntimeError("no server")

    monkeypatch.setattr("bench.__main__.OUT", tmp_path)
    monkeypatch.setattr("bench.schedule.measure", breaks)
    (figure,) = run("schedule")
    assert (figure.met, figure.value) == (False, "not measured: RuntimeError: no server")


def test_a_name_that_is_none_is_refused_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing"]) == 2
    assert "no benchmark named nothing; there are" in capsys.readouterr().err
