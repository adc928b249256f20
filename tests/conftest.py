"""How all tests are run: what takes long on a busy machine is no failure of what's tested."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("CI", settings.get_profile("any machine"), derandomize=True, database=None)
# By hand each run tries other examples; what only a rare one shows is no fault of the change that CI looks at.
settings.load_profile("CI" if "CI" in os.environ else "any machine")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leaves all that's imported and collected out of the collector's rounds, which were a sixth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
