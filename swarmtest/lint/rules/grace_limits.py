"""The grace beside what else is known: the app's own limits, and the longest request that's planned."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf

from swarmtest.lint import Certainty, Edit, Finding, Severity
from swarmtest.lint.programs.drains import Drain, drains, guessed, is_wait, waits
from swarmtest.lint.rules import Rule, Stack
from swarmtest.lint.services import LintService
from swarmtest.lint.subject import Subject, subject_of
from swarmtest.lint.wording import seconds

MARGIN_SECONDS = 1.0
"""What an abort takes."""

LONGEST_DRAIN_SECONDS = 120.0
"""A server that wants to drain for longer needs another limit, not another grace."""

ARMED = "; it counts from the next replacement on"
"""docker/cli #2441: tasks are stopped by the spec that they were made with."""


def _grace(service: LintService) -> int | None:
    """Whole seconds, as the engine takes them; None where they can't be known, or another rule speaks of them."""
    grace = service.grace_seconds
    return int(grace) if grace is not None and grace >= 1 else None


def default(service: LintService) -> str:
    """Whether a grace is the engine's own."""
    return "" if service.has("stop_grace_period") else ", the default"


def _drain_beyond_grace(stack: Stack) -> Iterator[Finding]:
    """What the app waits after its signal, and how long it then drains, have to fit into the grace."""
    for service in stack.services:
        grace = _grace(service)
        servers = [drain for drain in drains(service) if drain.kind == "server"]
        if grace is None or not servers:
            continue
        limits = [drain for drain in servers if not is_wait(drain)] or servers
        longest = max(limits, key=lambda drain: (bool(drain.written), drain.seconds))
        total = longest.seconds if is_wait(longest) else longest.seconds + waits(service)
        if grace <= total < inf:
            yield _beyond(service, longest, total, grace)


def _beyond(service: LintService, longest: Drain, total: float, grace: int) -> Finding:
    own = longest.written or f"{longest.program}'s default"
    wait = f" after a wait of {seconds(total - longest.seconds)}" if total > longest.seconds else ""
    needed = f"{ceil(total + MARGIN_SECONDS) + 4}s"
    short = total <= LONGEST_DRAIN_SECONDS
    shorter = (
        f"write a limit some seconds below the grace of {grace} s: what takes longer has to be ended in good order"
    )
    return Finding(
        "drain-beyond-grace",
        Severity.WARNING if longest.written else Severity.INFO,
        Certainty.CERTAIN if longest.written and not guessed(longest) else Certainty.LIKELY,
        service.place("stop_grace_period"),
        f"{longest.program} drains for up to {seconds(longest.seconds)} ({own}){wait}, and SIGKILL comes after"
        f" {grace} s"
        f"{default(service)}: its own limit is never reached, and what's still running then is cut without a word",
        f"write stop_grace_period: {needed}{ARMED}, or a shorter limit" if short else shorter,
        Edit(("services", service.name, "stop_grace_period"), needed) if longest.written and short else None,
    )


def _drain_below_request(stack: Stack) -> Iterator[Finding]:
    """The app's own limit ends requests that are planned to take longer."""
    subject = subject_of(stack)
    if subject is None or subject.longest_seconds is None:
        return
    for drain in drains(subject.service):
        if drain.kind == "worker" or drain.seconds >= subject.longest_seconds or is_wait(drain):
            continue
        yield Finding(
            "drain-below-request",
            Severity.ERROR if drain.written else Severity.WARNING,
            Certainty.CERTAIN if drain.written and not guessed(drain) else Certainty.LIKELY,
            subject.service.place(*drain.key),
            f"{drain.program} ends what's running {seconds(drain.seconds)} after its signal"
            f" ({drain.written or 'its default'}), and a request may take {seconds(subject.longest_seconds)}: the"
            " longest"
            " ones are cut, whatever the grace is",
            f"write a limit of more than {seconds(subject.longest_seconds)}, below the grace",
        )


def _wait_below_detection(stack: Stack) -> Iterator[Finding]:
    """An app that closes its listener before the front door has noticed refuses what still comes."""
    subject = subject_of(stack)
    waiting = [drain for drain in drains(subject.service) if is_wait(drain)] if subject else []
    if subject is None or not waiting or waits(subject.service) >= subject.front_door_seconds:
        return
    yield Finding(
        "wait-below-detection",
        Severity.ERROR,
        Certainty.LIKELY,
        subject.service.place(*waiting[0].key),
        f"after its signal the app takes requests for {seconds(waits(subject.service))} ({waiting[0].written}), and it"
        f" may be {subject.front_door}: what's sent in between is refused",
        f"wait for more than {seconds(subject.front_door_seconds)}, or let the front door notice sooner",
    )


def _grace_below_request(stack: Stack) -> Iterator[Finding]:
    """The wait, the longest request and an abort have to fit into the grace."""
    subject = subject_of(stack)
    grace = _grace(subject.service) if subject else None
    if subject is None or subject.longest_seconds is None or grace is None:
        return
    wait = max(waits(subject.service), subject.front_door_seconds)
    needed = wait + subject.longest_seconds + MARGIN_SECONDS
    if grace >= needed:
        return
    value = f"{ceil(needed) + 1}s"
    yield Finding(
        "grace-below-request",
        Severity.ERROR,
        Certainty.CERTAIN,
        subject.service.place("stop_grace_period"),
        f"the grace is {grace} s{default(subject.service)}, and {seconds(needed)} are needed: {_sum(subject, wait)}"
        f"{seconds(subject.longest_seconds)} for the longest request, and {seconds(MARGIN_SECONDS)} for an abort",
        f"write stop_grace_period: {value}{ARMED}",
        Edit(("services", subject.service.name, "stop_grace_period"), value),
    )


def _sum(subject: Subject, wait: float) -> str:
    if not wait:
        return ""
    if wait == subject.front_door_seconds:
        return f"{subject.front_door}, "
    return f"{seconds(wait)} that the app waits after its signal, "


def _drain_never_ends(stack: Stack) -> Iterator[Finding]:
    """Kludex/uvicorn: without a limit it waits for each connection; nestjs/nest #7611, actix/actix-web #929"
    " likewise."""
    subject = subject_of(stack)
    for service in stack.services:
        endless = [drain for drain in drains(service) if drain.kind == "server" and drain.seconds == inf]
        streams = subject.streams if subject and subject.service is service else ()
        grace = _grace(service)
        if not endless or grace is None:
            continue
        held = f", and {' and '.join(streams)} hold theirs open" if streams else ""
        yield Finding(
            "drain-never-ends",
            Severity.WARNING if streams else Severity.INFO,
            Certainty.LIKELY,
            service.place(*endless[0].key),
            f"{endless[0].program} waits for open connections for as long as they last{held}: one that stays open"
            " holds the"
            f" shutdown until SIGKILL after {grace} s{default(service)}, and what else is running then is cut",
            f"write --timeout-graceful-shutdown with some seconds less than {grace}, and close streams at the signal; a"
            " longer grace doesn't help",
        )


RULES = (
    Rule("drain-beyond-grace", "the app's own limit is longer than the grace", _drain_beyond_grace),
    Rule("drain-below-request", "the app's own limit is shorter than the longest request", _drain_below_request),
    Rule("wait-below-detection", "the app stops accepting before the front door has noticed", _wait_below_detection),
    Rule("grace-below-request", "the grace is shorter than wait, longest request and abort", _grace_below_request),
    Rule("drain-never-ends", "a server that waits for open connections for ever", _drain_never_ends),
)
