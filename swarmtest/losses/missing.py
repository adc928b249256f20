"""The one thing to add where evidence is missing: a check that can't tell says how it could.

What's missing is the app's to add (header, echo, lines), the stack's (health check, a log of the
front door), or swarmtest's own view had a hole, which only another run can mend.
"""

from __future__ import annotations

from collections.abc import Sequence

from swarmtest.evidence.promises import Promises
from swarmtest.losses import Losses
from swarmtest.timeline import Lifespan, Timeline, Witness
from swarmtest.timeline.updates import End, course_of

ECHO = "echo the request's X-Request-ID in every answer"
FRAMING = "send Content-Length or chunked answers (or name an end_marker), so that a cut body can be told"
START_LINE = "write the line start with request_id, instance and seq before any work of a request (app contract)"
SEQUENCE = "number all lines of an instance with one seq, 1, 2, 3 … (app contract), so that a lost line is seen"
READINESS = "give the service a healthcheck that fails until warm-up is done, or let the app write the line warm"
CLOSE_LINE = "let the app write the line closed_listener when it stops accepting (app contract)"
NAMES = (
    "nobody watched DNS inside the network: the image of the service needs sh, with python3 or getent and a date that"
    " knows fractions of a second (the run's log lines of swarmtest-names say more)"
)
EDGE_LOG = "let the front door log a line of each request with the server that it dialled (app contract)"
CLOCKS = "set the clocks of all machines by NTP: their offset isn't known well enough for what's to be measured"
ROUGH_SECONDS = 0.5
"""A clock whose offset is known no better than this is itself what's to be mended."""

KEPT = (
    "let the app keep connections open after an answer (HTTP/1.1, and a length for each body), or say that it doesn't:"
    " x-swarmtest traffic fresh_share: 1"
)
LIGHTER = "run the client on a machine with more to spare, or ask for less (x-swarmtest traffic)"
AGAIN_TRAFFIC = "make the run again, and let it come to its end: the client's count is what all verdicts rest on"
AGAIN = "make the run again: swarmtest's own view of the engine had a hole here, which is no fault of the stack"
ANSWERED_BEFORE = (
    "let the app answer the traffic's requests first (their path, what it depends on): before anything was done, none"
    " was answered with 2xx"
)
TIME_OUT = (
    "let the client wait longer than the longest request takes (x-swarmtest traffic timeout), or the app answer sooner:"
    " the client's own deadline passed while handlers went on"
)
TO_ITS_END = "make the run again, and let it come to its end: it was interrupted"
KILLED = "make the run again, and let it come to its end: it was killed"
UNBROKEN = "make the run again when what broke it off is mended: the notes have it"
UNGUARDED = "mend what was lost first, or allow for it (--stop-at): the run's own guard broke it off"
FEWER = "let the plan hurt fewer instances, or give the service more replicas (a floor of serving instances is kept)"
NOBODY_HURT = (
    "let the plan hurt an instance: in this run none was killed, frozen or cut short (a plan that's drawn may need more"
    " --minutes, or another --seed)"
)


def again(timeline: Timeline, whole: str = AGAIN) -> str:
    """What another run needs, where something that was planned wasn't done or wasn't seen.

    Arguments:
        whole: what's said of a run that came to its end, with all that was planned.
    """
    if (cut_short := broken_off(timeline)) is not None:
        return cut_short
    if timeline.broken:
        return AGAIN
    if timeline.stopped_by_guard:
        return UNGUARDED
    return FEWER if timeline.skipped else whole


def broken_off(timeline: Timeline) -> str | None:
    """What another run needs where this one never came to its end; None where it did.

    What nobody saw to its end then is the fault of neither the stack nor the app. A run that was killed
    wrote no end; where it was recovered, that's what was written for it.
    """
    if timeline.outcome == "interrupted":
        return KILLED if (timeline.outcome_error or "").startswith("killed") else TO_ITS_END
    if timeline.outcome is None:
        return KILLED
    return UNBROKEN if timeline.outcome == "failed" else None


def unseen(timeline: Timeline) -> str:
    """What another run needs, where something that happened wasn't seen."""
    return broken_off(timeline) or AGAIN


def a_stop(timeline: Timeline) -> str:
    """What would show a stop, where one wasn't seen: an update that had come to its end, or another run."""
    course = course_of(timeline)
    if broken_off(timeline) or course is None or course.end in (End.COMPLETED, End.UNSEEN):
        return again(timeline)
    some = any(life.mark("signalled") or life.mark("announced") for life in timeline.lifespans)
    what = "it didn't stop every instance" if some else "it stopped no instance"
    return f"see first why the update is {course.end.value} (replaced_every_instance): {what}"


def a_close(timeline: Timeline, stopped: Sequence[Lifespan]) -> str:
    """What would show when each of these stopped accepting, where the close of some wasn't seen.

    An app that's seen to write the line, or that wasn't seen to exit, isn't told to write it where the
    run was broken off: it may not have come that far.
    """
    unclosed = [life for life in stopped if life.mark("closed") is None]
    writes = any(life.mark("closed") for life in timeline.lifespans)
    cut_short = broken_off(timeline)
    if cut_short is not None and (writes or all(life.mark("exited") is None for life in unclosed)):
        return cut_short
    return CLOSE_LINE


def readiness(timeline: Timeline) -> str:
    """What would show when each instance was ready; one that had just started when the run broke off lacks nothing."""
    told = any(life.ready_from is not None for life in timeline.lifespans)
    return (broken_off(timeline) if told else None) or READINESS


def rough_clocks(lives: Sequence[Lifespan]) -> bool:
    """Whether their machines' clocks are known too roughly, by marks that nobody had to poll for."""
    marks = (life.mark(name) for life in lives for name in ("started", "signalled", "closed", "exited"))
    return any(mark is not None and mark.error > ROUGH_SECONDS for mark in marks)


def header(promises: Promises) -> str:
    """How an answer names its instance."""
    name = promises.instance_header or "X-Instance-ID"
    return (
        f"let every answer name its instance in a header {name} (from {{{{.Task.ID}}}} in the stack's environment),"
        " or say which header does (x-swarmtest instance_header)"
    )


def nameless(losses: Losses) -> bool:
    """Whether there were answers, and none of the whole run names its instance: then nobody knows whose they are."""
    return not losses.names_itself and any(one.request.answered for one in losses.telling)


def success(status: int | None) -> str:
    """What to ask for, where the app turns the traffic's requests away."""
    return (
        f"name a request that the app answers with 2xx (x-swarmtest traffic: method, path, headers): what's sent now is"
        f" answered with {status} before anything is done"
    )


def to_place(losses: Losses, witness: Witness, promises: Promises, timeline: Timeline) -> str:
    """What would tell which instance a request was sent to."""
    if not witness.logs_starts:
        return START_LINE
    if not losses.records.whole:
        return to_trust(losses, timeline)
    return unseen(timeline) if promises.direct or witness.logs_proxied else EDGE_LOG


def to_trust(losses: Losses, timeline: Timeline) -> str:
    """What would make the instances' records whole."""
    reason = losses.records.reason or ""
    if "no instance logs" in reason:
        return START_LINE
    if "sequence number" in reason:
        return SEQUENCE
    if losses.records.gaps:
        return unseen(timeline)
    return ANSWERED_BEFORE if "before the rollout" in reason else START_LINE
