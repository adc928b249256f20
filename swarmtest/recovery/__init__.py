"""Heals what a run left that was killed together with its own healing (``SIGKILL``, out of memory, power).

Everything rests on the run's folder: the acts in its trace, each written down before it was done. The
trace's lock tells that nobody writes it any more. What's done here is appended to it, so that the
folder can be judged, is never a pass, and isn't healed twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from swarmtest.engine import EngineInfo
from swarmtest.engine.client import Client
from swarmtest.engine.swarm import SwarmDeployment
from swarmtest.errors import EngineError, SwarmtestError
from swarmtest.events import TraceWriter
from swarmtest.recovery.healing import Surgery, heal
from swarmtest.recovery.leavings import Act, Leavings, read_leavings
from swarmtest.recovery.orphans import TRAFFIC, Orphan, await_end, end, orphans_of
from swarmtest.recovery.stacks import Owner, counted, longest_grace, missing, owner_of
from swarmtest.recovery.updates import Waiting, roll_back, words_on_update
from swarmtest.store import RunFolder
from swarmtest.traffic.settings_file import mask_settings, read_settings

REMOVAL_SECONDS = 90.0
"""A removal may take so much longer than the longest grace."""
UP_SECONDS = 90.0
"""So long, and the longest grace, may it take until a stack that's kept is up again."""
ANSWER_SECONDS = 4.0
"""So much longer than the longest request may a traffic child that lost its parent wait for its last answers."""
LONGEST_ANSWER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Recovery:
    """The engine, what to do with a stack, and whom to tell.

    Attributes:
        say: told each thing that was found or done, in a line.
        keep: heal, and leave the stack on the engine.
    """

    client: Client
    info: EngineInfo
    say: Callable[[str], object]
    keep: bool = False
    waiting: Waiting = field(default_factory=Waiting)

    def deployment(self, name: str, say: Callable[[str], object]) -> SwarmDeployment:
        """The stack of this name on the engine."""
        waiting = self.waiting
        return SwarmDeployment(self.client, name, say=say, sleep=waiting.sleep, clock=waiting.clock)


@dataclass(slots=True)
class _Case:
    """One run while it's being recovered."""

    recovery: Recovery
    folder: RunFolder
    plan: dict[str, Any]
    left: Leavings
    surgery: Surgery
    deployment: SwarmDeployment
    acts: int
    wrong: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.recovery.say(f"  {text}")

    def number(self) -> int:
        self.acts += 1
        return self.acts


def recover(folder: RunFolder, recovery: Recovery) -> bool:
    """Heals what the run in ``folder`` left; says whether all of it is healed.

    Raises:
        StillWritten: the run goes on; nothing was touched.
        RunFolderError: the folder isn't a run's.
    """
    plan = folder.read_plan()
    with TraceWriter(folder.events) as trace:
        left = read_leavings(folder.events)
        name = str(plan["stack"]["name"])
        recovery.say(f"{plan['run']} ({'was killed' if left.outcome is None else left.outcome})")
        if (other := _other_engine(plan, recovery.info)) is not None:
            recovery.say(f"  couldn't be healed: {other}")
            return False
        deployment = recovery.deployment(name, say=lambda text: trace.add("note", text=text))
        surgery = Surgery(recovery.client, deployment, trace, recovery.info.node)
        case = _Case(recovery, folder, plan, left, surgery, deployment, left.last)
        try:
            _treat(case)
        except EngineError as error:
            case.wrong.append(_line(error))
        for problem in case.wrong:
            case.say(f"couldn't be healed: {problem}")
        if not case.wrong:
            what = f"{left.error or left.outcome or 'killed'}; healed by swarmtest recover"
            kept = "kept" if recovery.keep else "removed"
            trace.add("ended", outcome=left.outcome or "interrupted", error=what, recovered=kept)
    if not case.wrong:
        _finish(case)
    return not case.wrong


def _other_engine(plan: dict[str, Any], info: EngineInfo) -> str | None:
    """Why this engine isn't the run's, if that's sure: neither the engine's own ID nor its swarm's is the same."""
    engine = plan.get("engine") or {}
    known = [(engine.get("identity"), info.identity), (engine.get("cluster"), info.cluster)]
    pairs = [(then, now) for then, now in known if then and now]
    if not pairs or any(then == now for then, now in pairs):
        return None
    return (
        "it ran on another engine than the one that answers here; point DOCKER_HOST or `docker context` at that one,"
        " and run swarmtest recover again"
    )


