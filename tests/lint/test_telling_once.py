from __future__ import annotations

from pathlib import Path

from swarmtest.lint import Target
from swarmtest.lint.linting import lint

ANCHORED = """x-hard: &hard
  security_opt: [no-new-privileges:true]
services:
  web:
    <<: *hard
    image: demo/web:1
  api:
    <<: *hard
    image: demo/api:1
"""


def told(tmp_path: Path, text: str, rule: str) -> list[tuple[int | None, tuple[str, ...]]]:
    path = tmp_path / "stack.yml"
    path.write_text(text, encoding="utf-8")
    return [(each.place.line, each.place.key) for each in lint([path], Target.SWARM, {}).findings if each.rule == rule]


def test_what_several_services_have_from_one_anchor_is_told_once(tmp_path: Path) -> None:
    """137andCo/opusheart ``docker-stack.yml``: four services with one hardening block."""
    assert told(tmp_path, ANCHORED, "ignored-by-swarm") == [(2, ("services", "web", "security_opt"))]


def test_what_two_services_say_on_one_line_is_told_of_each(tmp_path: Path) -> None:
    text = "services: {web: {image: demo/web:1, privileged: true}, api: {image: demo/api:1, privileged: true}}\n"
    assert len(told(tmp_path, text, "ignored-by-swarm")) == 2


def test_a_port_that_is_there_three_times_is_told_once(tmp_path: Path) -> None:
    text = "services:\n  web:\n    image: demo/web:1\n    ports: ['8080:80', '8080:81', '8080:82']\n"
    assert len(told(tmp_path, text, "port-published-twice")) == 1
