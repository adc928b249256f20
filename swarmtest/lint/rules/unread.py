"""What Docker takes no notice of without a word: the rest of a file, and with it perhaps the whole stack."""

from __future__ import annotations

from collections.abc import Iterator

from swarmtest.lint import Certainty, Finding, Place, Severity, Target
from swarmtest.lint.rules import Rule, Stack


def _rest_not_read(stack: Stack) -> Iterator[Finding]:
    """docker/cli ``cli/compose/loader/loader.go``, ``ParseYAML``, reads one document; compose-go reads them all."""
    for layer in stack.document.layers:
        for oddity in layer.oddities:
            if oddity.kind != "rest":
                continue
            swarm = stack.document.target is Target.SWARM
            yield Finding(
                rule="rest-not-read",
                severity=Severity.ERROR,
                certainty=Certainty.CERTAIN,
                place=Place(layer.path, oddity.line, ()),
                effect=f"{'Docker reads up to here, and nothing of' if swarm else 'Compose will refuse'} what follows"
                f" in this file, which begins with {oddity.text[:40]!r}: it's a document of its own, or has less"
                " indentation than the first key",
                fix="let all keys begin in the first column, and give what's behind --- as a file of its own",
            )


def _no_services(stack: Stack) -> Iterator[Finding]:
    document = stack.document
    if document.target is Target.SWARM and not document.tree.get("services") and not document.schema_errors:
        yield Finding(
            rule="no-services",
            severity=Severity.WARNING,
            certainty=Certainty.CERTAIN,
            place=document.place("services"),
            effect="the stack has no services: Docker takes it without a word, and deploys none",
            fix="write services: in the first column, with one of them at least",
        )


def _extends_not_read(stack: Stack) -> Iterator[Finding]:
    """Compose specification, ``extends`` and ``include``; Swarm knows neither, which its schema says."""
    document = stack.document
    if document.target is not Target.COMPOSE:
        return
    unread = [
        (each.place("extends"), f"what {each.name} takes over by extends isn't")
        for each in stack.services
        if each.value("extends") is not None
    ]
    if document.tree.get("include"):
        unread.insert(0, (document.place("include"), "the files that include names aren't"))
    for place, what in unread:
        yield Finding(
            rule="extends-not-read",
            severity=Severity.WARNING,
            certainty=Certainty.CERTAIN,
            place=place,
            effect=f"{what} read here: what's said of it, and what isn't, may be wrong",
            fix="look at what Compose makes of it: docker compose config | swarmtest lint --target compose -",
        )


RULES = (
    Rule("extends-not-read", "services of other files, which lint doesn't read", _extends_not_read),
    Rule("rest-not-read", "a second document, or a line with less indentation than the first key", _rest_not_read),
    Rule("no-services", "a stack that deploys nothing", _no_services),
)
