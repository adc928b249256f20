from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from swarmtest import checks
from swarmtest.checks import Judged, Outcome, Verdict
from swarmtest.cli.judge import judge_and_report
from swarmtest.errors import RunFolderError
from swarmtest.events import Event, encode_event
from swarmtest.judge import judge, judge_folder, read_requests
from swarmtest.judge.advice import first_advice
from swarmtest.losses import missing
from swarmtest.reports import Document, Hurt, write_document
from swarmtest.reports.entries import CheckEntry
from swarmtest.reports.markdown import BROKEN_OFF
from swarmtest.reports.wording import proof_sentence
from tests.judge.acting import stays
from tests.judge.builder import T0, Rollout
from tests.judge.stories import hurting, killed


def folder_of(rollout: Rollout, path: Path) -> Path:
    (path / "requests").mkdir(parents=True)
    (path / "plan.json").write_text(json.dumps(rollout.plan))
    lines = "".join(json.dumps({**row, "of_a_later_version": 1}) + "\n" for row in rollout.requests())
    (path / "requests" / "requests-1.jsonl").write_text(lines)
    (path / "events.jsonl").write_bytes(b"".join(encode_event(event) for event in rollout.events()))
    return path


def test_a_clean_rollout_passes_with_what_it_proves() -> None:
    document = Rollout().document()
    assert (document.outcome, document.exit_code) == ("passed", 0)
    assert document.proof["upper_bound"] < 3 / document.losses["sent"]
    assert document.proof["stop_upper_bound"] == pytest.approx(0.632, abs=0.001)
    assert document.advice == []


