"""Each rule has a page and each page a rule; the pages are a part of the package."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from swarmtest.errors import UsageError
from swarmtest.lint import pages
from swarmtest.lint.linting import all_rules

ROOT = Path(__file__).resolve().parents[2]
RULES = {rule.name: rule for rule in all_rules()}


def test_each_rule_has_a_page_and_each_page_a_rule() -> None:
    assert {page.stem for page in (ROOT / "docs" / "lint").glob("*.md")} == set(RULES)


def test_each_rule_has_a_name_of_its_own() -> None:
    assert len(RULES) == len(all_rules())


@pytest.mark.parametrize("name", RULES)
def test_a_name_is_a_few_words_and_a_summary_one_line(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+){0,4}", name)
    summary = RULES[name].summary
    assert summary
    assert "\n" not in summary
    assert not summary.endswith(".")


@pytest.mark.parametrize("name", RULES)
def test_a_page_begins_with_the_name_and_has_what_is_wrong_and_what_is_right(name: str) -> None:
    text = pages.page_text(name)
    assert text.startswith(f"# {name}\n\n")
    assert text.count("```yaml\n") >= 1
    assert 15 <= text.count("\n") <= 60


def test_an_unknown_rule_is_answered_with_the_near_names() -> None:
    with pytest.raises(UsageError, match="did you mean allow-unused"):
        pages.explain("allow-unusd", list(RULES))


def test_without_an_address_a_page_is_found_by_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGES_URL", "")
    assert pages.page_url("a-rule") == ""
    assert pages.page_hint("a-rule") == "swarmtest lint --explain a-rule"


def test_with_an_address_a_page_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGES_URL", "https://docs.example/lint/")
    assert pages.page_hint("a-rule") == "https://docs.example/lint/a-rule.md"


def test_the_pages_are_put_into_the_wheel_where_they_are_looked_for() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    (place,) = wheel["force-include"].items()
    assert place == ("docs/lint", "swarmtest/lint/docs")
    assert pages.folder() in (ROOT / "docs" / "lint", ROOT / "swarmtest" / "lint" / "docs")
