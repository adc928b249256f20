"""The Docker CLI is asked of every recorded case what it says today."""

from __future__ import annotations

import pytest

from tests.lint.judging import recorded, why_not
from tests.lint.test_judged import changed

pytestmark = pytest.mark.live


@pytest.mark.skipif(why_not() is not None, reason=why_not() or "")
def test_docker_says_today_what_is_recorded() -> None:
    assert changed(recorded()) == []
