"""What ended an instance: Swarm's stop, the end of its grace, memory, health, swarmtest, or itself.

The signs look alike from afar (137 is what an out-of-memory kill, a SIGKILL at the end of the grace
and a ``docker kill`` all leave behind), so the engine's events decide and the exit code comes last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from swarmtest.events import Event
from swarmtest.timeline.facts import TaskFacts
from swarmtest.timeline.lifespan import Mark

AS_ASKED = "stopped as asked"
END_OF_GRACE = "SIGKILL at the end of the grace"
OUT_OF_MEMORY = "out of memory"
HEALTH_CHECK = "health check"
BY_SWARMTEST = "killed by swarmtest"
BY_OTHERS = "killed by somebody else"
STOPPED_BY_SWARMTEST = "stopped by swarmtest"
STOPPED_BY_OTHERS = "stopped by somebody else"
CRASHED = "crashed by itself"
ENDED_ITSELF = "ended by itself"

GRACE_SLACK_SECONDS = 1.0
"""A SIGKILL this close to the end of the grace, or later, is the grace's."""

SIGKILLED = 137
"""Exit code of a process that was killed by signal 9."""

KILLING = ("kill", "crash", "oom")
"""Acts of swarmtest that take the process of the instance that they name."""

STOPPING = ("stop", "signal")
"""Acts of swarmtest that ask it to end; what becomes of that is its own doing, or its grace's."""


def cause_of(
    facts: TaskFacts, marks: Mapping[str, Mark], desired: Mark | None, grace_seconds: float, acts: Sequence[Event]
) -> str | None:
    """What ended it, in words; None while it lives, or where nothing says."""
    signalled, exited = marks.get("signalled"), marks.get("exited")
    killed = marks.get("killed") or _unseen_kill(facts, signalled, exited, grace_seconds)
    if signalled is None and killed is None and exited is None:
        return None
    asked = _asked(desired or marks.get("announced"), signalled or killed or exited)
    ours = _ours(facts, acts)
    cause: str | None
    if _out_of_memory(facts, signalled, marks.get("killed"), exited):
        cause = OUT_OF_MEMORY
    elif _unhealthy(facts, signalled or killed or exited, by_nobody=not asked and not ours):
        cause = HEALTH_CHECK
    elif _before(ours, KILLING, killed or exited) and (killed or exit_code(facts) in (SIGKILLED, None)):
        cause = BY_SWARMTEST
    elif killed is not None:
        cause = _killed(signalled, killed, grace_seconds, asked)
    elif exited is None:
        cause = None  # signalled, and still stopping
    elif _before(ours, STOPPING, signalled, desired):
        cause = STOPPED_BY_SWARMTEST
    elif signalled is not None and exited.at >= signalled.at - max(signalled.error, exited.error):
        cause = AS_ASKED if asked else STOPPED_BY_OTHERS if _watched(facts) else None
    elif asked and not any(event.get("action") == "die" for event in facts.container):
        cause = _unwitnessed(exit_code(facts), desired, exited, grace_seconds)
    else:
        cause = _by_itself(exit_code(facts))
    return cause


def _watched(facts: TaskFacts) -> bool:
    """Whether it was seen what Swarm wanted of it, so that not asking tells something."""
    return any(event.get("desired") for event in facts.states)


def _unwitnessed(code: int | None, desired: Mark | None, exited: Mark, grace_seconds: float) -> str | None:
    """The end of one that Swarm asked to stop, where the engine's own events of it weren't seen."""
    late = desired is not None and exited.at - desired.at >= grace_seconds
    return END_OF_GRACE if code == SIGKILLED and late else None


def exit_code(facts: TaskFacts) -> int | None:
    """Exit code of its container: the ``die`` event's, else the task's."""
    for event in reversed(facts.container):
        if event.get("action") == "die" and event.get("exit_code") is not None:
            return int(event.get("exit_code"))
    codes = [event.get("exit_code") for event in facts.states if event.get("exit_code") is not None]
    return int(codes[-1]) if codes else None


def _asked(desired: Mark | None, end: Mark | None) -> bool:
    """Whether Swarm had decided to stop it before it was stopped."""
    return desired is not None and end is not None and desired.at - desired.error <= end.at + end.error + 0.05


