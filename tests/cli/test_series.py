"""A series from its first run to its last, with a runner that only makes folders."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from swarmtest import runner
from swarmtest.cli.ordering import Asked, sort_out
from swarmtest.cli.series import run_series
from swarmtest.errors import (
    EngineError,
    Interrupted,
    RunFolderError,
    SwarmtestError,
    TimedOut,
    TrafficError,
    UsageError,
)
from swarmtest.events import Event
from swarmtest.interrupts import Interrupts
from swarmtest.reports.series import Member, Series, read_series
from swarmtest.running.order import Order
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.services import read_stack
from swarmtest.store import RunFolder
from tests.judge.builder import Rollout
from tests.judge.test_judge import folder_of

STACK = "services: {web: {image: demo, ports: ['8080:80'], deploy: {replicas: 3}}}\n"

Ending = SwarmtestError | Callable[[Rollout], object] | None


@dataclass
class FakeRunner:
    """Makes a run's folder for each order, and ends it as it's told to.

    Attributes:
        endings: by scenario; an error breaks the run off once it has a folder, a function changes the run.
        refusals: by scenario; raised before there's a folder.
        during: called while a run goes on.
    """

    endings: dict[str, Ending] = field(default_factory=dict)
    refusals: dict[str, SwarmtestError] = field(default_factory=dict)
    during: Callable[[Order], object] = lambda _order: None
    orders: list[Order] = field(default_factory=list)

    def run(
        self, order: Order, interrupts: Interrupts, listen: Callable[[Event], None]
    ) -> tuple[RunFolder, SwarmtestError | None]:
        self.orders.append(order)
        if order.scenario_name in self.refusals:
            raise self.refusals[order.scenario_name]
        interrupts.hold()
        path = order.out / f"{len(self.orders)}-{order.scenario_name}"
        rollout, ending = Rollout(), self.endings.get(order.scenario_name)
        rollout.plan |= {"scenario": order.scenario_name, "run": path.name}
        if callable(ending):
            ending(rollout)
        path.mkdir(parents=True)
        listen(Event(1.0, "trace", {"version": 1, "run": path.name}))
        self.during(order)
        path.rmdir()
        folder_of(rollout, path)
        return RunFolder(path), ending if isinstance(ending, SwarmtestError) else None


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeRunner:
    made = FakeRunner()
    monkeypatch.setattr(runner, "run", made.run)
    return made


@dataclass
class Done:
    """What a series left."""

    code: int | None
    error: BaseException | None
    folder: Path | None

    @property
    def series(self) -> Series:
        assert self.folder is not None
        return read_series(self.folder)

    def ends(self) -> list[tuple[str, str | None, int | None]]:
        return [(member.scenario, member.ended, member.exit_code) for member in self.series.members]


Play = Callable[..., Done]


@pytest.fixture
def play(tmp_path: Path, fake: FakeRunner) -> Play:
    def played(scenario: str, repeat: int | None = None, stack: str = STACK) -> Done:
        file = tmp_path / "stack.yml"
        file.write_text(stack)
        parsed = read_stack(file)
        asked = Asked(parsed, read_brief(parsed), scenario, tmp_path / "runs", 42, None, False, None, repeat)
        code, error = None, None
        with Interrupts() as interrupts:
            try:
                code = run_series(asked, *sort_out(asked), interrupts)
            except (SwarmtestError, Interrupted) as raised:
                error = raised
        folders = sorted((tmp_path / "runs").glob("*")) if (tmp_path / "runs").exists() else []
        return Done(code, error, folders[0] if folders else None)

    return played


def test_each_scenario_is_a_run_of_its_own_in_one_folder(play: Play, fake: FakeRunner) -> None:
    done = play("baseline,rolling,kill")
    assert done.code == 0
    assert done.ends() == [(name, "finished", 0) for name in ("baseline", "rolling", "kill")]
    assert len({order.name for order in fake.orders}) == 3, "each has a deployment of its own"
    assert len({order.token for order in fake.orders}) == 3
    assert {order.out for order in fake.orders} == {done.folder}
    assert {order.seed for order in fake.orders} == {42}
    assert done.folder is not None
    assert "-series-stack-" in done.folder.name
    for member in done.series.members:
        for name in ("verdicts.json", "junit.xml", "report.md"):
            assert (done.folder / str(member.folder) / name).is_file()
    for name in ("series.json", "junit.xml", "report.md"):
        assert (done.folder / name).is_file()
    assert done.series.ended == "finished"


def test_repeats_go_round(play: Play, fake: FakeRunner) -> None:
    done = play("rolling,kill", repeat=2)
    assert [order.scenario_name for order in fake.orders] == ["rolling", "kill", "rolling", "kill"]
    assert [(member.scenario, member.repeat) for member in done.series.members] == [
        ("rolling", 1),
        ("kill", 1),
        ("rolling", 2),
        ("kill", 2),
    ]
    assert [spread.runs for spread in done.series.spread] == [2, 2]
    assert len({str(order.plan) for order in fake.orders if order.scenario_name == "kill"}) == 1, "the same instances"


def test_a_group_names_its_folder_and_has_a_number_of_its_own(play: Play, fake: FakeRunner) -> None:
    fake.refusals["withdraw-then-term"] = EngineError("no engine answers")  # so that not each of them is run
    done = play("stop-modes")
    assert 0 < sum(member.ended is not None for member in done.series.members) < 4
    assert len(done.series.members) == 20
    assert done.folder is not None
    assert "-stop-modes-stack-" in done.folder.name


def test_all_has_the_checklist_in_its_verdict_and_says_what_can_not_be_run(play: Play) -> None:
    done = play("all")
    assert done.code == 3
    assert done.series.checklist_weighs
    assert {each.scenario for each in done.series.not_run} >= {"release", "dependency"}
    assert "--release" in next(each.reason for each in done.series.not_run if each.scenario == "release")
    unproved = {line.number for line in done.series.checklist if line.outcome == "not_proved"}
    assert {5, 6} <= unproved


def lossy(rollout: Rollout) -> None:
    rollout.unanswered("lost", 3.0, 3.5, rollout.old[0])


def test_a_failed_run_fails_the_series_and_the_others_are_run(play: Play, fake: FakeRunner) -> None:
    fake.endings["rolling"] = lossy
    done = play("rolling,baseline")
    assert done.code == 1
    assert done.ends() == [("rolling", "finished", 1), ("baseline", "finished", 0)]


@pytest.mark.parametrize("error", [TrafficError("it can't count"), TimedOut("not whole"), RunFolderError("full")])
def test_what_breaks_one_run_is_written_down_and_the_next_begins(
    play: Play, fake: FakeRunner, error: SwarmtestError
) -> None:
    fake.endings["rolling"] = error
    done = play("baseline,rolling,kill")
    assert done.error is None
    assert done.code == error.exit_code
    assert done.ends()[1] == ("rolling", "broke", error.exit_code)
    assert done.ends()[2] == ("kill", "finished", 0)
    assert f"rolling broke off: {error}" in done.series.notes


def test_a_lost_engine_ends_the_series_and_what_was_not_run_is_told(play: Play, fake: FakeRunner) -> None:
    fake.endings["rolling"] = EngineError("the engine went away")
    done = play("baseline,rolling,kill,freeze")
    assert isinstance(done.error, EngineError)
    assert [order.scenario_name for order in fake.orders] == ["baseline", "rolling"]
    assert done.series.ended == "broke"
    assert done.series.exit_code == 4
    assert "not run, since the series broke off: kill, freeze" in done.series.notes


def test_an_engine_that_is_lost_between_two_runs_ends_the_series(play: Play, fake: FakeRunner) -> None:
    fake.refusals["rolling"] = EngineError("no engine answers")
    done = play("baseline,rolling,kill")
    assert isinstance(done.error, EngineError)
    assert done.ends() == [("baseline", "finished", 0), ("rolling", None, None), ("kill", None, None)]
    assert "the series broke off: no engine answers" in done.series.notes


def test_a_later_run_that_is_refused_is_written_down_and_the_next_begins(play: Play, fake: FakeRunner) -> None:
    fake.refusals["rolling"] = UsageError("a port is taken")
    done = play("baseline,rolling,kill")
    assert done.code == 2
    assert done.ends() == [("baseline", "finished", 0), ("rolling", "refused", 2), ("kill", "finished", 0)]


@pytest.mark.parametrize("error", [UsageError("no swarm"), EngineError("no engine")])
def test_where_the_first_run_is_refused_nothing_is_left_behind(
    play: Play, fake: FakeRunner, error: SwarmtestError
) -> None:
    fake.refusals["baseline"] = error
    done = play("baseline,rolling")
    assert done.error is error
    assert done.folder is None
    assert len(fake.orders) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_series_after_the_run_is_judged(
    play: Play, fake: FakeRunner, number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(order: Order) -> None:
        if order.scenario_name == "rolling":
            os.kill(os.getpid(), number)

    fake.during = interrupted
    done = play("baseline,rolling,kill")
    assert isinstance(done.error, Interrupted)
    assert done.ends() == [("baseline", "finished", 0), ("rolling", "interrupted", 130), ("kill", None, None)]
    assert done.series.exit_code == 130
    assert done.series.members[1].losses["sent"] > 0, "judged as far as it got"
    assert done.folder is not None
    assert (done.folder / "report.md").is_file()
    assert "exit code 130" in capsys.readouterr().out


def test_while_a_run_goes_on_the_file_says_which_and_what_is_to_come(play: Play, fake: FakeRunner) -> None:
    seen: list[Series] = []
    fake.during = lambda order: seen.append(read_series(order.out))
    play("baseline,rolling")
    first, second = seen
    assert [member.folder for member in first.members] == ["1-baseline", None]
    assert [member.ended for member in first.members] == [None, None]
    assert [member.outcome for member in second.members] == ["passed", None]
    assert (second.ended, second.outcome, second.exit_code) == (None, "not_proved", 3)


def test_progress_is_told_on_standard_error_and_the_report_on_standard_output(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play("baseline,rolling", repeat=2)
    said = capsys.readouterr()
    assert "run 3 of 4: baseline (2 of 2)\n" in said.err
    assert "run 4 of 4: rolling (2 of 2): passed, 0 lost of " in said.err
    assert said.out.startswith("swarmtest series baseline,rolling on")


def test_a_plan_that_is_drawn_is_printed_before_anything_happens(
    play: Play, fake: FakeRunner, capsys: pytest.CaptureFixture[str]
) -> None:
    before: list[str] = []
    fake.during = lambda _order: before.append(capsys.readouterr().err)
    play("chaos,rolling")
    assert "plan of chaos on " in before[0]
    assert "plan of rolling" not in before[1]


def test_the_series_is_judged_again_to_the_same_bytes(play: Play, fake: FakeRunner) -> None:
    from click.testing import CliRunner

    from swarmtest.cli import commands

    fake.endings["rolling"] = TrafficError("it can't count")
    done = play("baseline,rolling")
    assert done.folder is not None
    files = [done.folder / name for name in ("series.json", "junit.xml", "report.md")]
    before = [file.read_bytes() for file in files]
    for file in files[1:]:
        file.unlink()
    for document in done.folder.glob("*/verdicts.json"):
        document.unlink()
    CliRunner().invoke(commands, ["judge", str(done.folder)])
    assert [file.read_bytes() for file in files] == before
    assert len([*done.folder.glob("*/verdicts.json")]) == 2


def test_a_member_keeps_what_only_the_series_knows() -> None:
    bare: dict[str, Any] = json.loads('{"scenario": "kill"}')
    assert Member(**bare) == Member("kill", 1)
