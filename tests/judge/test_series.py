"""What the runs of a series come to together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from swarmtest.errors import RunFolderError
from swarmtest.judge.series import judge_series, sum_up
from swarmtest.reports import CheckEntry, Document
from swarmtest.reports.series import Member, NotRun, Series, read_series, write_series
from tests.judge.builder import Rollout
from tests.judge.test_judge import folder_of
from tests.reports.series.samples import ANSWERED, LOST, UNSEEN, mixed, ran, repeats, run_of, series_of


def summed(*documents: Document, **changes: Any) -> Series:
    return series_of(documents, [ran(document) for document in documents], **changes)[0]


def test_a_series_of_passed_runs_passes() -> None:
    series = summed(run_of("baseline", ANSWERED), run_of("rolling", ANSWERED))
    assert (series.outcome, series.exit_code, series.notes) == ("passed", 0, [])


@pytest.mark.parametrize(
    ("checks", "outcome", "code"),
    [([ANSWERED, UNSEEN], "not_proved", 3), ([UNSEEN, LOST], "failed", 1), ([LOST, ANSWERED], "failed", 1)],
)
def test_failed_outweighs_not_proved_outweighs_passed(checks: list[CheckEntry], outcome: str, code: int) -> None:
    series = summed(*(run_of("rolling", check) for check in checks))
    assert (series.outcome, series.exit_code) == (outcome, code)


@pytest.mark.parametrize(
    ("member", "outcome", "code"),
    [
        (Member("kill", ended="refused", error="no", exit_code=2), "not_proved", 2),
        (Member("kill", ended="broke", error="no", exit_code=4), "not_proved", 4),
        (Member("kill", ended="interrupted", exit_code=130), "not_proved", 130),
        (Member("kill"), "not_proved", 3),
    ],
)
def test_a_run_without_an_end_of_its_own_is_never_a_pass(member: Member, outcome: str, code: int) -> None:
    good = run_of("rolling", ANSWERED)
    series, _ = series_of([good, None], [ran(good), member])
    assert (series.outcome, series.exit_code) == (outcome, code)


def test_a_run_that_was_judged_and_yet_broke_off_keeps_its_exit_code_and_its_failures() -> None:
    bad = run_of("rolling", LOST, cut=11)
    series, _ = series_of([bad], [Member("rolling", folder="x", ended="broke", error="lost the engine", exit_code=4)])
    assert (series.outcome, series.exit_code) == ("failed", 4)
    assert series.members[0].exit_code == 4
    assert series.members[0].lost == 11
    good = run_of("rolling", ANSWERED)
    series, _ = series_of([good], [Member("rolling", folder="x", ended="interrupted", exit_code=130)])
    assert (series.outcome, series.exit_code) == ("not_proved", 130)


def test_the_weightiest_code_is_that_of_the_series() -> None:
    series, _ = mixed()
    assert {member.exit_code for member in series.members} == {0, 1, 3, 2, 4, 130, None}
    assert series.exit_code == 130
    assert msgspec.structs.replace(series, ended="finished").exit_code == 130


def test_what_was_not_run_and_what_went_wrong_is_told() -> None:
    series, _ = mixed()
    assert series.notes[0] == "not run, since the series was interrupted: freeze"
    assert "drain was refused: drain needs a second node" in series.notes
    assert "scale-in broke off: api isn't whole after 120 s" in series.notes
    assert series.notes[-1].startswith("release can't be run on this stack: ")


def test_a_series_that_goes_on_says_nothing_of_what_is_to_come() -> None:
    good = run_of("rolling", ANSWERED)
    series, _ = series_of([good, None], [ran(good), Member("kill")], ended=None)
    assert (series.outcome, series.exit_code, series.notes) == ("not_proved", 3, [])


def test_a_scenario_that_was_asked_for_by_name_and_can_not_be_run_is_not_proved() -> None:
    missing = [NotRun("release", "it needs another version")]
    series = summed(run_of("rolling", ANSWERED), not_run=missing)
    assert (series.outcome, series.exit_code) == ("not_proved", 3)


def test_the_checklist_weighs_only_where_it_is_part_of_what_was_asked() -> None:
    rolling = run_of("rolling", ANSWERED)
    assert summed(rolling).outcome == "passed"
    assert summed(rolling, checklist_weighs=True).outcome == "not_proved"
    late = CheckEntry("announced_before_the_signal", "failed", "No.")
    assert summed(run_of("rolling", late), checklist_weighs=True).exit_code == 1


def test_what_passed_until_a_run_broke_off_says_nothing_to_the_checklist() -> None:
    ids = CheckEntry("ids_on_every_record", "passed", "All.")
    runs = [run_of("baseline", ids), run_of("rolling", ids)]
    whole, _ = series_of(runs, [ran(document) for document in runs])
    assert whole.checklist[7].outcome == "passed"
    broken, _ = series_of(runs, [ran(runs[0]), msgspec.structs.replace(ran(runs[1]), ended="broke", exit_code=4)])
    assert broken.checklist[7].outcome == "not_proved"


def test_the_spread_has_the_least_the_median_and_the_most_of_each_figure() -> None:
    series, _ = repeats()
    rolling, burst = series.spread
    assert (rolling.scenario, rolling.runs, rolling.passed) == ("rolling", 3, 3)
    assert (burst.scenario, burst.runs, burst.passed) == ("burst", 3, 1)
    figures = {each.figure: (each.least, each.median, each.most) for each in burst.figures}
    assert figures["sent"] == (1201, 1204, 1207)
    assert figures["cut"] == (0, 11, 22), "a run without a loss of a class counts as 0"
    assert figures["p50_ms (short)"] == (161.0, 164.0, 167.0)
    assert figures["seconds"] == (31.0, 34.0, 37.0)
    assert "gateway" not in figures, "a class that never occurred is no figure"


def test_repeats_prove_more_than_one_run() -> None:
    series, _ = repeats()
    rolling, burst = (spread.proof for spread in series.spread)
    assert (rolling["sent"], rolling["lost"], rolling["stops"]) == (3609, 0, 9)
    assert rolling["stop_upper_bound"] == pytest.approx(1 - 0.05 ** (1 / 9))
    assert (burst["lost"], burst["stops_with_loss"]) == (33, 2)
    alone = summed(run_of("rolling", ANSWERED)).spread[0].proof["stop_upper_bound"]
    assert alone is not None
    assert rolling["stop_upper_bound"] is not None
    assert alone > rolling["stop_upper_bound"]


def test_a_figure_that_was_seen_in_no_run_has_no_spread() -> None:
    blind = msgspec.structs.replace(
        run_of("rolling", ANSWERED), figures=msgspec.structs.replace(run_of("x").figures, lowest_ready=None)
    )
    assert "lowest_ready" not in {each.figure for each in summed(blind).spread[0].figures}


def test_a_run_that_broke_off_is_left_out_of_the_spread() -> None:
    runs = [run_of("rolling", ANSWERED), run_of("rolling", ANSWERED, number=9)]
    series, _ = series_of(runs, [ran(runs[0]), Member("rolling", 2, folder="x", ended="interrupted", exit_code=130)])
    assert series.spread[0].runs == 1


# ---------------------------------------------------------------- from folders alone


def made(path: Path, *scenarios: str) -> Path:
    """A series' folder with a run of each scenario in it."""
    for scenario in scenarios:
        rollout = Rollout()
        rollout.plan["scenario"] = scenario
        folder_of(rollout, path / f"run-{scenario}")
    members = [Member(name, folder=f"run-{name}", ended="finished") for name in scenarios]
    bare = Series(1, path.name, ",".join(scenarios), "stacks/api.yml", 42, 1, members, ended="finished")
    write_series(bare, path)
    return path


