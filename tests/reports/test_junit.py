"""JUnit, as a CI system reads it."""

from __future__ import annotations

import io
from collections.abc import Callable
from xml.etree import ElementTree as ET

import msgspec
import pytest

from swarmtest.reports import CheckEntry, Document, junit

Runs = dict[str, Callable[[], Document]]


def text_of(document: Document) -> str:
    out = io.StringIO()
    junit.render(document, out)
    return out.getvalue()


def parsed(document: Document) -> ET.Element:
    return ET.fromstring(text_of(document).split("\n", 1)[1])


def checks_suite(document: Document) -> ET.Element:
    suite = parsed(document).find("testsuite")
    assert suite is not None
    return suite


def test_a_run_looks_as_it_did(run_name: str, document: Document, golden: Callable[[str, str], None]) -> None:
    golden(f"junit-{run_name}.xml", text_of(document))


def test_there_is_one_case_for_each_check(document: Document) -> None:
    names = [case.get("name") for case in checks_suite(document).iter("testcase")]
    assert names == [check.name for check in document.checks]


def test_a_failed_check_is_a_failure_with_evidence_and_advice(runs: Runs) -> None:
    case = checks_suite(runs["failed"]()).find("testcase[@name='exited_within_grace']")
    assert case is not None
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "api.3 was killed by SIGKILL at the end of its grace of 30 s."
    assert failure.text is not None
    assert "SIGKILL +66.12 s" in failure.text
    assert "What to do: make stop_grace_period longer" in failure.text


def test_a_check_that_is_not_proved_is_skipped_and_says_so(runs: Runs) -> None:
    skipped = checks_suite(runs["not_proved"]()).findall("testcase/skipped")
    assert len(skipped) == 3
    assert all((each.get("message") or "").startswith("not proved: ") for each in skipped)


def test_the_file_is_red_exactly_where_the_exit_code_is_not_0(document: Document) -> None:
    root = parsed(document)
    assert (len(root.findall(".//failure")) > 0) == (document.exit_code != 0)
    assert root.get("failures") == str(len(root.findall(".//failure")))
    assert root.get("tests") == str(len(root.findall(".//testcase")))


def test_an_interrupted_run_is_not_green_though_all_its_checks_passed(runs: Runs) -> None:
    document = msgspec.structs.replace(runs["passed"](), outcome="interrupted", exit_code=130)
    failure = parsed(document).find(".//testcase[@name='run_proves_something']/failure")
    assert failure is not None
    assert failure.get("message") == "interrupted, exit code 130"


def test_settings_are_properties(runs: Runs) -> None:
    properties = {p.get("name"): p.get("value") for p in checks_suite(runs["passed"]()).iter("property")}
    assert properties["settings.grace_seconds"] == "30.0"
    assert properties["settings.update.order"] == "start-first"
    assert properties["settings.traffic.kinds.long.milliseconds"] == "4000, 6000"
    assert properties["engine.version"] == "20.10.24"


def test_losses_are_in_the_output_with_their_ids(runs: Runs) -> None:
    output = checks_suite(runs["failed"]()).findtext("system-out") or ""
    assert "11 lost of 2,143 requests (0.51 %); 2 of 3 stops with a loss." in output
    assert "5f0c0011-8d7e-4a51-9b3c-2f6e7d8a9b0c gateway" in output


@pytest.mark.parametrize("bad", ["\x00", "\x1b[31m", "\ud800", "]]>", "<b>&"])
def test_whatever_an_app_logs_the_file_stays_xml(runs: Runs, bad: str) -> None:
    check = CheckEntry("kept_capacity", "failed", f"a{bad}b", [bad])
    document = msgspec.structs.replace(runs["passed"](), checks=[check], exit_code=1)
    text = text_of(document)
    text.encode()
    ET.fromstring(text.split("\n", 1)[1])
