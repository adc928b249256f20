"""Rules for tests of what surrounds the rules: what they find is plain, and they don't change."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Edit, Finding, Severity
from swarmtest.lint.rules import Rule, Stack


def _one_replica(stack: Stack) -> Iterator[Finding]:
    for service in stack.services:
        if service.replicas == 1:
            yield Finding(
                rule="one-replica",
                severity=Severity.ERROR,
                certainty=Certainty.CERTAIN,
                place=service.place("deploy", "replicas"),
                effect=f"{service.name} has 1 replica, and nobody serves for the 5 s in which it's replaced",
                fix="write replicas: 2",
                edit=Edit(("services", service.name, "deploy", "replicas"), 2),
            )


def _short_grace(stack: Stack) -> Iterator[Finding]:
    for service in stack.services:
        if service.grace_seconds is not None and service.grace_seconds < 5:
            yield Finding(
                rule="short-grace",
                severity=Severity.WARNING,
                certainty=Certainty.LIKELY,
                place=service.place("stop_grace_period"),
                effect=f"{service.name} has {service.grace_seconds:g} s, 100% of it: too little, perhaps",
                fix="write stop_grace_period: 10s",
                edit=Edit(("services", service.name, "stop_grace_period"), "10s"),
            )


def _latest(stack: Stack) -> Iterator[Finding]:
    for service in stack.services:
        if service.image.tag == "latest":
            yield Finding(
                rule="latest-tag",
                severity=Severity.INFO,
                certainty=Certainty.UNKNOWN,
                place=service.place("image"),
                effect="which version that is can't be told",
                fix="write a version",
            )


def _fewer(stack: Stack) -> Iterator[Finding]:
    older = {service.name: service.replicas or 0 for service in stack.before.services} if stack.before else {}
    for service in stack.services:
        if (service.replicas or 0) < older.get(service.name, 0):
            effect = f"{service.name} has {service.replicas} replicas, and had {older[service.name]}"
            place = service.place("deploy", "replicas")
            yield Finding(
                "fewer-replicas", Severity.INFO, Certainty.CERTAIN, place, effect, "look whether that's meant"
            )


def _breaks(stack: Stack) -> Iterator[Finding]:
    for service in stack.services:
        if service.name == "breaks":
            raise ZeroDivisionError("one by nothing")
    yield from ()


RULES = (
    Rule("breaks", "breaks on a service of that name", _breaks),
    Rule("fewer-replicas", "fewer replicas than before", _fewer),
    Rule("latest-tag", "an image without a version", _latest),
    Rule("one-replica", "a service with one replica", _one_replica),
    Rule("short-grace", "a grace of less than 5 s", _short_grace),
)

BAD = """services:
  api:
    image: api:latest
    stop_grace_period: 2s  # as before
    deploy:
      replicas: 1
"""
"""One finding of each severity: lines 6, 4 and 3."""

GOOD = "services:\n  api:\n    image: api:1\n    deploy: {replicas: 2}\n"