def test_a_series_is_judged_from_its_folders_and_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = made(tmp_path / "series", "rolling", "burst")
    series, documents = judge_series(folder)
    assert [document.scenario for document in documents if document] == ["rolling", "burst"]
    assert series.exit_code == 0
    assert [member.outcome for member in series.members] == ["passed", "passed"]
    write_series(series, folder)
    before = (folder / "series.json").read_bytes()
    again, _ = judge_series(folder)
    write_series(again, folder)
    assert (folder / "series.json").read_bytes() == before
    assert read_series(folder) == again
    assert not list(folder.glob("*.part"))


def test_a_member_that_swarmtest_was_killed_in_is_judged_and_never_a_pass(tmp_path: Path) -> None:
    folder = made(tmp_path / "series", "rolling")
    killed = msgspec.structs.replace(read_series(folder).members[0], ended=None)
    write_series(msgspec.structs.replace(read_series(folder), members=[killed], ended=None), folder)
    series, documents = judge_series(folder)
    assert documents[0] is not None
    assert (series.outcome, series.exit_code) == ("not_proved", 3)


def test_a_member_whose_folder_is_gone_is_an_error_where_it_had_come_to_its_end(tmp_path: Path) -> None:
    folder = made(tmp_path / "series", "rolling")
    (folder / "run-rolling" / "plan.json").unlink()
    with pytest.raises(RunFolderError, match="a run of the series can't be judged"):
        judge_series(folder)
    broken = msgspec.structs.replace(read_series(folder).members[0], ended="broke", exit_code=4)
    write_series(msgspec.structs.replace(read_series(folder), members=[broken]), folder)
    series, documents = judge_series(folder)
    assert documents == [None]
    assert series.exit_code == 4


@pytest.mark.parametrize(
    ("text", "said"), [("{", "not a series"), ("{}", "not a series"), (None, "can't be read"), ("later", "version 99")]
)
def test_a_file_that_is_no_series_is_told(tmp_path: Path, text: str | None, said: str) -> None:
    folder = made(tmp_path / "series", "rolling")
    if text is None:
        (folder / "series.json").unlink()
    elif text == "later":
        later = json.loads((folder / "series.json").read_text()) | {"version": 99, "of_a_later_version": 1}
        (folder / "series.json").write_text(json.dumps(later))
    else:
        (folder / "series.json").write_text(text)
    with pytest.raises(RunFolderError, match=said):
        judge_series(folder)


def test_a_field_of_a_later_version_is_skipped(tmp_path: Path) -> None:
    folder = made(tmp_path / "series", "rolling")
    more = json.loads((folder / "series.json").read_text()) | {"of_a_later_version": 1}
    (folder / "series.json").write_text(json.dumps(more))
    assert judge_series(folder)[0].outcome == "passed"


def test_summing_up_twice_changes_nothing() -> None:
    for series, documents in (mixed(), repeats()):
        assert sum_up(series, documents) == series
