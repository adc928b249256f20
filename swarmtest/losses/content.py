"""Large bodies: a success counts only with its content, and a cut upload says how far it came.

A 200 is a promise. It's held to three words: how much the client sent, what the answer says was stored, and what
the instance itself recorded (a line ``commit`` with ``stored``). Where one of them contradicts, content was lost
and nobody was told: *silent loss*. Where none of them tells, nothing is known to be lost, and nothing is proved.
"""

from __future__ import annotations

from dataclasses import replace

from swarmtest.evidence.request import Request
from swarmtest.losses.classify import Found, Known, Loss
from swarmtest.timeline.witness import Step, Trail

LARGE = ("upload", "download")
"""Protocols whose requests are held to their content."""

ONLY_CLAIMED = "answered as stored, and its instance ended without having recorded that it was"


def held_to_content(known: Known, found: Found, *, logs_stored: bool) -> Found:
    """What was found of a request, once more with an eye on its content.

    Arguments:
        logs_stored: whether instances record what they stored, so that a missing record tells something.
    """
    request = known.request
    if request.protocol not in LARGE:
        return found
    if found.loss is Loss.OK:
        return (_upload(known, logs_stored) if request.protocol == "upload" else _download(request)) or found
    if request.protocol == "upload" and found.loss is not Loss.SILENT_LOSS:
        return replace(found, why=f"{found.why}; {how_far(request, known.trail)}")
    return found


def only_claimed(request: Request) -> bool:
    """Whether a silent loss is one of an upload that the answer itself said to be whole."""
    return request.protocol == "upload" and request.matched is not False


def how_far(request: Request, trail: Trail | None) -> str:
    """How far an upload came: sent, acknowledged, stored."""
    of = f" of {request.body_bytes:,} bytes" if request.body_bytes is not None else " bytes"
    parts = [f"{request.bytes_sent or 0:,} sent{of} and the head"]
    if request.acknowledged is not None:
        parts.append(f"{request.acknowledged:,} acknowledged")
    kept = _recorded(trail)
    parts.append(f"{kept.stored:,} stored" if kept is not None else "nothing tells how much was stored")
    return ", ".join(parts)


def _recorded(trail: Trail | None) -> Step | None:
    """The instance's last line about what it stored."""
    if trail is None:
        return None
    steps = [step for step in (*trail.stored, *trail.commit, *trail.finish) if step.stored is not None]
    return max(steps, key=lambda step: (step.t, step.stored or 0)) if steps else None


def _upload(known: Known, logs_stored: bool) -> Found | None:
    """What's wrong with an upload that was answered with success; None where all of it was stored."""
    request, kept = known.request, _recorded(known.trail)
    if request.matched is False:
        return Found(Loss.SILENT_LOSS, _contradiction(request))
    if kept is not None:
        if request.body_bytes is not None and kept.stored != request.body_bytes:
            told = f"{kept.stored:,} of {request.body_bytes:,} bytes"
            return Found(Loss.SILENT_LOSS, f"answered as stored, and its instance recorded {told}")
        if kept.sha256 is not None and request.sha256 is not None and kept.sha256 != request.sha256:
            return Found(Loss.SILENT_LOSS, "its instance recorded another checksum than that of what was sent")
        whole = kept.sha256 is not None and request.sha256 is not None
        return None if whole or request.matched else _unproved("its instance recorded no checksum of what it stored")
    if logs_stored and known.unheard is None and known.started:
        return Found(Loss.SILENT_LOSS, ONLY_CLAIMED)
    if logs_stored:
        return _unproved(f"whether it was stored isn't known: {known.unheard or 'no line of an instance has its ID'}")
    return None if request.matched else _unproved("nothing tells what was stored")


def _contradiction(request: Request) -> str:
    if request.stored is not None and request.body_bytes is not None and request.stored != request.body_bytes:
        return f"{request.status} for {request.body_bytes:,} bytes, of which it says that it stored {request.stored:,}"
    return f"{request.status}, and what it says that it stored has another checksum than what was sent"


def _download(request: Request) -> Found | None:
    if request.matched is False:
        return Found(Loss.SILENT_LOSS, "the content isn't the one that its checksum promises")
    return None if request.matched else _unproved("nothing tells whether its content is the right one")


def _unproved(why: str) -> Found:
    return Found(Loss.UNKNOWN, why, unproved=True)
