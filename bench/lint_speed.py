"""`swarmtest lint` on 1,000 stack files of 100 services each: every rule, and the text of what's found, on one core.

The services are of five kinds, as they stand in files that people run: a web service with all that a rollout wants, a
worker, a database, an agent on each node, and one that's hardly said anything of. No two files are the same.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from bench import Figure, Place, at_most

FILES, SERVICES = 1_000, 100

_WEB = """\
  web-{n}:
    image: registry.example.org/team/web-{n}:1.{file}
    environment:
      PORT: "8080"
      DATABASE_URL: postgres://db-{n}/web
    healthcheck:
      test: ["CMD", "/probe", "http://127.0.0.1:8080/health"]
      interval: 5s
      timeout: 2s
      retries: 3
      start_period: 20s
    stop_grace_period: ${{GRACE:-30s}}
    networks: [front]
    labels: {{traefik.enable: "true"}}
    deploy:
      replicas: 3
      update_config:
        order: start-first
        parallelism: 1
        monitor: 30s
        failure_action: rollback
      rollback_config: {{order: start-first}}
      resources:
        limits: {{cpus: "0.50", memory: 256M}}
"""
_WORKER = """\
  worker-{n}:
    image: registry.example.org/team/worker-{n}:1.{file}
    command: ["/app/worker", "--queue", "q{n}"]
    environment:
      - QUEUE=redis://queue/{n}
      - LOG_LEVEL=${{LOG_LEVEL:-info}}
    stop_grace_period: 2m
    networks: [front]
    deploy:
      replicas: 2
      update_config: {{order: stop-first, parallelism: 1, failure_action: rollback}}
      restart_policy: {{condition: any, delay: 5s}}
"""
_DATABASE = """\
  db-{n}:
    image: postgres:16
    volumes: ["data-{n}:/var/lib/postgresql/data"]
    environment: {{POSTGRES_PASSWORD_FILE: /run/secrets/password}}
    secrets: [password]
    healthcheck: {{test: ["CMD", "pg_isready"], interval: 5s, timeout: 3s, retries: 3}}
    stop_grace_period: 60s
    networks: [front]
    deploy:
      placement: {{constraints: ["node.labels.db == {n}"]}}
      update_config: {{order: stop-first}}
"""
_AGENT = """\
  agent-{n}:
    image: registry.example.org/ops/agent:{file}
    volumes:
      - {{type: bind, source: /var/log, target: /logs, read_only: true}}
    ports:
      - {{target: 9100, published: {port}, mode: host}}
    networks: [front]
    deploy: {{mode: global}}
"""
_PLAIN = """\
  tool-{n}:
    image: registry.example.org/team/tool:{file}
    networks: [front]
"""
_KINDS = (_WEB, _WORKER, _DATABASE, _AGENT, _PLAIN)


def stack(file: int, services: int = SERVICES) -> str:
    """One stack file as text."""
    made = [_KINDS[n % len(_KINDS)].format(n=n, file=file, port=20_000 + n) for n in range(services)]
    volumes = [f"  data-{n}: {{}}\n" for n in range(2, services, len(_KINDS))]
    head, tail = 'version: "3.8"\nservices:\n', "networks:\n  front: {driver: overlay}\n"
    return "".join([head, *made, tail, "secrets:\n  password: {external: true}\nvolumes:\n", *volumes])


def measure(place: Place) -> list[Figure]:
    """Lints the files once as a person would, and one small file alone."""
    names = [f"{number:04}.yml" for number in range(FILES)]
    for number, name in enumerate(names):
        (place.folder / name).write_text(stack(number))
    (place.folder / "small.yml").write_text(stack(0, services=1))
    all_files, lines = _processor_time(place, names)
    one, _ = _processor_time(place, ["small.yml"])
    return [
        at_most(f"{FILES:,} files of {SERVICES} services, {lines:,} lines of output", all_files, 20.0, "s"),
        Figure(f"… a file of {stack(0).count(chr(10)):,} lines", f"{all_files / FILES * 1000:.1f} ms"),
        at_most("one file of one service, with the start of Python", one, 0.5, "s"),
    ]


def _processor_time(place: Place, names: list[str]) -> tuple[float, int]:
    """Seconds that a process of its own takes, which is what one core needs for it; and its lines of output."""
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
