"""The ten lines: passed by the named checks alone, and never because nobody looked."""

from __future__ import annotations

import importlib.util

import msgspec
import pytest

from swarmtest.catalogue import load_scenario, scenario_names
from swarmtest.checklist import LINES, judge_checklist
from swarmtest.reports import CheckEntry, Document
from swarmtest.reports.series import ChecklistLine
from tests.judge.builder import Rollout

GUARDED = {"guards": {"stop_at": {"share": 0.05, "seconds": 5.0}}}


def run(scenario: str, outcome: str = "passed", settings: dict[str, object] = GUARDED, **checks: str) -> Document:
    entries = [CheckEntry(name, result, f"{name} is {result}.") for name, result in checks.items()]
    return Document(
        version=1,
        run=scenario,
        outcome=outcome,
        exit_code=0,
        scenario=scenario,
        stack="s.yml",
        engine={},
        settings=settings,
        checks=entries,
        losses={},
        instances=[],
    )


def line(number: int, *documents: Document, **not_run: str) -> ChecklistLine:
    return judge_checklist(documents, not_run)[number - 1]


def test_there_are_ten_lines_in_order_and_each_rests_on_something() -> None:
    assert [each.number for each in LINES] == list(range(1, 11))
    for each in LINES:
        assert each.scenarios, each.number


@pytest.mark.parametrize("each", LINES, ids=lambda each: str(each.number))
def test_each_line_names_checks_and_scenarios_that_there_are(each: object) -> None:
    assert {*each.scenarios} <= {*scenario_names()}  # type: ignore[attr-defined]
    for name in each.checks:  # type: ignore[attr-defined]
        assert importlib.util.find_spec(f"swarmtest.checks.{name}") is not None, name


def test_each_scenario_of_a_line_has_the_checks_that_the_line_rests_on() -> None:
    """Else the line could never pass."""
    for each in LINES:
        for scenario in each.scenarios:
            there = {*load_scenario(scenario).checks}
            assert {*each.checks} & there if each.spread else {*each.checks} <= there, (each.number, scenario)


def test_a_rollback_is_held_to_all_that_a_rollout_is() -> None:
    assert {*load_scenario("rolling").checks} <= {*load_scenario("rollback").checks}


def test_the_guard_is_found_where_a_run_writes_it_down() -> None:
    rollout = Rollout()
    rollout.plan["guards"] = {"stop_at": {"share": 0.05, "seconds": 5.0}, "floor": 1, "most_hurts": 50}
    assert rollout.document().settings["guards"]["stop_at"] == {"share": 0.05, "seconds": 5.0}


def test_nothing_is_proved_where_nothing_was_run() -> None:
    assert {each.outcome for each in judge_checklist([], {})} == {"not_proved"}
    assert line(1).sentence == "rolling wasn't run; and 1 more."
    assert line(1).evidence == ["rolling wasn't run", "scale-in wasn't run"]


def test_a_line_passes_when_its_check_passed_in_each_of_its_scenarios() -> None:
    found = line(
        1, run("rolling", announced_before_the_signal="passed"), run("scale-in", announced_before_the_signal="passed")
    )
    assert found.outcome == "passed"
    assert found.sentence == "announced_before_the_signal passed in rolling and scale-in."


def test_a_line_fails_when_its_check_failed_in_one_run_of_several() -> None:
    runs = [run("rolling", announced_before_the_signal=outcome) for outcome in ("passed", "failed", "passed")]
    found = line(1, *runs, run("scale-in", announced_before_the_signal="passed"))
    assert found.outcome == "failed"
    assert found.sentence.startswith("announced_before_the_signal failed in rolling: ")


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ([], "scale-in wasn't run."),
        ([run("scale-in", announced_before_the_signal="not_proved")], "is not proved in scale-in"),
        ([run("scale-in")], "isn't judged in scale-in"),
    ],
)
def test_a_line_of_which_a_part_is_missing_is_not_proved(second: list[Document], said: str) -> None:
    found = line(1, run("rolling", announced_before_the_signal="passed"), *second)
    assert found.outcome == "not_proved"
    assert said in found.sentence


def test_a_failure_outweighs_what_is_missing() -> None:
    assert line(1, run("rolling", announced_before_the_signal="failed")).outcome == "failed"