def test_the_same_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = folder_of(Rollout(), tmp_path / "run")
    write_document(judge_folder(folder), tmp_path / "one.json")
    write_document(judge_folder(folder), tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert json.loads((tmp_path / "one.json").read_text())["outcome"] == "passed"


def test_a_folder_of_a_run_that_was_killed_is_judged_and_is_no_pass(tmp_path: Path) -> None:
    folder = folder_of(Rollout(), tmp_path / "run")
    whole = (folder / "events.jsonl").read_bytes()
    (folder / "events.jsonl").write_bytes(whole[: len(whole) // 2])
    lines = (folder / "requests" / "requests-1.jsonl").read_text()
    (folder / "requests" / "requests-1.jsonl").write_text(lines[: len(lines) // 2])
    document = judge_folder(folder)
    assert document.outcome != "passed"
    assert any("the run was killed" in note for note in document.notes)


def test_an_empty_trace_is_judged_and_is_no_pass(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(Rollout().plan))
    (tmp_path / "events.jsonl").write_bytes(b"")
    document = judge_folder(tmp_path)
    assert document.outcome == "not_proved"
    assert document.exit_code == 3


def test_a_folder_that_is_no_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError):
        judge_folder(tmp_path)


@pytest.mark.parametrize("name", ["requests", "streams", "connections"])
def test_a_damaged_file_is_named_in_one_line(tmp_path: Path, name: str) -> None:
    folder = folder_of(Rollout(), tmp_path / "run")
    (folder / f"{name}.parquet").write_bytes(b"PAR1 and half of it")
    with pytest.raises(RunFolderError) as caught:
        judge_folder(folder)
    assert f"{name}.parquet" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [("trace", "offsets", "x"), ("act", "instances", [[]]), ("act", "settings", 5), ("task", "addresses", {"a": 1}),
     ("act", "id", {}), ("traffic", "machine_share", "full"), ("phase", "name", []), ("finish", "t", [])],
)  # fmt: skip
def test_a_forged_event_is_judged_or_refused_in_one_line(tmp_path: Path, kind: str, field: str, value: object) -> None:
    rollout = Rollout()
    folder = folder_of(rollout, tmp_path / "run")
    lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    forged = [line | {field: value} if kind in (line["kind"], line.get("event")) else line for line in lines]
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in forged))
    document, said = None, ""
    try:
        document = judge_folder(folder)
    except RunFolderError as error:
        said = str(error)
    assert (document is None) == ("was it edited" in said)
    assert not [entry.name for entry in (document.checks if document else []) if "itself broke" in entry.sentence]
    assert "\n" not in said


def test_a_check_that_breaks_is_not_proved_with_its_exception(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(judged: Judged) -> Verdict:
        raise ZeroDivisionError("no instances")

    from swarmtest.checks import kept_capacity

    monkeypatch.setattr(kept_capacity, "check", broken)
    document = Rollout().document()
    entry = next(entry for entry in document.checks if entry.name == "kept_capacity")
    assert entry.outcome == "not_proved"
    assert entry.evidence == ["ZeroDivisionError: no instances"]
    assert document.exit_code == 3


def test_a_check_of_a_later_version_is_not_proved() -> None:
    rollout = Rollout()
    rollout.plan["checks"].append("kept_secrets")
    assert rollout.document().outcome == "not_proved"


def test_failed_outweighs_not_proved() -> None:
    rollout = Rollout()
    rollout.calibrated = False
    rollout.bad_gateway("lost", 3.1, 3.2, rollout.old[0])
    assert (rollout.document().outcome, rollout.document().exit_code) == ("failed", 1)


@pytest.mark.parametrize("outcome", ["interrupted", "failed", None])
def test_a_run_that_did_not_come_to_its_end_is_never_a_pass(outcome: str | None) -> None:
    rollout = Rollout()
    rollout.outcome = outcome
    rollout.plan["checks"] = ["answered_every_request"]
    document = rollout.document()
    assert document.outcome == "not_proved"
    assert document.notes[0].startswith(BROKEN_OFF)


def test_a_plan_without_checks_proves_nothing() -> None:
    rollout = Rollout()
    rollout.plan["checks"] = []
    assert rollout.document().outcome == "not_proved"


def test_advice_is_at_most_two_different_sentences_the_most_telling_first() -> None:
    rollout = Rollout()
    for life in rollout.old:
        life.unready = life.closed = None
        life.exited = (life.signalled or 0) + 0.005
    document = rollout.document()
    assert 1 <= len(document.advice) <= 2
    assert "drain is missing" in document.advice[0]
    assert len(set(document.advice)) == len(document.advice)


def test_of_two_values_for_the_grace_the_larger_one_is_advised() -> None:
    planned, measured = (f"raise stop_grace_period from 2 s to at least {needed} s: so it is" for needed in (5, 6))
    advised = [
        CheckEntry("exited_within_grace", "failed", "", advice=planned),
        CheckEntry("grace_exceeds_longest_request", "failed", "", advice=measured),
        CheckEntry("recovered_in_time", "failed", "", advice="mend this"),
    ]
    assert planned not in first_advice(advised)
    assert sorted(first_advice(advised)) == ["mend this", measured]
    assert first_advice(advised[:1]) == [planned]


def test_advice_does_not_point_to_advice_that_is_in_the_same_list() -> None:
    pointing = "mend the shutdown first (exited_within_grace says how), since it's so; then a grace of 2 s is too short"
    shutdown = CheckEntry("exited_within_grace", "failed", "", advice="handle the signal")
    grace = CheckEntry("grace_exceeds_longest_request", "failed", "", advice=pointing)
    same = CheckEntry("answered_every_request", "failed", "", advice="handle the signal")
    assert first_advice([same, shutdown, grace]) == ["handle the signal", "then a grace of 2 s is too short"]
    assert first_advice([grace]) == [pointing]
    other = CheckEntry("exited_within_grace", "passed", "")
    assert first_advice([other, grace]) == [pointing]


def test_every_check_says_what_it_is_in_a_line() -> None:
    for name in checks.check_names():
        assert checks.check_line(name).endswith(".")


def test_a_baseline_without_an_act_has_no_lifecycle_to_judge() -> None:
    rollout = Rollout(update=False)
    rollout.plan["checks"] = ["answered_every_request", "delivered_the_traffic", "ids_on_every_record"]
    assert rollout.document().outcome == "passed"


def test_a_baseline_is_judged_over_all_of_its_traffic() -> None:
    from swarmtest.scenario import STREAMS
    from swarmtest.scenarios.baseline import SCENARIO

    rollout = Rollout(update=False)
    rollout.plan["checks"] = [name for name in SCENARIO.checks if name not in STREAMS]  # its traffic has none
    rollout.event(-39.0, "act", id=0, name="deploy", edge="began", target="st-ab12", settings={})
    rollout.event(-38.0, "act", id=0, name="deploy", edge="ended", outcome="ok", error=None)
    document = rollout.document()
    assert document.outcome == "passed", document.checks
    assert {instance.generation for instance in document.instances} == {"only"}


def test_what_is_lost_in_a_baseline_is_background() -> None:
    rollout = Rollout(update=False)
    rollout.bad_gateway("lost", 1.0, 1.1, rollout.old[0])
    document = rollout.document()
    assert [event.charge for event in document.loss_events] == ["background"]
    assert any("no lifecycle event nearby" in note for note in document.notes)


def test_a_baseline_in_which_an_instance_fails_kept_no_capacity() -> None:
    rollout = Rollout(update=False)
    rollout.old[1].exited, rollout.old[1].exit_code = 2.0, 1
    verdict = rollout.verdict("kept_capacity")
    assert verdict.outcome is Outcome.FAILED
    assert "2 of 3" in verdict.sentence


def test_the_document_says_which_version_made_the_run_and_which_grace_each_task_had() -> None:
    rollout = Rollout()
    rollout.plan["versions"] = {"swarmtest": "0.1.0"}
    document = rollout.document()
    assert document.settings["swarmtest"] == "0.1.0"
    assert {instance.grace_seconds for instance in document.instances} == {30.0}


def test_answers_that_can_not_be_proved_are_counted_apart_from_losses() -> None:
    rollout = Rollout()
    for row in rollout.requests():
        row["instance"] = None
    document = rollout.document()
    assert document.outcome == "not_proved"
    assert document.proof["unproved"] == document.proof["lost"] == document.losses["sent"]
    assert document.proof["stop_upper_bound"] is None
    assert "0 lost of" in proof_sentence(document)


def _told_by(event: Event, seconds: float) -> Event:
    """The event as an engine tells it whose clock is that much ahead of ours."""
    theirs = {"names": ["since"], "task": ["created"], "update_status": ["started", "completed"]}.get(event.kind, [])
    data = {name: value + seconds if name in theirs and value else value for name, value in event.data.items()}
    ahead = seconds if event.kind in ("container", "record", "proxied", "names") else 0.0
    return Event(event.t + ahead, event.kind, data)


@cache
def _undisturbed(front_door: str) -> Document:
    return Rollout(front_door=front_door).document()


@pytest.mark.parametrize("seconds", [-300.0, -30.0, -5.0, 0.5, 5.0, 30.0, 300.0])
@pytest.mark.parametrize("front_door", ["proxy", "direct"])
def test_an_engine_whose_clock_is_off_by_a_measured_time_changes_no_verdict(seconds: float, front_door: str) -> None:
    run = Rollout(front_door=front_door)
    plain = _undisturbed(front_door)
    run.offsets = {"n1": {"seconds": seconds, "error": 0.001}}
    off = judge(run.plan, [_told_by(event, seconds) for event in run.events()], read_requests(run.requests()))
    assert [(c.name, c.outcome) for c in off.checks] == [(c.name, c.outcome) for c in plain.checks]
    assert [one.generation for one in off.instances] == [one.generation for one in plain.instances]
    assert off.losses == plain.losses


@pytest.mark.parametrize("front_door", ["proxy", "direct"])
@pytest.mark.parametrize(("status", "speaks"), [(404, False), (404, True), (302, True), (401, False)])
def test_requests_that_the_app_turns_away_anyway_are_not_the_rollout_s(
    front_door: str, status: int, speaks: bool
) -> None:
    """The traffic's default path is one that many apps answer with 404: that's no fault of a stop or a start."""
    run = Rollout(front_door=front_door)
    if not speaks:
        run.drop(lambda event: event["kind"] == "record")
    run.requests()
    for one in run.sent:
        one.fields |= {"status": status} | ({} if speaks else {"instance": None, "echoed": None})
    document = run.document()
    assert [check.name for check in document.checks if check.outcome == "failed"] == ["answered_every_request"]
    assert {event.charge for event in document.loss_events} == {"background"}
    assert document.advice[0].startswith("name a request that the app answers with 2xx")
    assert document.proof["stops_with_loss"] == 0


def test_an_app_that_keeps_no_connection_is_told_how_to_say_so() -> None:
    """HTTP/1.0 servers close after each answer; another run won't mend that."""
    run = Rollout()
    run.requests()
    for one in run.sent:
        one.fields["reused"] = False
    document = run.document()
    assert document.outcome == "not_proved"
    assert {check.advice for check in document.checks if check.outcome == "not_proved"} == {missing.KEPT}
    run.plan["traffic"]["fresh_share"] = 1
    assert run.document().outcome == "passed"


def test_a_folder_that_can_not_be_written_to_is_judged_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(Rollout(), tmp_path / "run")
    (folder / "verdicts.json").mkdir()  # in the way, as a read-only file system would be
    assert judge_and_report(folder) == 0
    said = capsys.readouterr()
    assert "the reports can't be written" in said.err
    assert "passed · exit code 0" in said.out


def test_a_run_that_broke_off_before_its_first_request_lists_no_unproved_checks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(Rollout(), tmp_path / "run")
    for lines in folder.glob("requests*"):
        lines.unlink() if lines.is_file() else [part.unlink() for part in lines.iterdir()]
    assert judge_and_report(folder, broken_off=True) == 3
    said = capsys.readouterr().out
    assert "nothing to judge" in said
    assert "answered_every_request" not in said


def test_the_document_tells_what_was_done_to_each_instance_and_when() -> None:
    run = Rollout()
    victim = run.old[0]
    both = {"id": 2, "name": "signal", "target": "api", "settings": {"signal": "SIGUSR1"}, "prepares": False}
    both["instances"] = [{"task": victim.task, "container": victim.container, "slot": victim.slot, "node": "n1"}]
    run.event(1.0, "act", edge="began", **both)
    run.event(1.1, "act", edge="ended", outcome="ok", error=None, **both)
    hurts = {instance.id: instance.hurts for instance in run.document().instances}
    assert hurts.pop(victim.task) == [Hurt(2, "signal", T0 + 1.0, T0 + 1.1, None, "ok")]
    assert not any(hurts.values())


def test_a_run_that_its_guard_stopped_is_never_a_pass_and_says_so() -> None:
    rollout = Rollout().event(9.0, "guard", name="stop-at", text="9.1 % lost over 5 s: 41 of 452; limit 5 %")
    document = rollout.document()
    assert document.outcome == "not_proved"
    assert document.notes[0].endswith("judged as far as it got: 9.1 % lost over 5 s: 41 of 452; limit 5 %")
    rollout = Rollout(update=False).event(3.0, "guard", name="stop-at", text="too much")
    assert rollout.document().outcome == "not_proved"


def test_the_document_tells_what_was_done_in_order_and_which_acts_a_guard_rail_forbade() -> None:
    run = killed()
    run.event(9.0, "act", id=3, name="kill", edge="skipped", target="api", settings={}, reason="only 1 would be left")
    document = run.document()
    assert document.kind == "destructive"
    assert [(act.id, act.name, act.outcome, act.reason) for act in document.acts] == [
        (1, "kill", "ok", None),
        (3, "kill", "skipped", "only 1 would be left"),
    ]
    assert document.acts[0].instances == [run.old[0].task]
    hurt = next(one.hurts[0] for one in document.instances if one.id == run.old[0].task)
    assert hurt.back == pytest.approx(T0 + 8.0, abs=1.0)


def test_a_destructive_run_whose_acts_were_all_skipped_is_never_a_pass() -> None:
    run = hurting("kill")
    run.event(0.0, "act", id=1, name="kill", edge="skipped", target="api", settings={}, reason="only 1 would be left")
    run.plan["checks"] = ["delivered_the_traffic"]
    document = run.document()
    assert document.outcome == "not_proved"
    assert "nothing that was planned was done: every act was skipped (only 1 would be left)" in document.notes


def test_a_destructive_run_that_hurt_nothing_is_never_a_pass() -> None:
    run = hurting("kill")
    run.act(1, "kill", 0.0, [run.old[0]])  # and it runs on
    run.plan["checks"] = ["delivered_the_traffic"]
    document = run.document()
    assert document.outcome == "not_proved"
    assert "nothing was seen to be hurt" in document.notes


def test_what_the_front_door_promises_stands_beside_what_it_was_measured_to_take() -> None:
    door = Rollout().document().front_door
    assert (door.mode, door.detects, door.predicted, door.instances) == ("proxy", "dns", 1.0, 3)
    assert door.measured is not None
    assert 0 < door.measured <= 1.0


def test_a_paused_update_is_said_to_be_no_measure_of_zero_downtime_with_what_was_left() -> None:
    run = Rollout()
    run.status = [(0.2, "updating"), (12.0, "paused")]
    stays(run.old[2])
    run.new = run.new[:2]
    document = run.document()
    assert document.update is not None
    assert document.update.end == "paused"
    left = [(one.version, one.instances) for one in document.update.left]
    assert left == [("old", [run.old[2].task]), ("new", [life.task for life in run.new])]
    assert any("can't be graded for zero downtime" in note for note in document.notes)
    assert any("a later rollback goes nowhere" in note for note in document.notes)


@pytest.mark.parametrize("mode", ["mesh", "proxy"])
def test_fresh_connections_that_reach_nobody_after_the_update_are_no_shutdown_s(mode: str) -> None:
    """docker/cli #2274, moby/moby #41364: a port added in a start-first update wipes the mesh's rules on the node."""
    run = Rollout()
    run.plan["front_door"]["mode"] = mode
    run.requests()
    over = max(life.exited or 0 for life in run.old) + 1.5
    for one in run.sent:
        if one.fields["sent"] > T0 + over and not one.fields["reused"]:
            none = {"status": None, "instance": None, "echoed": None, "framing": None, "first_byte": None}
            one.fields |= {**none, "client_outcome": "no_connection"}
            one.on, one.steps = None, {}
    notes = [note for note in run.document().notes if note.startswith("ingress broken, tasks healthy")]
    assert bool(notes) is (mode == "mesh")
    assert all("stop-first, or in two steps" in note and "grace" not in note for note in notes)


def test_a_victim_that_leaves_dns_within_a_poll_of_its_kill_was_not_on_its_way_out() -> None:
    run = killed()
    run.old[0].announced = 0.08  # seen by a poll that began before the kill
    hurt = next(one.hurts[0] for one in run.document().instances if one.id == run.old[0].task)
    assert hurt.back is not None


@pytest.mark.parametrize(
    ("outcome", "advice"),
    [("failed", "when what broke it off is mended"), ("interrupted", "let it come to its end: it was interrupted")],
)
def test_of_a_run_that_was_over_before_its_first_request_nothing_is_said_to_be_missing(
    outcome: str, advice: str
) -> None:
    rollout = Rollout(update=False).at(0.0, 0.0)
    rollout.outcome = outcome
    rollout.old = []
    document = rollout.document()
    assert {check.outcome for check in document.checks} == {"not_proved"}
    assert [check.evidence for check in document.checks if check.evidence] == []
    [only] = document.advice
    assert advice in only
