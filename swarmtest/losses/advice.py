"""The one thing to change for each way of losing requests.

Advice names the setting that mends the mechanism, and says so where the setting that people reach
for first, the grace period, would do nothing.
"""

from __future__ import annotations

from math import ceil

from swarmtest.evidence.promises import MEANT_TO_FAIL, SWARM_PAUSE_SECONDS, Promises
from swarmtest.losses.mechanisms import Mechanism
from swarmtest.timeline import Lifespan
from swarmtest.timeline.endings import STOPPED_BY_OTHERS, STOPPED_BY_SWARMTEST

MARGIN_SECONDS = 1.0
"""Added to each measured or declared time."""


def advise(
    mechanism: Mechanism, promises: Promises, life: Lifespan | None = None, measured: float | None = None
) -> str:
    """The one setting to change.

    Arguments:
        life: an instance that it happened to, for numbers.
        measured: how long the front door really took to let go, in seconds.
    """
    match mechanism:
        case Mechanism.CLOSED_TOO_EARLY:
            return _keep_accepting(promises, life, measured)
        case Mechanism.DETECTION:
            return _notice_sooner(promises, measured)
        case Mechanism.GRACE_TOO_SHORT:
            return _longer_grace(promises, life)
        case Mechanism.OWN_LIMIT:
            longest = promises.longest_request_seconds
            return (
                "raise the app's own shutdown limit above the longest request"
                f"{f' ({longest:g} s)' if longest else ''}, and keep stop_grace_period above that limit"
            )
        case Mechanism.FRONT_DOOR_GIVES_UP:
            longest = promises.longest_request_seconds
            return (
                "let the front door wait longer for an answer than the longest request takes"
                f"{f' ({longest:g} s)' if longest else ''} (timeout server in HAProxy,"
                " proxy_read_timeout in nginx): it answered 504 while the handler went on"
            )
        case Mechanism.COLD_START | Mechanism.NO_INSTANCE:
            return _readiness(mechanism, promises)
        case _:
            return _SENTENCES[mechanism]


def _notice_sooner(promises: Promises, measured: float | None) -> str:
    within = promises.front_door.within_seconds
    upto = f" up to {within:g} s" if within is not None else ""
    took = f" ({measured:.1f} s measured)" if measured is not None else ""
    return (
        f"let the front door notice sooner, by shorter probes or a shorter refresh of its list: it takes{upto}{took},"
        " and what's sent meanwhile is lost; no setting of the app or of its shutdown helps"
    )


def _keep_accepting(promises: Promises, life: Lifespan | None, measured: float | None) -> str:
    detection = promises.front_door.within_seconds
    if life is not None and _unannounced(life):
        took = f" ({measured:.1f} s measured)" if measured is not None else ""
        return (
            "turn unready at the stop signal, and keep accepting after it for all the time that the front door's own"
            f" probe takes{took} and {MARGIN_SECONDS:g} s more: a stop that Swarm doesn't order is announced by nobody,"
            " so DNS tells of it only when the instance is gone; a front door that doesn't probe has no way to know"
        )
    if detection is None:
        return (
            "keep accepting after the stop signal until the front door has let go (its detection time less the 2 s"
            " that Swarm waits, or all of it where nothing tells it of the stop before the signal does)"
        )
    late = max(0.0, detection - SWARM_PAUSE_SECONDS)
    hold = late + MARGIN_SECONDS
    if promises.front_door.detects == "probe":
        took = f" ({measured:.1f} s measured)" if measured is not None else ""
        return (
            "let the front door probe more often, or let the app turn unready at the stop signal and keep accepting for"
            f" {hold:g} s after it: a front door that only probes isn't told of a stop before the signal, and takes up"
            f" to {detection:g} s from the announcement{took}"
        )
    if late > 0:
        took = f", {measured:.1f} s measured" if measured is not None else ""
        return (
            f"shorten the front door's refresh to less than the {SWARM_PAUSE_SECONDS:g} s between announcement and"
            f" signal: it takes up to {detection:g} s{took}, so it sends for up to {late:g} s to an instance that has"
            f" closed (or keep accepting for {hold:g} s after the stop signal)"
        )
    return (
        f"keep accepting for {hold:g} s after the stop signal before closing the listener: the front door takes up to"
        f" {detection:g} s from the announcement, which comes {SWARM_PAUSE_SECONDS:g} s before the signal"
    )


