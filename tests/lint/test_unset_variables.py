"""What a variable without a value has a part in can't be known; what holds for any value can."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.lint import Target
from swarmtest.lint.linting import lint


def refused(tmp_path: Path, text: str, target: Target = Target.SWARM) -> list[str]:
    path = tmp_path / "stack.yml"
    path.write_text(text, encoding="utf-8")
    found = lint([path], target, {}).findings
    return [each.effect for each in found if each.rule == "docker-refuses"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("name: shop-${STAGE}\nservices: {web: {image: demo/web:1}}\n", "name isn't a key"),
        ("services: {web: {image: demo/web:1, ports: '${PORTS}'}}\n", "ports must be a list"),
        ("services: {web: {image: demo/web:1, deploy: {copies: '${N}'}}}\n", "copies isn't a key"),
        ("services: {web: {image: demo/web:1, networks: {a: '${A}'}}}\nnetworks: {a: {}}\n", "networks.a must be a"),
        ("services: {web: '${WEB}'}\n", "services.web must be a mapping"),
    ],
)
def test_what_no_value_makes_legal_is_refused_though_the_variable_is_unset(
    tmp_path: Path, text: str, named: str
) -> None:
    """compose-spec/compose-go ``cli/testdata/simple/compose-name.yaml`` has the first as a file for Compose."""
    assert any(named in effect for effect in refused(tmp_path, text)), refused(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "services: {web: {image: '${IMAGE}', deploy: {replicas: '${N}'}}}\n",
        "services: {web: {image: demo/web:1, stop_grace_period: '${GRACE}', ports: ['${PORT}:80']}}\n",
        "services: {web: {image: demo/web:1, deploy: {update_config: {order: '${ORDER}'}}}}\n",
    ],
)
def test_what_a_value_can_make_legal_is_not_called_refused(tmp_path: Path, text: str) -> None:
    assert refused(tmp_path, text) == []


@pytest.mark.parametrize("image", ["${ID:?say which}", "${ID}"])
def test_an_image_that_is_a_variable_is_one(tmp_path: Path, image: str) -> None:
    """docker/compose ``pkg/e2e/fixtures/simple-composefile/id.yaml``."""
    for target in Target:
        assert refused(tmp_path, f"services: {{web: {{image: '{image}'}}}}\n", target) == []


def test_a_version_is_looked_at_before_variables_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "stack.yml"
    path.write_text("version: '${V:-3.8}'\nservices: {web: {image: '${IMAGE:-demo/web:1}'}}\n", encoding="utf-8")
    (found,) = (each for each in lint([path], Target.SWARM, {}).findings if each.rule == "docker-refuses-version")
    assert "version ${V:-3.8} is no version of stack files" in found.effect
