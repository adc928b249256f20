"""SARIF: valid by the official schema, and as GitHub's code scanning takes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sarif_kit import validation_errors

from swarmtest.lint import Finding, Place, Severity, Target
from swarmtest.lint.linting import Linted, all_rules
from swarmtest.lint.output import Report
from swarmtest.lint.output.sarif import sarif
from tests.lint.output.reports import CLEAN, HOST_PORT, REPORT, RULES, SHORT_GRACE


def run_of(report: Report) -> dict[str, Any]:
    (run,) = sarif(report, RULES, "1.2.3")["runs"]
    return dict(run)


def of(*findings: Finding) -> list[dict[str, Any]]:
    stack = Linted((Path("a.yml"),), Target.SWARM, findings)
    return list(run_of(Report((stack,), Target.SWARM, Severity.ERROR))["results"])


def fingerprints(*findings: Finding) -> list[str]:
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in of(*findings)]


def at(finding: Finding, line: int | None = 1, key: str = "a", file: str = "a.yml") -> Finding:
    return replace(finding, place=Place(Path(file), line, (key,)))


@pytest.mark.parametrize("report", [REPORT, CLEAN])
@pytest.mark.parametrize("address", ["", "https://docs.example/lint/"])
def test_it_is_valid_by_the_official_schema(report: Report, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swarmtest.lint.pages.PAGES_URL", address)
    assert validation_errors(sarif(report, RULES, "1.2.3")) == []


def test_the_schema_would_tell() -> None:
    assert validation_errors({"version": "2.1.0", "runs": [{"results": [{}]}]}) != []


def test_with_all_rules_and_their_pages_it_is_valid() -> None:
    assert validation_errors(sarif(CLEAN, all_rules(), "1.2.3")) == []


def test_each_result_points_at_its_rule() -> None:
    run = run_of(REPORT)
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_severities_are_levels() -> None:
    assert [result["level"] for result in run_of(REPORT)["results"]] == ["note", "error", "warning"]


def test_a_rule_has_its_page_and_its_address_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = run_of(REPORT)["tool"]["driver"]["rules"]
    assert "helpUri" not in rules[0]
    monkeypatch.setattr("swarmtest.lint.pages.PAGES_URL", "https://docs.example/lint/")
    assert run_of(REPORT)["tool"]["driver"]["rules"][0]["helpUri"] == "https://docs.example/lint/short-grace.md"
    (unused,) = (rule for rule in sarif(CLEAN, all_rules(), "1")["runs"][0]["tool"]["driver"]["rules"]
                 if rule["id"] == "allow-unused")  # fmt: skip
    assert unused["help"]["markdown"].startswith("# allow-unused\n")


def test_two_findings_of_one_rule_are_told_apart_by_file_by_key_and_by_number() -> None:
    found = fingerprints(
        at(SHORT_GRACE), at(SHORT_GRACE, key="b"), at(SHORT_GRACE, file="b.yml"), at(SHORT_GRACE), at(HOST_PORT)
    )
    assert len(set(found)) == 5


def test_a_finding_that_moves_to_another_line_stays_the_same() -> None:
    assert fingerprints(at(SHORT_GRACE, line=1)) == fingerprints(at(SHORT_GRACE, line=100))


def test_a_finding_stays_the_same_whatever_is_found_in_other_files() -> None:
    assert fingerprints(at(SHORT_GRACE, file="a.yml"), at(SHORT_GRACE, file="b.yml"))[1:] == fingerprints(
        at(SHORT_GRACE, file="b.yml")
    )


def test_a_finding_without_a_line_is_at_the_first() -> None:
    (result,) = of(at(SHORT_GRACE, line=None))
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


@pytest.mark.parametrize(
    ("file", "uri"), [("stacks/a b.yml", "stacks/a%20b.yml"), ("é.yml", "%C3%A9.yml"), ("/elsewhere/a.yml", "file:///elsewhere/a.yml")]
)  # fmt: skip
def test_a_file_is_named_as_seen_from_the_folder_and_escaped(file: str, uri: str) -> None:
    (result,) = of(at(SHORT_GRACE, file=file))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_a_whole_path_below_the_folder_is_shortened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (result,) = of(at(SHORT_GRACE, file=str(tmp_path / "stacks" / "a.yml")))
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "stacks/a.yml"


def test_what_is_silenced_is_left_out_since_github_would_show_it() -> None:
    assert len(run_of(REPORT)["results"]) == 3  # github/codeql-action #1230


def test_a_file_that_cannot_be_read_is_no_result_but_told() -> None:
    (invocation,) = run_of(REPORT)["invocations"]
    assert invocation["executionSuccessful"] is False
    (told,) = invocation["toolExecutionNotifications"]
    assert told["message"]["text"] == "can't be read: not valid YAML: mapping values are not allowed here"
    assert told["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}
    assert run_of(CLEAN)["invocations"][0]["executionSuccessful"] is True


def test_what_broke_is_told_too() -> None:
    stack = Linted((Path("a.yml"),), Target.SWARM, broken=("the rule x",))
    report = Report((stack,), Target.SWARM, Severity.ERROR)
    (told,) = run_of(report)["invocations"][0]["toolExecutionNotifications"]
    assert "swarmtest itself broke on a.yml: the rule x" in told["message"]["text"]
    assert validation_errors(sarif(report, RULES, "1")) == []
