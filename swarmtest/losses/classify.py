"""The class of one request, from all that's known of it: pure, and decided by evidence first.

The instance's word outweighs the client's: a 502, a reset or a silent close is *cut* when any
instance has a start record of that request ID, and *gateway* or *unserved* only when provably none
has. Where one link of the proof is missing the class is *unknown*, with the reason.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from enum import StrEnum

from swarmtest.evidence.request import Request
from swarmtest.timeline.witness import Proxied, Trail

PROVED_FRAMINGS = ("length", "chunked", "marker", "end_stream")
"""What proves that a body is whole; an end by closing looks the same when it's cut."""


class Loss(StrEnum):
    """What can become of a request. They add up to *sent*."""

    OK = "ok"
    REFUSED = "refused"
    UNSERVED = "unserved"
    CUT = "cut"
    CUT_FINISHED = "cut_finished"
    UNKNOWN = "unknown"
    GATEWAY = "gateway"
    ERROR = "error"
    SHED = "shed"
    UNEXPECTED = "unexpected"
    SILENT_LOSS = "silent_loss"
    TIMED_OUT = "timed_out"
    UNRESOLVED = "unresolved"
    CLIENT_ERROR = "client_error"


@dataclass(frozen=True, slots=True)
class Known:
    """All that's known of one request.

    Attributes:
        trail: lines of instances about its ID.
        gap: why the absence of a start record proves nothing; None where it proves that no handler
            ever saw the request.
        proxied: the proxy's line, if it wrote one.
        names_itself: whether any answer of the whole run names its instance.
        echoes: whether any answer of the run echoes the request ID; then all must.
        unheard: why a commit or a finish of it may have gone unrecorded; None where none did.
    """

    request: Request
    trail: Trail | None = None
    gap: str | None = None
    proxied: Proxied | None = None
    names_itself: bool = True
    echoes: bool = False
    unheard: str | None = None

    @property
    def started(self) -> bool:
        """Whether a handler had started, by the instance's own record."""
        return self.trail is not None and self.trail.seen

    @property
    def never_dialled(self) -> bool:
        """Whether the proxy says that it reached no instance with it."""
        return self.proxied is not None and (self.proxied.connected is False or self.proxied.server is None)


@dataclass(frozen=True, slots=True)
class Found:
    """A class and what decided it.

    Attributes:
        unproved: the answer was complete and only its proof is missing, so nothing is known to be lost.
    """

    loss: Loss
    why: str
    unproved: bool = False


def classify(known: Known) -> Found:
    """The class of a request."""
    if known.request.answered:
        return _complete(known)
    match known.request.client_outcome:
        case "no_connection":
            return _ran(known) or Found(Loss.REFUSED, known.request.error or "no connection was made")
        case "closed_unanswered" | "closed_in_headers" | "closed_in_body" | "refused_stream":
            return _closed(known)
        case "timed_out":
            return Found(Loss.TIMED_OUT, f"the client's own deadline passed; {_instance_word(known)}")
        case "still_open":
            return Found(Loss.UNRESOLVED, f"still open when the run ended; {_instance_word(known)}")
        case "malformed":
            return _ran(known) or Found(Loss.UNEXPECTED, f"malformed answer: {known.request.error or 'no detail'}")
        case "local_error":
            return Found(Loss.CLIENT_ERROR, f"the client's own fault: {known.request.error or 'no detail'}")
        case other:
            return Found(Loss.UNKNOWN, f"the client's word {other!r} isn't known to this version")


def _ran(known: Known) -> Found | None:
    """The class of a request without a complete answer whose handler had started; else None."""
    trail = known.trail
    if trail is None or not trail.seen:
        return None
    if trail.commit or trail.finish:
        done = "committed" if trail.commit else "finished"
        return Found(Loss.CUT_FINISHED, f"a handler {done} it, and the client got no complete answer")
    if trail.intent:
        return Found(Loss.UNKNOWN, "a handler was about to commit, and no line tells whether it did")
    if known.unheard is not None:
        return Found(Loss.UNKNOWN, f"a handler had started, and nothing tells how it ended: {known.unheard}")
    return Found(Loss.CUT, "a handler had started; neither commit nor finish was recorded")


def _closed(known: Known) -> Found:
    if (ran := _ran(known)) is not None:
        return ran
    request = known.request
    if request.instance is not None:
        return Found(Loss.CUT, "the answer had begun and named its instance, then it was cut; no log line of the ID")
    if known.never_dialled:
        return Found(Loss.UNSERVED, "the proxy reached no instance with it")
    if known.gap is None and request.client_outcome == "refused_stream":
        return Found(Loss.UNSERVED, f"no handler saw it, by the peer's own word: {request.error}")
    if known.gap is None:
        return Found(Loss.UNSERVED, "closed, and provably no handler saw it: all records are whole, none has its ID")
    return Found(Loss.UNKNOWN, f"no start record, which proves nothing: {known.gap}")


