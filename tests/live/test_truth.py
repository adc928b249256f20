"""Every class is right for every request, by oracles that the classifier never sees."""

from __future__ import annotations

import pytest

from tests.live.conftest import Live
from tests.live.cutter import EXPECTED, Cutter
from tests.live.truth import assert_every_class_is_right

pytestmark = pytest.mark.live

CUTS = 20


def test_each_of_twenty_cuts_at_random_gets_its_class_and_no_other_request_does(live: Live) -> None:
    with Cutter(8080, count=CUTS, share=0.05, seed=7) as cutter:
        words = ("--scenario", "baseline", "--stop-at", "off", "--url", cutter.address)
        run = live.again("stacks/api.yml", *words)
    assert len(cutter.journal) == CUTS
    expected = {request: EXPECTED[point] for request, point in cutter.journal.items()}
    assert {event.id: event.loss for event in run.document.loss_events} == expected, run.explain()
    assert run.exit_code == 1
    assert_every_class_is_right(run)
