"""The JSON document: what's in it is what the guide says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from swarmtest.lint.output.document import DOCUMENT_VERSION, document
from tests.lint.output.reports import CLEAN, REPORT

GUIDE = Path(__file__).resolve().parents[3] / "docs" / "lint.md"


def keys(value: Any, path: str = "") -> set[str]:
    """Each key by its path, as the guide writes it: ``stacks[].findings[].rule``."""
    if isinstance(value, dict):
        return {f"{path}{key}" for key in value} | {
            one for key, item in value.items() for one in keys(item, f"{path}{key}.")
        }
    if isinstance(value, list):
        return {one for item in value for one in keys(item, f"{path[:-1]}[].")}
    return set()


def test_every_key_is_in_the_guide_and_no_other() -> None:
    section = GUIDE.read_text().partition("\n## JSON\n")[2].partition("\n## ")[0]
    documented = set(re.findall(r"^\| `([\w.\[\]]+)`", section, re.MULTILINE))
    found = keys(document(REPORT, "1.2.3"))
    assert documented == {key for key in found if not key.startswith("stacks[].silenced[].")} | {
        "stacks[].silenced[].reason",
        "stacks[].silenced[].allowed_in_line",
    }
    assert f"`version` | {DOCUMENT_VERSION}" in section


def test_it_has_the_counts_and_the_exit_code() -> None:
    found = document(REPORT, "1.2.3")
    assert found["exit_code"] == 2
    assert found["counts"] == {"error": 1, "warning": 1, "info": 1, "unknown": 1, "silenced": 1, "unreadable": 1}
    assert document(CLEAN, "1.2.3")["counts"] == dict.fromkeys(found["counts"], 0)


def test_a_finding_has_its_place_its_sentences_and_its_edit() -> None:
    first, second, _ = document(REPORT, "1.2.3")["stacks"][0]["findings"]
    assert (first["line"], first["key"], first["edit"], first["certainty"]) == (None, [], None, "unknown")
    assert second == {
        "rule": "start-first-host-port",
        "severity": "error",
        "certainty": "certain",
        "file": "stacks/shop.yml",
        "line": 14,
        "key": ["services", "api", "deploy", "update_config", "order"],
        "effect": "the new task needs 8080/tcp on its node while the old one holds it, so it stays pending for ever",
        "fix": "write order: stop-first",
        "edit": {"key": ["services", "api", "deploy", "update_config", "order"], "value": "stop-first"},
        "page": None,
    }


def test_what_is_silenced_says_why_and_where() -> None:
    (silenced,) = document(REPORT, "1.2.3")["stacks"][0]["silenced"]
    assert (silenced["rule"], silenced["reason"], silenced["allowed_in_line"]) == (
        "start-first-host-port", "nine nodes", 13,
    )  # fmt: skip


def test_it_consists_of_json_alone() -> None:
    found = document(REPORT, "1.2.3")
    assert json.loads(json.dumps(found)) == found
