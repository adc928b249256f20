"""The built wheel is all that a user with Docker needs."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.live.conftest import ROOT

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=180)
    (found,) = out.glob("swarmtest-*.whl")
    return found


def test_the_wheel_holds_the_package_and_nothing_beside_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {"swarmtest/locustfile.py", "swarmtest/py.typed", "swarmtest/cli/run.py"} <= set(names)
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"swarmtest"}


def test_the_installed_command_works_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(wheel)]
    subprocess.run(install, check=True, capture_output=True, text=True, timeout=180)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    for words in (["list"], ["--version"], ["run", "--help"]):
        done = subprocess.run(
            [sys.executable, str(site / "bin" / "swarmtest"), *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    where = [sys.executable, "-c", "import swarmtest.traffic.process as p; print(p.LOCUSTFILE.exists(), p.LOCUSTFILE)"]
    done = subprocess.run(where, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"True {site}")
