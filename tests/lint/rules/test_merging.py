from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.lint import Finding, Target
from swarmtest.lint.linting import lint

BOTH = """\
services:
  web:
    image: demo/web:1
    ports:
      - {target: 443, published: 443, protocol: udp, mode: host}
      - {target: 443, published: 443, protocol: tcp, mode: host}
"""


def lost(*texts: str, target: Target = Target.SWARM) -> list[Finding]:
    paths = [Path(f"{number}.yml") for number in range(len(texts))]
    found = lint(paths, target, {}, dict(zip(paths, texts, strict=True))).findings
    return [each for each in found if each.rule == "port-lost-in-merging"]


def test_a_second_file_that_says_nothing_of_ports_takes_one_away() -> None:
    (found,) = lost(BOTH, "services: {web: {stop_grace_period: 40s}}\n")
    assert "443/tcp stays, and 443/udp isn't published" in found.effect
    assert (found.place.file, found.place.line) == (Path("0.yml"), 4)


def test_ports_with_no_number_outside_are_one() -> None:
    (found,) = lost("services: {web: {image: demo/web:1, ports: ['80', '81']}}\n", "services: {web: {init: true}}\n")
    assert "for 81/tcp stays, and a port of the engine's choice for 80/tcp isn't published" in found.effect


@pytest.mark.parametrize(
    "texts",
    [
        (BOTH,),
        (BOTH, "services: {api: {image: demo/api:1}}\n"),
        (
            BOTH.replace("published: 443, protocol: udp", "published: 444, protocol: udp"),
            "services: {web: {init: true}}\n",
        ),
        ("services: {web: {image: demo/web:1, ports: ['80:80']}}\n", "services: {web: {ports: ['80:8080']}}\n"),
        ("services: {web: {image: demo/web:1, ports: ['${P}:80', 'x']}}\n", "services: {web: {ports: 5}}\n"),
    ],
)
def test_nothing_is_lost(texts: tuple[str, ...]) -> None:
    assert lost(*texts) == []


def test_compose_tells_them_apart() -> None:
    assert lost(BOTH, "services: {web: {init: true}}\n", target=Target.COMPOSE) == []
