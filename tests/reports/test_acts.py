"""What was done to whom, as the reports say it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from swarmtest.reports import ActEntry, Document, FrontDoorEntry, VersionEntry
from swarmtest.reports.acts import act_rows, door_sentence, kind_sentence, policy_lines, story_lines, update_sentence
from swarmtest.reports.lifespans import stopped, told_apart

Runs = dict[str, Callable[[], Document]]


def results(document: Document) -> dict[int, str]:
    return {act.id: row.result for act, row in zip(document.acts, act_rows(document), strict=True)}


def test_each_act_says_whom_it_hurt_and_what_came_of_it(runs: Runs) -> None:
    document = runs["hurt"]()
    assert results(document) == {
        1: "gone 0.0 s later, capacity back 8.1 s after that",
        2: "went on after 5.0 s",
        3: "undoes freeze",
        4: "skipped: only 1 instance would be left, and the floor is 2",
        5: "failed: out of sequence",
    }
    assert [row.good for row in act_rows(document)] == [True, True, True, False, False]
    assert [row.whom for row in act_rows(document)] == ["api.1 (old)", "api.2 (old)", "api.2 (old)", "api", "api"]


def test_a_victim_that_nobody_replaced_has_no_recovery_time(runs: Runs) -> None:
    document = runs["hurt"]()
    first = document.instances[0]
    alone = msgspec.structs.replace(first, hurts=[msgspec.structs.replace(first.hurts[0], back=None)])
    document = msgspec.structs.replace(document, instances=[alone, *document.instances[1:]])
    assert results(document)[1] == "gone 0.0 s later"


def test_a_victim_that_is_still_there_is_said_to_run_on(runs: Runs) -> None:
    document = runs["hurt"]()
    first = document.instances[0]
    there = msgspec.structs.replace(first, marks=first.marks | {"exited": None})
    document = msgspec.structs.replace(document, instances=[there, *document.instances[1:]])
    assert results(document)[1] == "runs on"


def test_with_several_victims_each_is_named(runs: Runs) -> None:
    document = runs["hurt"]()
    first, second, *others = document.instances
    hurts = [msgspec.structs.replace(first.hurts[0], back=None)]
    second = msgspec.structs.replace(second, hurts=hurts)
    acts = [ActEntry(1, "kill", "api", "ok", document.start, document.start, [first.id, second.id])]
    document = msgspec.structs.replace(document, instances=[first, second, *others], acts=acts)
    assert results(document)[1].endswith("after that; api.2 (old) runs on")


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"by": 2}, "scale +2"),
        ({"signal": "SIGUSR1"}, "scale SIGUSR1"),
        ({"way": "soon"}, "scale (soon)"),
        ({"service": "bank"}, "scale bank"),
        ({}, "scale"),
    ],
)
def test_an_act_is_told_with_the_setting_that_tells_most(runs: Runs, settings: dict[str, object], name: str) -> None:
    acts = [ActEntry(1, "scale", "api", "ok", settings=settings)]
    assert act_rows(msgspec.structs.replace(runs["hurt"](), acts=acts))[0].name == name


def test_an_update_that_was_rolled_back_tells_versions_and_the_losses_of_both_ways(runs: Runs) -> None:
    assert update_sentence(runs["rolled_back"]()) == (
        "release: rolled back (rollback completed); left running 3 old (swarmtest-api:1): api.1, api.2, api.3;"
        " lost before it was turned back 0, after 0"
    )


def test_an_update_that_left_two_versions_names_them_and_the_empty_slot(runs: Runs) -> None:
    sentence = update_sentence(runs["stopped"]())
    assert sentence is not None
    assert sentence.endswith("left running 1 old: api.2; 1 new: api.1; nothing in slot 3")


def test_a_completed_update_that_left_an_old_version_says_so(runs: Runs) -> None:
    document = runs["passed"]()
    assert update_sentence(document) == "update: completed"
    assert document.update is not None
    both = [*document.update.left, VersionEntry("old", [document.instances[0].id])]
    document = msgspec.structs.replace(document, update=msgspec.structs.replace(document.update, left=both))
    assert "1 old: api.1" in (update_sentence(document) or "")


@pytest.mark.parametrize(
    ("door", "says"),
    [
        (FrontDoorEntry("proxy", "edge", "dns", 1.0, 0.58, 3), "within 1 s by its settings; measured 0.58 s at most"),
        (FrontDoorEntry("proxy", "edge", "dns", 1.0, 9.5, 3), "measured 9.50 s at most, of 3 instances (late)"),
        (FrontDoorEntry("proxy", "edge", "dns", None, 0.58, 1), "promises no time; measured 0.58 s at most, of 1"),
        (FrontDoorEntry("mesh", None, None, 1.0), "front door mesh: lets go within 1 s by its settings; nothing was"),
    ],
)
def test_the_front_door_s_promise_stands_beside_what_was_measured(runs: Runs, door: FrontDoorEntry, says: str) -> None:
    assert says in (door_sentence(msgspec.structs.replace(runs["passed"](), front_door=door)) or "")


def test_of_a_front_door_of_which_nothing_is_known_nothing_is_said(runs: Runs) -> None:
    document = msgspec.structs.replace(runs["passed"](), front_door=FrontDoorEntry("direct"))
    assert door_sentence(document) is None


def test_what_stopped_a_run_comes_first(runs: Runs) -> None:
    assert story_lines(runs["stopped"]())[0].startswith("stopped early by the run's own guard: 9.1 % lost")


def test_what_passing_means_depends_on_the_kind(runs: Runs) -> None:
    assert "nothing lost" in kind_sentence(runs["passed"]())
    assert "every loss belongs to what was hurt" in kind_sentence(runs["hurt"]())


def test_the_settings_that_a_verdict_rests_on_are_told_in_words(runs: Runs) -> None:
    assert policy_lines(runs["hurt"]()) == [
        "update start-first, 1 at a time, monitor 10 s, on failure rollback",
        "rollback stop-first, all at a time, monitor 5 s, on failure pause",
        "health check every 2 s, time-out 2 s, 3 retries",
        "restart any after 5 s",
    ]
    assert policy_lines(runs["passed"]()) == []  # a document of before said nothing of them


def test_a_survivor_gets_no_column_where_nobody_meant_to_stop_it(runs: Runs) -> None:
    assert [one.slot for one in stopped(runs["hurt"]())] == [1]
    assert [one.slot for one in stopped(runs["passed"]())] == [1, 2, 3]


def test_two_that_would_be_called_alike_side_by_side_are_told_apart(runs: Runs) -> None:
    document = runs["rolled_back"]()
    both = [document.instances[0], document.instances[3]]
    assert list(told_apart(both, document).values()) == ["old api.1", "new api.1"]
