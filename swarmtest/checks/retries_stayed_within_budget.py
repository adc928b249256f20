"""The client's retries hid no loss, had a cause each, and stayed within their budget.

Retries are a policy of the stack file, off by default. Where something was lost and sent again, it's seen here that
the first loss is on record, that nothing was sent again that had been answered, and that no ten seconds had more
retries than the budget allows: an outage must not become a storm of them.
"""

from __future__ import annotations

from swarmtest.checks import Findings, Judged, Verdict
from swarmtest.losses.retries import Retried, line_of, read_retries
from swarmtest.losses.wording import few, many, number

NO_POLICY = (
    "let a kind of traffic try again, as your clients do (x-swarmtest traffic: retries: {budget: 10%, idempotency_key:"
    " true}), and hurt an instance under it (--scenario kill)"
)
NOTHING_LOST = "let the run lose something that's worth another try (--scenario kill): retries show only then"


def check(judged: Judged) -> Verdict:
    """Judges each kind that has a policy."""
    findings = Findings()
    kinds = read_retries(judged.losses, judged.requests, judged.promises)
    for retried in kinds:
        _judge(retried, findings)
    again = sum(retried.again for retried in kinds)
    requests = sum(retried.requests for retried in kinds)
    return findings.verdict(
        f"Retries hid no loss and stayed within their budget: {many(again, 'retry', 'retries')}"
        f" for {number(requests)} requests.",
        "Retries didn't keep to their policy.",
        "No retry was seen, so the budget wasn't tried." if kinds else "No kind of traffic has retries.",
        NOTHING_LOST if kinds else NO_POLICY,
    )


def _judge(retried: Retried, findings: Findings) -> None:
    if retried.without_cause:
        findings.failed.append(
            f"{retried.kind}: {many(len(retried.without_cause), 'try', 'tries')} of what had been answered, or of which"
            f" no first try is on record: {few(retried.without_cause)}"
        )
    if not retried.within_budget:
        again, requests = retried.most
        findings.failed.append(
            f"{retried.kind}: {number(again)} retries for {number(requests)} requests within 10 s,"
            f" and the budget is {retried.policy.budget * 100:g} %"
        )
    if retried.again:
        again, requests = retried.most
        most = f"{number(again)} for {number(requests)} requests"
        findings.good.append(
            f"{line_of(retried)}; at most {most} within 10 s, of a budget of {retried.policy.budget * 100:g} %"
        )
    else:
        findings.unproved.append(f"{line_of(retried)}; nothing was sent again")
