"""No request was handled twice, be it by a proxy's hidden retry, on two instances, or by a client.

Zero losses with duplicates isn't a clean run: a proxy that sends again hides the loss and takes the
money twice.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses import missing
from swarmtest.losses.retries import done_twice
from swarmtest.losses.wording import label, many, number


def check(judged: Judged) -> Verdict:
    """Judges the start records of each request ID."""
    findings = Findings()
    losses = judged.losses
    for name, containers in losses.duplicates:
        places = ", ".join(label(judged.aliases.of_container(container)) for container in containers)
        findings.failed.append(f"{name} was started {len(containers)} times: on {places}")
    twice = done_twice(losses.telling)
    for name, tries in twice:
        places = ", ".join(label(one.life) for one in tries)
        findings.failed.append(f"{name} took effect in {len(tries)} of its tries: on {places}")
    if not judged.witness.logs_starts:
        findings.unproved.append("no instance writes a line when a request starts")
    elif not losses.records.whole:
        findings.unproved.append(f"the records aren't whole: {losses.records.reason}")
    else:
        findings.good.append(f"{number(judged.witness.handled)} request IDs, each with one start record")
    return findings.verdict(
        "No request was handled twice.",
        f"{many(len(losses.duplicates) + len(twice), 'request was', 'requests were')} handled more than once.",
        "It isn't proved that no request was handled twice.",
        _advice(judged, bool(twice)),
    )


def _advice(judged: Judged, by_the_client: bool) -> str | None:
    if judged.losses.duplicates:
        return "let the front door never send a request again (HAProxy: retries 0; nginx: proxy_next_upstream off)"
    if by_the_client:
        return (
            "let the app do nothing for an idempotency key that it has seen, but answer as it did before (and let the"
            " client send one: x-swarmtest retries idempotency_key)"
        )
    return missing.to_trust(judged.losses, judged.timeline)
