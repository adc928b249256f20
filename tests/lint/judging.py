"""Small files that Docker was asked about, and what it said: ``judged.jsonl``, a case a line.

``python -m tests.lint.judging`` asks the Docker CLI on PATH again, and writes its answers over the old ones. What
Compose said was recorded with docker-compose 2.26.1, which needs no engine for ``config`` either.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

RECORDED = Path(__file__).with_name("judged.jsonl")


@dataclass(frozen=True)
class Case:
    """One stack of one file or several.

    Attributes:
        legal: whether ``docker stack config`` takes it.
        said: the stack that it makes of it, else why it doesn't.
        compose: whether ``docker compose config`` takes it.
    """

    name: str
    files: tuple[str, ...]
    environment: Mapping[str, str]
    legal: bool
    said: str
    compose: bool

    def ask(self) -> Case:
        """The same with what the Docker CLI on PATH says now."""
        with tempfile.TemporaryDirectory() as folder:
            words = ["docker", "stack", "config"]
            for number, text in enumerate(self.files):
                path = Path(folder) / f"{number}.yml"
                path.write_bytes(text.encode())
                words += ["-c", str(path)]
            environment = {"PATH": os.environ["PATH"], "HOME": folder, **self.environment}
            done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
        legal = done.returncode == 0
        said = (done.stdout if legal else done.stderr.strip()).replace(folder, "/folder")
        return replace(self, legal=legal, said=said)


def recorded() -> list[Case]:
    """The cases as they're recorded."""
    found = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").split("\n") if line]
    return [Case(**{**each, "files": tuple(each["files"])}) for each in found]


def asked(cases: list[Case]) -> list[Case]:
    """The same cases with today's answers."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(Case.ask, cases))


def why_not() -> str | None:
    """Why Docker can't be asked here; None where it can."""
    if not shutil.which("docker"):
        return "there's no docker CLI here"
    done = subprocess.run(["docker", "stack", "config", "--help"], capture_output=True, text=True, check=False)
    return None if "docker stack config" in done.stdout else "this docker CLI has no `docker stack config` (23 has)"


def record(cases: list[Case]) -> None:
    """Writes cases down."""
    lines = [json.dumps(asdict(case), ensure_ascii=False) for case in cases]
    RECORDED.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if reason := why_not():
        sys.exit(reason)
    record(asked(recorded()))
