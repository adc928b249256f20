"""A folder is judged the same with no engine at hand."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.live.conftest import Live, swarmtest_command

pytestmark = pytest.mark.live


def test_judging_without_an_engine_gives_the_same_bytes(live: Live, tmp_path: Path) -> None:
    run = live.once("stacks/api.yml")
    copy = tmp_path / run.folder.path.name
    shutil.copytree(run.folder.path, copy)
    (copy / "verdicts.json").unlink()
    nowhere = {**os.environ, "DOCKER_HOST": "tcp://127.0.0.1:1", "PATH": "/nonexistent"}
    judged = subprocess.run(
        swarmtest_command("judge", str(copy)), env=nowhere, capture_output=True, text=True, check=False
    )
    assert judged.returncode == run.exit_code, judged.stderr
    assert (copy / "verdicts.json").read_bytes() == run.folder.verdicts.read_bytes()
