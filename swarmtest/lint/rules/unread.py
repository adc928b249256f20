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


RULES = (
    Rule("rest-not-read", "a second document, or a line with less indentation than the first key", _rest_not_read),
    Rule("no-services", "a stack that deploys nothing", _no_services),
)
