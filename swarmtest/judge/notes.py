"""What a person should know beside the verdicts: what stopped a run, what it left behind, what isn't its doing."""

from __future__ import annotations

from swarmtest.checks import Judged
from swarmtest.evidence.request import Request
from swarmtest.judge.bursts import burst_notes
from swarmtest.losses import Charge, Loss
from swarmtest.losses.aftermath import TRAP, both_ways, lost_each_way, versions_left
from swarmtest.losses.retries import line_of, read_retries
from swarmtest.losses.stalls import read_stalls
from swarmtest.losses.starvation import read_starvation
from swarmtest.losses.wording import label, many, number
from swarmtest.timeline.machine import full_machine
from swarmtest.timeline.neighbours import off_between
from swarmtest.timeline.updates import End, course_of, left_running

MESH_SECONDS = 1.0
"""How long after the end of all stops the routing mesh may still point at one that's gone."""


def notes_on(judged: Judged) -> list[str]:
    """Each note a sentence, what matters most first."""
    notes = []
    background = [one for one in judged.losses.lost if one.charge is Charge.BACKGROUND]
    if background:
        notes.append(
            f"{many(len(background), 'request')} lost with no lifecycle event nearby, or answered as they were before"
            " the rollout, too: not the rollout's doing"
        )
    starvation = read_starvation(judged.requests, judged.timeline)
    at_times = any(starvation.explains(one) for one in judged.losses.lost)
    if judged.losses.lost and (full := full_machine(judged.timeline, at_times=at_times)) is not None:
        notes.append(f"{full}. What was lost may be for want of that")
    if judged.promises.front_door.mode == "direct" and judged.timeline.t0 is not None:
        notes.append("T2 counts requests on connections that clients kept, too; the front door is judged by new ones")
    notes += [*_update(judged), *_ingress(judged), *_docker_proxy(judged)]
    notes += [*burst_notes(judged), *_stalls(judged)]
    retried = read_retries(judged.losses, judged.requests, judged.promises)
    notes += [f"retries of {line_of(one)}" for one in retried if one.again or one.lost_first]
    if judged.losses.records.unrecorded:
        some = judged.losses.records.unrecorded
        notes.append(
            f"{number(len(some))} whole answers have no start record, so the instances' records can't be trusted"
        )
    notes += [f"traffic: {word}" for word in judged.promises.traffic.taken]
    notes += [f"limit {word}" for word in judged.promises.not_asked]
    killed = [life for life in judged.timeline.lifespans if life.cause == "out of memory"]
    notes += [f"{label(life)} was killed for memory" for life in killed]
    return notes


def _stalls(judged: Judged) -> list[str]:
    """Connects that took a second longer, which look like slowness and are none of the stack's."""
    stalls = read_stalls(judged.requests)
    if not stalls.are_an_artefact:
        return []
    steps = " and ".join(f"{number(count)} took just {step:g} s" for step, count in stalls.counts)
    where = (
        "IPVS drops such packets when a client's port is used again (conn_reuse_mode, moby/moby #35082)"
        if judged.promises.front_door.mode == "mesh"
        else "IPVS does so when a client's port is used again (moby/moby #35082), and so does a full accept queue"
    )
    note = (
        f"of {number(stalls.fresh)} connects, {steps}: the first packet was dropped on the way and sent again by the"
        f" client's kernel. {where}. No request was lost by it and no instance was slow: half of these took"
        f" {stalls.handled_ms:,.0f} ms once they were connected, as against {stalls.usual_ms:,.0f} ms."
        " Keep connections, or send from more addresses"
    )
    return [note]


def _update(judged: Judged) -> list[str]:
    """What an update that didn't come to its own end leaves to be known."""
    course = course_of(judged.timeline)
    if course is None:
        return []
    notes = []
    if any(lost_each_way(judged.losses, judged.timeline, course)):
        apart = both_ways(judged.losses, judged.timeline, course)  # two different rollouts caused them
        notes += [apart] if apart is not None else []
    if course.end in (End.PAUSED, End.ROLLBACK_PAUSED):
        left = versions_left(judged.promises, judged.timeline, course)
        notes += [f"the update is paused ({left}), so this run can't be graded for zero downtime", TRAP]
    return notes


def _docker_proxy(judged: Judged) -> list[str]:
    """A door on loopback that refuses everybody, for good, while its container runs on."""
    door, timeline = judged.promises.front_door.service, judged.timeline
    refused = [one.request for one in judged.losses.lost if one.loss is Loss.REFUSED and _on_loopback(one.request)]
    ended = [one.ended for one in refused]
    if (
        not refused
        or door is None
        or off_between(timeline.neighbours.get(door, ()), min(ended), max(ended)) is not None
    ):
        return []
    if judged.requests.count("loss = 'ok' AND began > $first", {"first": min(ended)}):
        return []
    note = (
        f"{many(len(refused), 'connection')} to {refused[0].target} were refused, and none made any more, while the"
        f" container of {door} ran on: a published port on a loopback address goes through docker-proxy, which ends for"
        " good when it's out of descriptors. --url with the machine's own address goes past it"
    )
    return [note]


def _on_loopback(request: Request) -> bool:
    return (request.target or "").startswith(("127.", "localhost:", "[::1]"))


def _ingress(judged: Judged) -> list[str]:
    """Fresh connections that reach nobody although all instances are healthy and the update is over (moby/moby #41364).

    It's no fault of a stop, and no grace helps: a start-first update that adds a published port may leave
    the node's routing mesh without its rules.
    """
    timeline, course = judged.timeline, course_of(judged.timeline)
    if judged.promises.front_door.mode != "mesh" or course is None or course.end is not End.COMPLETED:
        return []
    over = max([course.statuses[-1].t, *(mark.at for life in timeline.stops if (mark := life.mark("exited")))])
    since = over + MESH_SECONDS
    fresh = judged.requests.count("NOT reused AND began > $since", {"since": since})
    lost = [one for one in judged.losses.lost if not one.request.reused and one.request.began > since]
    lost = [one for one in lost if one.loss in (Loss.REFUSED, Loss.TIMED_OUT, Loss.UNSERVED) and one.life is None]
    if not lost or 2 * len(lost) < fresh or len(left_running(timeline)) < judged.promises.replicas:
        return []
    note = (
        f"ingress broken, tasks healthy: {many(len(lost), 'fresh connection')} of {number(fresh)} reached nobody"
        " when the update was over and all instances ran: no shutdown did that. A port added in a start-first update"
        " does (do it stop-first, or in two steps)"
    )
    return [note]