def _unannounced(life: Lifespan) -> bool:
    """Whether it got its signal without having left DNS before, as by ``docker stop``."""
    announced, signalled = life.mark("announced"), life.mark("signalled")
    if signalled is None or life.cause not in (STOPPED_BY_SWARMTEST, STOPPED_BY_OTHERS):
        return False
    return announced is None or announced.at > signalled.at


def _longer_grace(promises: Promises, life: Lifespan | None) -> str:
    grace = life.grace_seconds if life is not None else promises.grace_seconds
    closed, signalled = (life.at("closed"), life.at("signalled")) if life is not None else (None, None)
    wait = max(0.0, closed - signalled) if closed is not None and signalled is not None else 0.0
    needed = ceil(wait + promises.longest_request_seconds + MARGIN_SECONDS)
    least = f"to at least {needed} s" if needed > grace else "above its longest request"
    return (
        f"raise stop_grace_period from {grace:g} s {least}: the instance was draining when the grace ran out"
        " (a changed grace counts from the next update on)"
    )


def _readiness(mechanism: Mechanism, promises: Promises) -> str:
    if mechanism is Mechanism.NO_INSTANCE and not promises.replaces:
        return "run more replicas than can fail at a time, so that one serves while Swarm replaces the others"
    if mechanism is Mechanism.NO_INSTANCE and any(step.fault in MEANT_TO_FAIL for step in promises.judged_steps):
        return _limit_a_bad_version(promises)
    if mechanism is Mechanism.NO_INSTANCE and not promises.start_first:
        if promises.stack.fixed_ports:
            return (
                "put a proxy before the service, or two nodes behind a load balancer: two instances can't have one"
                " port of a host, so on one node the old one has to go first, and start-first would wait for ever"
            )
        config = "rollback_config" if promises.way_back else "update_config"
        return f"set {config}.order: start-first (or run more replicas than are updated at a time)"
    if promises.stack.healthcheck is None:
        return "give the service a healthcheck that fails until warm-up is done; a longer grace does nothing for it"
    return "let the healthcheck fail until warm-up is really done (with a start_period); a longer grace does nothing"


def _limit_a_bad_version(promises: Promises) -> str:
    """What keeps a version that fails from taking the place of all that works."""
    action = promises.stack.failure_action or "pause"
    if action != "rollback":
        return f"set update_config.failure_action: rollback (it's {action}), so that a bad version doesn't stay"
    if not promises.start_first:
        return "set update_config.order: start-first, so that an instance goes only when its successor is healthy"
    if promises.stack.rollback.get("order", "stop-first") != "start-first":
        return "set rollback_config.order: start-first (or run more replicas than are rolled back at a time)"
    return (
        "set update_config.delay and monitor to more than a bad version needs to show itself, so that it's found out"
        " before it has taken the place of every instance"
    )


