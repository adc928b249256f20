"""Finds what there is to recover: runs that were killed, and stacks that no run looks after any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from swarmtest.errors import EngineError, RunFolderError, StillWritten, UsageError
from swarmtest.events import is_still_written
from swarmtest.recovery import REMOVAL_SECONDS, Recovery, recover
from swarmtest.recovery.leavings import Leavings, read_leavings
from swarmtest.recovery.stacks import Owner, Stack, counted, longest_grace, owner_of, stacks_of_runs
from swarmtest.store import RunFolder

_DEPTHS = ("plan.json", "*/plan.json", "*/*/plan.json")


def runs_in(place: Path) -> list[RunFolder]:
    """The run's folder that ``place`` is, or those in it: of single runs, and of members of series."""
    return [RunFolder(path) for path in sorted({plan.parent for depth in _DEPTHS for plan in place.glob(depth)})]


def recover_given(places: Sequence[Path], recovery: Recovery) -> bool:
    """Recovers the runs in the places that a person named; says whether all of it is healed.

    Raises:
        RunFolderError: a place holds no run, or its run goes on.
    """
    runs = [run for place in places for run in _given(place)]
    healed = [_visit(run, recovery, given=True) for run in runs]
    return False not in healed


def _given(place: Path) -> list[RunFolder]:
    runs = runs_in(place)
    if not runs:
        raise RunFolderError(f"{place}: no run's folder, and none in it; give one such as runs/20261129T221500Z-…")
    if len(runs) == 1 and runs[0].path == place and runs[0].events.is_file() and is_still_written(runs[0].events):
        raise StillWritten(f"{place}: its run goes on, and isn't touched; wait for its end, or stop it with Ctrl-C")
    return runs


def recover_all(out: Path, recovery: Recovery) -> bool:
    """Recovers all runs under ``out``, then tells of stacks on the engine that nobody looks after."""
    healed = [_visit(run, recovery, given=False) for run in runs_in(out)]
    strays = [_stray(stack, recovery) for stack in stacks_of_runs(recovery.client)]
    found = [what for what in (*healed, *strays) if what is not None]
    if not found:
        recovery.say(f"nothing to recover in {out} or on the engine")
    return all(found)


def _visit(run: RunFolder, recovery: Recovery, *, given: bool) -> bool | None:
    """Recovers a run that needs it; None where there was nothing to do."""
    try:
        left = read_leavings(run.events)
        if not _needs(run, left, recovery):
            if given:
                recovery.say(f"{run.path}: {left.outcome}; nothing to recover")
            return None
        if is_still_written(run.events):
            recovery.say(f"{run.path}: its run goes on; not touched")
            return None
        if left.locked or left.outcome is not None:
            return recover(run, recovery)
        name = run.read_plan()["stack"]["name"]
        recovery.say(
            f"{run.path}: couldn't be healed: nobody can tell whether its run goes on, since its trace was written"
            f" without a lock, by an older swarmtest or on a file system that has none; if you know that it doesn't,"
            f" `docker stack rm {name}`"
        )
    except (EngineError, RunFolderError, OSError) as error:
        recovery.say(f"{run.path}: couldn't be healed: {error}")
    return False


def _needs(run: RunFolder, left: Leavings, recovery: Recovery) -> bool:
    """A run that was killed, one that couldn't heal all it did, and one that couldn't remove its stack."""
    if not left.done:
        return True
    if left.recovered is not None or left.outcome not in ("failed", "interrupted"):
        return False
    plan = run.read_plan()
    return owner_of(recovery.client, plan["stack"]["name"], plan["run"], by_label=True) is Owner.RUN


def _stray(stack: Stack, recovery: Recovery) -> bool | None:
    """Tells of a stack that's on the engine; False where it's left over and wasn't told of before, else None."""
    if not stack.here:
        recovery.say(f"the stack {stack.name} is of a run that was begun on {stack.host}: see to it there")
        return None
    if stack.may_go_on():
        recovery.say(f"the stack {stack.name} is of a run that goes on, or may ({stack.run}): not touched")
        return None
    folder = stack.run_folder()
    left = read_leavings(folder.events) if folder is not None else Leavings(outcome="unknown")
    if owner_of(recovery.client, stack.name, stack.run) is not Owner.RUN:
        return None  # it was on its way out
    if folder is not None and not left.done:
        recovery.say(f"left-over: the stack {stack.name}: `swarmtest recover {folder.path}` heals and removes it")
        return False
    what = {"kept": "kept by swarmtest recover"}.get(left.recovered or "", "left-over, no run looks after it")
    recovery.say(f"{what}: the stack {stack.name}: `swarmtest recover --stack {stack.name}` removes it")
    return None if left.recovered == "kept" else False


def remove_stack(name: str, recovery: Recovery) -> bool:
    """Removes a stack that a run left; says whether all of it is gone.

    Raises:
        UsageError: there's no such stack, it isn't a run's, or its run goes on or may.
    """
    found = {stack.name: stack for stack in stacks_of_runs(recovery.client)}
    if (stack := found.get(name)) is None:
        raise UsageError(f"no stack of a run is named {name}; {_those_there_are(found)}")
    if not stack.here:
        raise UsageError(
            f"the run of the stack {name} was begun on {stack.host}, and may go on there; recover it there, or"
            f" `docker stack rm {name}` if you know that it doesn't"
        )
    if stack.may_go_on():
        raise UsageError(
            f"the run of the stack {name} goes on, or may ({stack.folder or stack.run}); wait for its end, or stop it;"
            f" `docker stack rm {name}` if you know that it ended"
        )
    folder = stack.run_folder()
    if folder is not None and not read_leavings(folder.events).done:
        return recover(folder, recovery)
    deployment = recovery.deployment(name, recovery.say)
    things = deployment.leftovers()
    deployment.remove(longest_grace(recovery.client, name) + REMOVAL_SECONDS)
    recovery.say(f"removed the stack {name} of the run {stack.run}: {counted(things)}")
    return True


def _those_there_are(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"there are: {listed}" if listed else "there's none on this engine"
