"""Holds every class of a run against the bank's ledger, which the classifier never sees."""

from __future__ import annotations

from tests.live.conftest import LiveRun

NEVER_BOOKED = frozenset({"refused", "unserved", "gateway", "cut"})
"""Classes that say that nobody committed."""
BOOKED = frozenset({"ok", "cut_finished"})
"""Classes that say that it was committed."""


def assert_every_class_is_right(run: LiveRun) -> None:
    """No request is called lost before its commit that the bank booked, nor the other way round."""
    losses = {event.id: event.loss for event in run.document.loss_events}
    sent = {request["id"] for request in run.folder.read_requests()}
    assert len(sent) == run.document.losses["sent"]
    lost = run.document.losses["sent"] - run.document.losses["ok"]
    assert len(losses) == lost, "each lost request is listed, or this test can't see it"
    wrong = []
    for request in _ordered_once(run):
        loss, booked = losses.get(request, "ok"), run.ledger[request] > 0
        if (loss in NEVER_BOOKED and booked) or (loss in BOOKED and not booked):
            wrong.append((request, loss, "booked" if booked else "not booked"))
    assert wrong == [], run.explain()
    twice = {request for request, count in run.ledger.items() if count > 1}
    assert len(twice) == run.document.losses["duplicates"], twice


def _ordered_once(run: LiveRun) -> list[str]:
    """Requests that are an order at the bank and were tried but once: tries are booked under the first one's ID."""
    rows = run.folder.read_requests()
    tried_again = {row["again"] for row in rows} | {row["id"] for row in rows if row["again"]}
    return [row["id"] for row in rows if row["path"].startswith("/work") and row["id"] not in tried_again]