_SENTENCES = {
    Mechanism.DRAIN_MISSING: (
        "on the stop signal let running requests finish before the process exits: the drain is missing,"
        " and a longer grace does nothing for it"
    ),
    Mechanism.SIGNAL_IGNORED: (
        "make the stop signal reach the app and be handled (exec form, or `exec` in the entrypoint, and a handler"
        " for it) before anything else: a longer grace only delays each rollout"
    ),
    Mechanism.SIGNAL_OR_GRACE: (
        "see first that the stop signal reaches the app and is handled (exec form, or `exec` in the entrypoint, and a"
        " handler for it), and let it write the line signal; only if it was draining does a longer grace help"
    ),
    Mechanism.KEEP_ALIVE: (
        "answer with `Connection: close` and close idle connections while draining: kept connections held the"
        " shutdown until SIGKILL, and a longer grace does nothing for it"
    ),
    Mechanism.SOCKETS_DESTROYED: (
        "close only idle connections at shutdown, and let busy ones finish their answer: the sockets were destroyed"
        " while handlers ran on"
    ),
    Mechanism.NOBODY_ACCEPTING: (
        "keep accepting until the listener is closed: it was held open with nobody accepting, so connections waited"
        " in its queue and were reset"
    ),
    Mechanism.FRONT_DOOR_STALE: (
        "let the front door learn of new addresses and forget those that are gone: resolve tasks.NAME again and again"
        " (resolver 127.0.0.11, valid for 1 s; in HAProxy with `hold obsolete` as short) or a shorter poll of the task"
        " list, or dial the service's VIP"
    ),
    Mechanism.HEALTH_KILL: (
        "after warm-up let the healthcheck only ask whether the process lives; dependencies and draining belong to"
        " the readiness that the front door asks"
    ),
    Mechanism.OUT_OF_MEMORY: "raise the memory limit, or lower what the app uses: it was killed for memory",
    Mechanism.ON_PURPOSE: (
        "no drain survives a SIGKILL, and no grace helps: all that runs on an instance goes with it, so more and"
        " smaller instances lose less at a time"
    ),
    Mechanism.FROZEN: (
        "let the front door probe its instances with a short time-out, and end what takes too long there: a request"
        " waits as long as its instance stands still"
    ),
    Mechanism.FROZEN_UNNOTICED: (
        "let the front door probe the instances itself, with a short time-out: one that stands still stays in DNS, and"
        " Swarm takes it for running"
    ),
    Mechanism.DEPENDENCY_OFF: (
        "let the app serve what it can without its dependency, and turn away the rest at once (503 with Retry-After)"
    ),
    Mechanism.OVERLOADED: (
        "run so many replicas, or let each work on so many requests at once, that those that are left carry the"
        " traffic while one is replaced"
    ),
    Mechanism.INGRESS_BROKEN: (
        "change published ports in an update of their own, or stop-first for once: a start-first update that changes"
        " the list of ports breaks the routing mesh while the tasks are healthy (moby/moby #41364), and nothing in the"
        " app's shutdown mends that"
    ),
    Mechanism.STOPPED: "find out who stops the containers: Swarm had no part in it, and replaces them only afterwards",
    Mechanism.KILLED: "find out who kills the containers: no drain survives a SIGKILL",
    Mechanism.CRASHED: "read the log of the instance that crashed: it ended without having been asked to",
    Mechanism.STREAMS_HELD: (
        "tell open streams when draining (a WebSocket by a close frame with 1001 or 1012, server-sent events by the end"
        " of the answer), and bound the drain below the grace: streams held the shutdown until SIGKILL, and they would"
        " hold it through a longer grace as well"
    ),
    Mechanism.HANGS: (
        "end the process when the drain is done: nothing ran on it any more when the grace ran out"
        " (a thread, a stream or a pool that's never closed); a longer grace helps only where the app was still at work"
        " on something of its own, which this run can't tell"
    ),
    Mechanism.FRONT_DOOR_CUTS: (
        "let the front door keep open sessions of a server that's going (in HAProxy no `on-marked-down"
        " shutdown-sessions`): requests were cut before the instance had its signal"
    ),
    Mechanism.GOAWAY_MISSING: (
        "send GOAWAY before closing an HTTP/2 connection: first one that names stream 2^31-1, after a round trip one"
        " that names the last stream that came, then answer what is open; without it every request on the connection"
        " goes with its socket, and a longer grace does nothing for it"
    ),
    Mechanism.RELOAD_CUTS: (
        "reload the front door softly: the new process takes over the listening sockets and knows the instances before"
        " it takes a connection, and the old one has longer than the longest request to finish (HAProxy: -W and"
        " SIGUSR2, init-addr libc, a hard-stop-after above the longest request,"
        " option idle-close-on-response)"
    ),
    Mechanism.GOAWAY_AT_ONCE: (
        "send GOAWAY twice: first one that names stream 2^31-1, and only after a round trip one that names the last"
        " stream that came: requests that were on their way to the only one were above it"
    ),
    Mechanism.STORED_LATE: (
        "answer an upload only when it's stored for good, or let the shutdown wait for what's still being stored;"
        " a longer grace does nothing for a process that doesn't wait"
    ),
    Mechanism.CONTENT_CHANGED: (
        "find out where the content changes: a body that's cut and taken for whole, a proxy or a cache that rewrites"
        " it, a disk that's full; hold every upload to its length before it's answered"
    ),
}
