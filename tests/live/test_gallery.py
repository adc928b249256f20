"""Each stack of the gallery fails a rollout as its header says, with the classes that it names, and with no others.

Once for each mechanism always; all of them, and five times, with the long repeats.
"""

from __future__ import annotations

import pytest

from tests.live.conftest import ROOT, Live
from tests.live.headers import assert_as_promised, read_header, stacks
from tests.live.truth import assert_every_class_is_right

pytestmark = pytest.mark.live

GALLERY = [path for path in stacks("broken", "doors") if read_header(ROOT / path).scenario is None]
LATER = (
    "stacks/broken/accept-queue.yml",
    "stacks/broken/destroys-sockets.yml",
    "stacks/broken/no-health-check.yml",
    "stacks/broken/ready-before-warm.yml",
    "stacks/broken/slow-when-new.yml",
    "stacks/broken/stop-first-one-replica.yml",
    "stacks/broken/websockets-cut-without-a-close-frame.yml",
    "stacks/doors/dns-each-15-seconds.yml",
    "stacks/doors/dns-each-half-second.yml",
)
"""Those of which another one shows the mechanism, or nearly so: they're run with the long repeats only."""
REPEATS = 5


@pytest.mark.parametrize("path", [path for path in GALLERY if path not in LATER])
def test_a_broken_stack_fails_as_its_header_says(live: Live, path: str) -> None:
    run = live.once(path)
    assert_as_promised(run, read_header(ROOT / path))
    assert_every_class_is_right(run)


@pytest.mark.repeats
@pytest.mark.parametrize("path", GALLERY)
def test_five_runs_of_a_broken_stack_agree(live: Live, path: str) -> None:
    header = read_header(ROOT / path)
    for _ in range(REPEATS):
        run = live.again(path)
        assert_as_promised(run, header)
        assert_every_class_is_right(run)