def _unseen_kill(facts: TaskFacts, signalled: Mark | None, exited: Mark | None, grace_seconds: float) -> Mark | None:
    """Its SIGKILL where the engine's event of it was lost: its exit code tells of one, when its grace was over."""
    if signalled is None or exited is None or exit_code(facts) != SIGKILLED:
        return None
    return exited if _waited(signalled, exited) >= grace_seconds else None


def _out_of_memory(facts: TaskFacts, signalled: Mark | None, killed: Mark | None, exited: Mark | None) -> bool:
    """Whether memory ended it; a child process may be killed for memory and its container live on.

    While it drains, one that memory ended has the exit code of a SIGKILL that the engine didn't send.
    """
    by_kernel = killed is None and exit_code(facts) == SIGKILLED
    for event in facts.container:
        if event.get("action") == "oom" and (signalled is None or event.t < signalled.at or by_kernel):
            return exited is not None and exited.at - event.t < 5.0
    return False


def _killed(signalled: Mark | None, killed: Mark, grace_seconds: float, asked: bool) -> str:
    if signalled is None:
        return END_OF_GRACE if asked and grace_seconds < 1 else BY_OTHERS
    return END_OF_GRACE if _waited(signalled, killed) >= grace_seconds else BY_OTHERS


def _waited(signalled: Mark, end: Mark) -> float:
    """Seconds from the signal to its end, at the most: what reaches the grace was ended by it."""
    return end.at - signalled.at + end.error + signalled.error + GRACE_SLACK_SECONDS


def _unhealthy(facts: TaskFacts, end: Mark | None, *, by_nobody: bool) -> bool:
    """Whether its last health before the end was bad, and Swarm called the task failed for it.

    One that never got healthy, and exits with 0 when Swarm stops it for that, is called complete.

    Arguments:
        by_nobody: neither Swarm's decision nor an act of ours asked it to stop.
    """
    health = [
        event.get("health")
        for event in facts.container
        if event.get("action") == "health_status" and (end is None or event.t <= end.at + 0.1)
    ]
    said = any("unhealthy" in str(event.get("error") or event.get("message") or "") for event in facts.states)
    failed = any(event.get("state") == "failed" for event in facts.states)
    complete = by_nobody and any(event.get("state") == "complete" for event in facts.states)
    return bool(health) and health[-1] == "unhealthy" and (failed or said or complete)


def _ours(facts: TaskFacts, acts: Sequence[Event]) -> list[Event]:
    """The beginnings of the acts that name this instance; those of old traces had it among their settings."""
    names = {facts.task, facts.container_id, (facts.container_id or "")[:12]} - {None, ""}
    refused = {act.get("id") for act in acts if act.get("edge") == "ended" and act.get("outcome") == "failed"}
    found = []
    for act in acts:
        if act.get("edge") != "began" or act.get("id") in refused:
            continue
        told = [value for named in act.get("instances") or () for value in (named.get("task"), named.get("container"))]
        settings = act.get("settings") or {}
        if names & {str(act.get("target")), *(str(value) for value in (*told, *settings.values()) if value)}:
            found.append(act)
    return found


def _before(ours: Sequence[Event], kinds: Sequence[str], end: Mark | None, decided: Mark | None = None) -> bool:
    """Whether an act of ours led to its end, and Swarm hadn't decided on that before."""
    return end is not None and any(
        _acts_as(act) in kinds
        and act.t - 0.5 <= end.at + end.error
        and (decided is None or act.t <= decided.at - decided.error + 0.05)
        for act in ours
    )


def _acts_as(act: Event) -> str:
    """The act's name; a signal that can't be caught is a kill by whatever name."""
    signal = str((act.get("settings") or {}).get("signal") or "").upper()
    return "kill" if act.get("name") == "signal" and signal in ("SIGKILL", "KILL", "9") else str(act.get("name"))


def _by_itself(code: int | None) -> str:
    if code == 0:
        return ENDED_ITSELF
    return BY_OTHERS if code == SIGKILLED else CRASHED
