"""How a stack file says when requests arrive, and what it's told where it can't be meant so."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.stack.block.arrivals import Shape, Stage
from swarmtest.stack.block.brief import Overrides, read_brief
from swarmtest.stack.block.kinds import Kind
from swarmtest.stack.services import read_stack


def read(tmp_path: Path, traffic: str, rate: float | None = None) -> Kind:
    file = tmp_path / "stack.yml"
    services = 'version: "3.8"\nservices:\n  api: {image: api, ports: ["80:80"]}\n'
    file.write_text(f"x-swarmtest:\n  traffic: {traffic}\n{services}")
    return read_brief(read_stack(file, {}), Overrides(rate=rate)).kinds[0]


@pytest.mark.parametrize(
    ("traffic", "rate", "shape"),
    [
        ("{}", 20.0, None),
        ("{rate: 90/m}", 1.5, None),
        ("{rate: {from: 10/s, to: 100/s, over: 30s}}", 100.0, Shape((Stage(30.0, 10.0, 100.0),))),
        ("{rate: {from: 100/s, to: 600/m, over: 1m}}", 100.0, Shape((Stage(60.0, 100.0, 10.0),))),
        (
            "{rate: {steady: 20/s, burst: 200/s, after: 10s, for: 5s}}",
            200.0,
            Shape((Stage(10.0, 20.0, 20.0), Stage(5.0, 200.0, 200.0), Stage(0.0, 20.0, 20.0))),
        ),
        (
            "{rate: {steady: 20/s, burst: 200/s, after: 10s, for: 5s, every: 30s}}",
            200.0,
            Shape((Stage(10.0, 20.0, 20.0), Stage(5.0, 200.0, 200.0), Stage(15.0, 20.0, 20.0)), repeats=True),
        ),
    ],
)
def test_a_rate_stays_or_changes_as_the_file_says(
    tmp_path: Path, traffic: str, rate: float, shape: Shape | None
) -> None:
    kind = read(tmp_path, traffic)
    assert (kind.rate, kind.shape, kind.arrivals) == (rate, shape, "even")


def test_arrivals_are_even_or_by_chance(tmp_path: Path) -> None:
    assert read(tmp_path, "{arrivals: poisson}").arrivals == "poisson"


def test_a_rate_of_the_command_line_scales_every_value(tmp_path: Path) -> None:
    kind = read(tmp_path, "{rate: {from: 10/s, to: 100/s, over: 30s}}", rate=50.0)
    assert (kind.rate, kind.shape) == (50.0, Shape((Stage(30.0, 5.0, 50.0),)))


@pytest.mark.parametrize(
    ("traffic", "problem"),
    [
        ("{rate: {from: 10/s, to: 100/s}}", "over is missing beside from, to; expected a ramp"),
        ("{rate: {from: 10/s, to: 100/s, over: 0s}}", "expected a duration above zero"),
        ("{rate: {from: 0/s, to: 100/s, over: 5s}}", "expected a rate above zero"),
        ("{rate: {from: 10/s, to: 100/s, over: 5s, for: 5s}}", "it doesn't go with the other keys"),
        ("{rate: {steady: 10/s, burst: 20/s, for: 5s}}", "after is missing"),
        ("{rate: {}}", "steady is missing beside nothing"),
        ("{rate: {till: 5s}}", "unknown key"),
        ("{rate: {steady: 10/s, burst: 20/s, after: 5s, for: 5s, every: 8s}}", "each round takes 10 s"),
        ("{rate: {from: 10/s, to: 100/s, over: 5s}, count: 3}", "goes with a rate that stays"),
        ("{rate: quick}", "expected a rate above zero"),
        ("{arrivals: often}", "expected one of even, poisson"),
        ("{kinds: {a: {}, b: {protocol: websocket, rate: {from: 1/s, to: 2/s, over: 3s}}}}", "at a rate that stays"),
    ],
)
def test_what_makes_no_schedule_is_refused_with_its_line(tmp_path: Path, traffic: str, problem: str) -> None:
    with pytest.raises(StackError, match=problem) as caught:
        read(tmp_path, traffic)
    assert "stack.yml:2" in str(caught.value)
