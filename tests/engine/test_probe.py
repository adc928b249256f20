"""The name probe's script, run by this machine's own shell with a name service of the test's."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from swarmtest.engine.probe import probe_service


def lines_of(folder: Path, shell: list[str], programs: dict[str, str]) -> list[dict[str, Any]]:
    """What the probe prints in a second and a half, where the image has only these programs and the usual ones."""
    for name in ("cut", "sort", "tr", "sed", "sleep", "date"):
        if (found := shutil.which(name)) is not None:
            (folder / name).symlink_to(found)
    for name, script in programs.items():
        (folder / name).unlink(missing_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    told = probe_service("demo", "api")
    environment = {name: text.replace("$$", "$") for name, text in told["environment"].items()}
    script = told["entrypoint"][-1].replace("$$", "$")
    child = subprocess.Popen(
        [*shell, "-c", script], env={"PATH": str(folder), **environment}, stdout=subprocess.PIPE, text=True
    )
    time.sleep(2.5)
    child.kill()
    said, _ = child.communicate()
    return [json.loads(line) for line in said.splitlines()]


@pytest.mark.parametrize("date", ["exact", "of busybox"])
def test_without_python_the_shell_watches_the_names(tmp_path: Path, date: str) -> None:
    """Alpine's date takes %N for a text, which would make each line something else than JSON."""
    programs = {"getent": "echo 10.0.1.6 STREAM tasks.api; echo 10.0.1.5 STREAM; echo 10.0.1.5 DGRAM"}
    if date == "of busybox":
        programs["date"] = f'[ "$1" = +%s ] && exec {shutil.which("date")} +%s; echo "$({shutil.which("date")} +%s).%N"'
    before = time.time()
    (line,) = lines_of(tmp_path, ["/bin/sh"], programs)
    assert line["addresses"] == ["10.0.1.5", "10.0.1.6"]
    assert (line["v"], line["event"], line["name"]) == (1, "names", "tasks.api")
    assert before - 0.1 < line["since"] <= line["t"] < before + 2.4
    assert line["t"] - line["since"] < 0.5