def _complete(known: Known) -> Found:
    status = known.request.status
    if status is None or not 100 <= status < 600:
        return _ran(known) or Found(Loss.UNEXPECTED, f"an answer with status {status}")
    if 200 <= status < 300:
        return _success(known)
    if status == 429 or (status == 503 and known.request.retry_after):
        ran = None if known.request.instance is not None or _said(known, status) else _ran(known)
        return ran or Found(Loss.SHED, f"{status}, turned away on purpose")
    if status >= 500:
        return _server_error(known, status)
    return Found(Loss.UNEXPECTED, f"status {status}")


def _server_error(known: Known, status: int) -> Found:
    if _made_by_instance(known, status):
        return Found(Loss.ERROR, f"{status} made by the instance {known.request.instance}")
    if status not in (502, 503, 504):
        if known.started:
            return Found(Loss.ERROR, f"{status} without instance header, though an instance has its start record")
        return Found(Loss.UNEXPECTED, f"{status} of unknown origin: no instance header, no start record")
    if not known.names_itself and known.started:
        return _nameless_error(known, status)
    if (ran := _ran(known)) is not None:
        return Found(ran.loss, f"{status} of the proxy; {ran.why}")
    cause = _proxy_word(known.proxied)
    if known.never_dialled:
        return Found(Loss.GATEWAY, f"{status} of the proxy, which reached no instance{cause}")
    if known.gap is None:
        return Found(Loss.GATEWAY, f"{status} of the proxy; provably no handler saw it{cause}")
    named = "without instance header" if known.request.instance is None else f"that names {known.request.instance}"
    return Found(Loss.UNKNOWN, f"{status} {named}; no start record, which proves nothing: {known.gap}")


def _made_by_instance(known: Known, status: int) -> bool:
    """Whether the instance that a 5xx names has made it."""
    name = known.request.instance
    if name is None or (status in (502, 503, 504) and _may_be_the_proxys(name)):
        return name is not None and known.trail is not None and any(s.status == status for s in known.trail.finish)
    return True


def _may_be_the_proxys(name: str) -> bool:
    """Whether a header that names an instance is one that a proxy writes on answers of its own making, too.

    ``$upstream_addr`` of nginx stands on its own 502 as well, with a comma where it tried several.
    """
    last = name.rsplit(",", 1)[-1].strip()
    host = last[1:].partition("]")[0] if last[:1] == "[" else last
    host = host.rpartition(":")[0] if host.count(":") == 1 else host
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _nameless_error(known: Known, status: int) -> Found:
    """An error that may be the proxy's or the instance's own, as no answer of the run names its maker."""
    if _said(known, status):
        return Found(Loss.ERROR, f"{status} made by the instance, by its finish record")
    made = known.proxied is not None and known.proxied.own_word
    if (ran := _ran(known)) is not None and made:
        return Found(ran.loss, f"{status} of the proxy; {ran.why}")
    return Found(Loss.UNKNOWN, f"{status} after a handler had started, and no answer of the whole run names its maker")


def _said(known: Known, status: int) -> bool:
    """Whether the instance recorded that it answered so, where no answer of the run names its maker."""
    trail = known.trail
    return not known.names_itself and trail is not None and any(step.status == status for step in trail.finish)


def _success(known: Known) -> Found:
    request = known.request
    if request.instance is None:
        if known.names_itself:
            return Found(Loss.UNEXPECTED, f"{request.status} of unknown origin: no instance header")
        return Found(Loss.UNKNOWN, "no answer of the whole run names its instance", unproved=True)
    if request.framing not in PROVED_FRAMINGS and not request.bodiless:
        return _unframed(known)
    if request.echoed is False:
        return Found(Loss.SILENT_LOSS, "the answer echoes the ID of another request")
    if known.echoes and request.echoed is None:
        return Found(Loss.UNEXPECTED, "the answer echoes no request ID, and other answers of the run do")
    return Found(Loss.OK, "complete: instance header, full length" + (", echoed ID" if request.echoed else ""))


def _unframed(known: Known) -> Found:
    """A body that only the closing ended: complete or cut, both look alike to the client."""
    trail = known.trail
    if trail is not None and trail.seen and not trail.finish and known.unheard is None:
        ran = _ran(known)
        if ran is not None:
            return Found(ran.loss, f"the body was ended by closing, no finish was recorded; {ran.why}")
    return Found(Loss.UNKNOWN, "the body was ended by closing, so nothing proves that it's whole", unproved=True)


def _instance_word(known: Known) -> str:
    trail = known.trail
    if trail is None or not trail.seen:
        return "no start record" + (f" ({known.gap})" if known.gap is not None else " on any instance")
    if trail.finish:
        return "the handler finished"
    return "the handler committed" if trail.commit else "the handler had started"


def _proxy_word(proxied: Proxied | None) -> str:
    if proxied is None:
        return ""
    ended = f", ended {proxied.termination}" if proxied.own_word else ""
    return f" (dialled {proxied.server or 'nobody'}{ended})"