def _treat(case: _Case) -> None:
    """All that has to be done, in the order in which it must be: nothing may go on hurting while it's healed."""
    client, name = case.recovery.client, case.deployment.name
    for orphan in orphans_of(case.folder.path):
        if orphan.what != TRAFFIC:
            _end(case, orphan)
    owner = owner_of(client, name, case.plan["run"])
    services = set(case.deployment.services()) if owner is Owner.RUN else set()
    failed = [act for act in case.left.unhealed if not _is_healed(case, act, owner)]
    if owner is Owner.RUN:
        for service in sorted({act.service for act in case.left.acts} & services):
            _settle_update(case, service)
    for orphan in await_end(case.folder.path, _patience(case.plan)):
        _end(case, orphan)
    if owner is Owner.RUN and not case.recovery.keep:
        _remove(case)
        failed = [act for act in failed if act.service not in services]  # what's removed needs no healing
    elif owner is Owner.RUN:
        _keep(case)
    elif owner is Owner.OTHER:
        case.say(f"the stack {name} on the engine is another run's, or somebody else's: not touched")
    else:
        case.say(f"no stack {name} is on the engine")
    case.wrong += [f"{act.name} of {act.service}, see above" for act in failed]


def _patience(plan: dict[str, Any]) -> float:
    """How long the traffic child may take for its last answers, now that all is healed."""
    longest = float((plan.get("traffic") or {}).get("longest_request_seconds") or 0.0)
    return min(longest + ANSWER_SECONDS, LONGEST_ANSWER_SECONDS)


def _is_healed(case: _Case, act: Act, owner: Owner) -> bool:
    """Heals an act, and says what came of it; what was of the stack is gone where the stack is."""
    if owner is not Owner.RUN and "availability" not in act.before:
        return True
    try:
        for line in heal(case.surgery, act, case.number()):
            case.say(line)
    except SwarmtestError as error:
        case.say(f"{act.name} of {act.service} couldn't be undone: {_line(error)}")
        return False
    return True


def _settle_update(case: _Case, service: str) -> None:
    recovery, deployment = case.recovery, case.deployment
    if not recovery.keep:
        said = words_on_update(service, deployment.update_status(service))
    else:
        said = roll_back(case.surgery, service, case.number, recovery.waiting)
    if said is not None:
        case.say(said)


def _end(case: _Case, orphan: Orphan) -> None:
    end(orphan, case.folder.path)
    case.say(f"ended a left-over {orphan.what} (process {orphan.pid})")


def _remove(case: _Case) -> None:
    client, deployment = case.recovery.client, case.deployment
    found = deployment.leftovers()
    case.surgery.trace.add("phase", name="remove", edge="began")
    deployment.remove(longest_grace(client, deployment.name) + REMOVAL_SECONDS)
    case.surgery.trace.add("phase", name="remove", edge="ended")
    case.say(f"removed the stack {deployment.name}: {counted(found)}")


def _keep(case: _Case) -> None:
    """Waits until all that's kept is up again."""
    name, waiting = case.deployment.name, case.recovery.waiting
    seconds = longest_grace(case.recovery.client, name) + UP_SECONDS
    if not waiting.until(lambda: not missing(case.deployment), seconds):
        case.wrong.append(
            f"{', '.join(missing(case.deployment))} after {seconds:.0f} s; look at `docker stack ps --no-trunc {name}`"
        )
        return
    case.say(f"kept the stack {name}, all of it up; `swarmtest recover --stack {name}` removes it")


def _finish(case: _Case) -> None:
    """What's left to do in the folder, so that it's like that of a run that ended by itself."""
    for path in sorted(case.folder.path.glob("traffic*.json")):
        try:
            mask_settings(read_settings(path), path)
        except (OSError, ValueError) as error:
            case.say(f"{path} may hold values of headers, and can't be cleared of them: {error}")
    count = case.folder.seal()
    case.say(f"sealed the folder with {count} requests; `swarmtest judge {case.folder.path}` judges it")


def _line(error: SwarmtestError) -> str:
    return " ".join(str(error).split())
