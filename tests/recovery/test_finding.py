"""Which runs are recovered, which stacks are told of, and which are left alone."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from swarmtest.errors import RunFolderError, StillWritten, UsageError
from swarmtest.events import TraceWriter
from swarmtest.recovery import finding
from swarmtest.recovery.finding import recover_all, recover_given, remove_stack, runs_in
from swarmtest.store import RunFolder
from tests.recovery.conftest import STACK, Killed, end_of, freeze, scale

FINISHED = {"outcome": "finished", "error": None}
FAILED = {"outcome": "failed", "error": "the engine went away"}


def untouched(killed: Killed) -> bool:
    return not [verb for verb, _ in killed.engine.asked if verb != "GET"]


def test_runs_are_found_alone_in_a_folder_and_in_series(killed: Killed) -> None:
    one = killed.folder(name="one")
    member = killed.folder(name="series/two")
    (killed.out / "notes").mkdir()
    assert runs_in(killed.out) == [one, member]
    assert runs_in(one.path) == [one]
    assert runs_in(killed.out / "series") == [member]
    assert runs_in(killed.out / "notes") == []


def test_all_that_was_killed_is_recovered_and_all_that_ended_is_left_alone(killed: Killed) -> None:
    done = killed.folder(name="done", ended=FINISHED)
    cut = killed.folder(freeze(1), name="series/cut")
    killed.deploy(cut)
    assert recover_all(killed.out, killed.recovery())
    assert f"removed the stack {STACK}" in killed.text()
    assert "done" not in killed.text()
    assert end_of(done).data == FINISHED  # type: ignore[union-attr]
    killed.said.clear()
    assert recover_all(killed.out, killed.recovery())
    assert killed.said == [f"nothing to recover in {killed.out} or on the engine"]


def test_a_run_that_goes_on_is_passed_over(killed: Killed) -> None:
    live = killed.folder(freeze(1), name="live")
    killed.deploy(live)
    with TraceWriter(live.events):
        assert recover_all(killed.out, killed.recovery())
        assert f"{live.path}: its run goes on; not touched" in killed.text()
        assert f"the stack {STACK} is of a run that goes on, or may (live): not touched" in killed.text()
        with pytest.raises(StillWritten, match="its run goes on"):
            recover_given([live.path], killed.recovery())
        with pytest.raises(UsageError, match="goes on, or may"):
            remove_stack(STACK, killed.recovery())
    assert untouched(killed)


def test_a_run_that_held_no_lock_may_go_on_and_is_not_touched(killed: Killed) -> None:
    old = killed.folder(freeze(1), locked=False)
    killed.deploy(old)
    assert not recover_given([old.path], killed.recovery())
    assert "nobody can tell whether its run goes on" in killed.text()
    assert f"`docker stack rm {STACK}`" in killed.text()
    with pytest.raises(UsageError, match="goes on, or may"):
        remove_stack(STACK, killed.recovery())
    assert untouched(killed)


def test_a_folder_in_which_nothing_was_begun_is_passed_over(killed: Killed) -> None:
    folder = killed.folder()
    folder.events.write_bytes(b"")
    other = killed.folder(name="other")
    other.events.unlink()
    assert recover_given([folder.path, other.path], killed.recovery())
    assert killed.text().count("never begun; nothing to recover") == 2
    assert not other.events.exists()


def test_a_run_that_could_not_heal_or_remove_all_by_itself_is_recovered(killed: Killed) -> None:
    unhealed = killed.folder(scale(1, before=3), name="unhealed", ended=FAILED)
    killed.deploy(unhealed, replicas=4)
    left = killed.folder(name="left", ended=FAILED, stack="other")
    killed.deploy(left, "other")
    assert recover_given([unhealed.path, left.path], killed.recovery())
    assert "scaled api back from 4 to 3" in killed.text()
    assert "removed the stack other: 1 service, 1 network" in killed.text()
    assert end_of(left).get("error") == f"{FAILED['error']}; healed by swarmtest recover"  # type: ignore[union-attr]
    killed.said.clear()
    assert recover_given([unhealed.path, left.path], killed.recovery())
    assert killed.text().count("failed; nothing to recover") == 2


def test_what_is_no_run_is_wrong_usage(killed: Killed, tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="no run's folder, and none in it"):
        recover_given([tmp_path / "nowhere"], killed.recovery())


def test_one_that_cannot_be_read_holds_up_no_other(killed: Killed) -> None:
    broken, good = killed.folder(freeze(1), name="a"), killed.folder(freeze(1), name="b")
    broken.plan.write_text("{")
    assert not recover_all(killed.out, killed.recovery())
    assert f"{broken.path}: couldn't be healed" in killed.text()
    assert end_of(good) is not None


# ---------------------------------------------------------------- stacks without a run


def gone(folder: RunFolder) -> None:
    shutil.rmtree(folder.path)


def test_a_stack_whose_folder_is_gone_is_told_of_and_removed_by_its_name(killed: Killed) -> None:
    folder = killed.folder(freeze(1))
    killed.deploy(folder)
    gone(folder)
    assert not recover_all(killed.out, killed.recovery())
    assert killed.said == [
        f"left-over, no run looks after it: the stack {STACK}: `swarmtest recover --stack {STACK}` removes it"
    ]
    assert untouched(killed)
    assert remove_stack(STACK, killed.recovery())
    assert killed.said[-1] == f"removed the stack {STACK} of the run {folder.path.name}: 1 service, 1 network"
    assert killed.engine.objects["services"] == []


def test_a_folder_that_was_deleted_under_a_run_is_no_sign_that_it_ended(killed: Killed) -> None:
    folder = killed.folder(freeze(1))
    killed.deploy(folder)
    with TraceWriter(folder.events):
        gone(folder)
        assert recover_all(killed.out, killed.recovery())
        assert "goes on, or may" in killed.text()
    assert untouched(killed)


def test_a_killed_run_in_another_place_is_told_of_with_its_folder(killed: Killed, tmp_path: Path) -> None:
    folder = killed.folder(freeze(1))
    killed.deploy(folder)
    assert not recover_all(tmp_path / "elsewhere", killed.recovery())
    assert f"`swarmtest recover {folder.path}` heals and removes it" in killed.text()
    assert remove_stack(STACK, killed.recovery()), "by its name it's recovered like by its folder"
    assert end_of(folder) is not None


def test_a_stack_of_another_host_is_seen_to_there(killed: Killed) -> None:
    folder = killed.folder(freeze(1))
    killed.deploy(folder, **{"swarmtest.host": "builder-7"})
    gone(folder)
    assert recover_all(killed.out, killed.recovery())
    assert "begun on builder-7: see to it there" in killed.text()
    with pytest.raises(UsageError, match="begun on builder-7, and may go on there"):
        remove_stack(STACK, killed.recovery())
    assert untouched(killed)


def test_a_stack_that_was_kept_is_named_and_is_no_failure(killed: Killed) -> None:
    folder = killed.folder(ended={"outcome": "interrupted", "error": None, "recovered": "kept"})
    killed.deploy(folder)
    assert recover_all(killed.out, killed.recovery())
    assert killed.said[0].startswith(f"kept by swarmtest recover: the stack {STACK}")
    assert remove_stack(STACK, killed.recovery())


def test_a_name_that_is_no_stack_of_a_run_is_wrong_usage(killed: Killed) -> None:
    killed.engine.add_service("theirs", "web")
    with pytest.raises(UsageError, match="no stack of a run is named theirs; there's none on this engine"):
        remove_stack("theirs", killed.recovery())
    killed.deploy(killed.folder())
    with pytest.raises(UsageError, match=f"there are: {STACK}"):
        remove_stack("theirs", killed.recovery())
    assert untouched(killed)


def test_a_folder_that_may_not_be_written_is_named(killed: Killed, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    folder = killed.folder(freeze(1), name="theirs")
    killed.folder(freeze(1), name="x")
    monkeypatch.setattr(finding, "is_still_written", refuse)
    assert not recover_all(killed.out, killed.recovery())
    assert f"{folder.path}: couldn't be healed: [Errno 13] Permission denied" in killed.text()
