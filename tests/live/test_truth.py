"""Every class is right for every request, by oracles that the classifier never sees."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.live.conftest import ROOT, Live
from tests.live.cutter import EXPECTED, Cutter
from tests.live.truth import assert_every_class_is_right

pytestmark = pytest.mark.live

CUTS = 20


def orders_only(folder: Path) -> str:
    """The reference with its orders by HTTP/1.1 and nothing else, each sent once: the cutter knows no more."""
    text = (ROOT / "stacks/api.yml").read_text()
    text = re.sub(r"(?m)^ +(streams|up|down|chat|feed): \{protocol: .*\n", "", text)
    text = text.replace(", retries: {budget: 10%, idempotency_key: true}", "")
    assert "protocol: h2" not in text
    assert "budget" not in text
    text = text.replace("file: edge/haproxy.cfg", f"file: {ROOT / 'stacks/edge/haproxy.cfg'}")
    stack = folder / "orders.yml"
    stack.write_text(text)
    return str(stack)


def test_each_of_twenty_cuts_at_random_gets_its_class_and_no_other_request_does(live: Live, tmp_path: Path) -> None:
    stack = orders_only(tmp_path)
    with Cutter(8080, count=CUTS, share=0.05, seed=7) as cutter:
        words = ("--scenario", "baseline", "--stop-at", "off", "--url", cutter.address)
        run = live.again(stack, *words)
    assert len(cutter.journal) == CUTS
    expected = {request: EXPECTED[point] for request, point in cutter.journal.items()}
    assert {event.id: event.loss for event in run.document.loss_events} == expected, run.explain()
    assert run.exit_code == 1
    assert_every_class_is_right(run)