def test_a_scenario_that_the_stack_can_not_be_tried_with_is_told_with_the_reason() -> None:
    found = line(9, rollback="it needs another version")
    assert found.outcome == "not_proved"
    assert found.sentence == "rollback wasn't run: it needs another version."


def test_both_checks_of_a_line_have_to_pass() -> None:
    checks = {"grace_exceeds_longest_request": "passed", "exited_within_grace": "passed"}
    assert line(3, run("rolling", **checks), run("slow-shutdown", **checks)).outcome == "passed"
    late = checks | {"exited_within_grace": "failed"}
    assert line(3, run("rolling", **checks), run("slow-shutdown", **late)).outcome == "failed"


def test_http2_and_streams_are_both_asked_for_and_the_key_that_is_missing_is_named() -> None:
    streams = {"streams_closed_in_order": "passed", "clients_reconnected_in_time": "passed"}
    assert line(5, run("rolling", **streams, http2_told_to_go_away="passed")).outcome == "passed"
    assert line(5, run("rolling", **streams | {"streams_closed_in_order": "failed"})).outcome == "failed"
    without = line(5, run("rolling", **streams))
    assert without.outcome == "not_proved"
    assert without.sentence == (
        "http2_told_to_go_away isn't judged in rolling or reload: no kind of traffic goes that way"
        " (x-swarmtest traffic: protocol: h2, websocket or sse), or the front door that ends HTTP/2 isn't reloaded"
        " (front_door: reload)."
    )


def test_behind_a_proxy_http2_is_judged_by_the_proxys_reload() -> None:
    streams = {"streams_closed_in_order": "passed", "clients_reconnected_in_time": "passed"}
    rolling = run("rolling", **streams)
    assert line(5, rolling, run("reload", http2_told_to_go_away="passed")).outcome == "passed"
    assert line(5, rolling, run("reload", http2_told_to_go_away="failed")).outcome == "failed"
    unseen = line(5, rolling, run("reload", http2_told_to_go_away="not_proved"))
    assert unseen.outcome == "not_proved"
    assert "is not proved in reload" in unseen.sentence


def test_retries_are_tried_where_something_is_sure_to_be_lost() -> None:
    checks = {"retries_stayed_within_budget": "passed", "handled_each_request_once": "passed"}
    assert line(6, run("kill", **checks)).outcome == "passed"
    assert line(6, run("kill", **checks | {"handled_each_request_once": "failed"})).outcome == "failed"
    without = line(6, run("kill", handled_each_request_once="passed"))
    assert without.outcome == "not_proved"
    assert "no kind of traffic tries again (x-swarmtest traffic: retries" in without.sentence


def test_ids_are_asked_for_wherever_they_are_judged() -> None:
    both = [run(name, ids_on_every_record="passed") for name in ("baseline", "rolling")]
    assert line(8, *both).outcome == "passed"
    assert line(8, *both, run("kill")).outcome == "passed", "a scenario that doesn't ask for them says nothing"
    assert line(8, *both, run("kill", ids_on_every_record="failed")).outcome == "failed"
    assert line(8, *both, run("kill", ids_on_every_record="not_proved")).outcome == "not_proved"


def test_a_rollback_passes_by_every_check_it_has() -> None:
    good = run("rollback", answered_every_request="passed", kept_capacity="passed")
    assert line(9, good).outcome == "passed"
    assert line(9, run("rollback", answered_every_request="passed", kept_capacity="failed")).outcome == "failed"
    assert line(9, msgspec.structs.replace(good, outcome="not_proved")).outcome == "not_proved"


def test_a_rollout_that_goes_wrong_needs_the_guard_too_and_the_line_says_what_swarm_does_alone() -> None:
    runs = [run(name, rolled_back_by_itself="passed") for name in ("unhealthy", "unhealthy-soon")]
    found = line(10, *runs)
    assert found.outcome == "passed"
    assert "Swarm by itself stops only when tasks fail" in found.sentence
    off = run("unhealthy", settings={"guards": {"stop_at": None}}, rolled_back_by_itself="passed")
    found = line(10, off, runs[1])
    assert found.outcome == "not_proved"
    assert "the guard on the error rate was off in unhealthy" in found.sentence


def test_long_evidence_is_cut_short() -> None:
    runs = [run(f"s{number}", ids_on_every_record="failed") for number in range(9)]
    evidence = line(8, *runs).evidence
    assert len(evidence) == 7
    assert evidence[-1].startswith("and ")
