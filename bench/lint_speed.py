"""Linting 1,000 stack files of 100 services each, with all rules and the text of what they find, on one core.

It's a process as a person starts it; its processor time counts, which is what one core needs for it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from bench import Figure, Place, at_most

FILES, SERVICES = 1_000, 100

SERVICE = """\
  app{n}:
    image: registry.example/shop/app{n}:1.{n}
    environment:
      WORKERS: "4"
      DATABASE_URL: postgres://db/app{n}
    healthcheck:
      test: [CMD, curl, -f, http://localhost:8080/health]
      interval: 5s
      timeout: 2s
    stop_grace_period: 30s
    networks: [front, back]
    ports: ["{port}:8080"]
    deploy:
      replicas: 3
      update_config: {{order: start-first, monitor: 30s, failure_action: rollback}}
      resources:
        limits: {{memory: 256M}}
"""


def measure(place: Place) -> list[Figure]:
    """Lints the files once, and one of them alone."""
    text = "services:\n" + "".join(SERVICE.format(n=n, port=8000 + n) for n in range(SERVICES))
    text += "networks: {front: {}, back: {}}\n"
    names = [f"{number:04}.yml" for number in range(FILES)]
    for name in names:
        (place.folder / name).write_text(text)
    (place.folder / "small.yml").write_text("services:\n" + SERVICE.format(n=1, port=8080))
    all_files, lines = _processor_time(place, names)
    one, _ = _processor_time(place, ["small.yml"])
    return [
        at_most(f"{FILES:,} files of {SERVICES} services, {lines:,} lines of output", all_files, 20.0, "s"),
        at_most("one file of one service, with the start of Python", one, 0.5, "s"),
    ]


def _processor_time(place: Place, names: list[str]) -> tuple[float, int]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "swarmtest", "lint", *names]
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    ended = subprocess.run(
        command, cwd=place.folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert ended.returncode in (0, 1), ended.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, ended.stdout.count("\n")
