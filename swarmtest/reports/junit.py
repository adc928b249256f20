"""The report that CI systems draw: one case per check, red exactly where the exit code isn't 0.

A failed check is a ``failure``, one that isn't proved is ``skipped`` with its sentence, since it says
nothing against the stack. Skipped cases alone would look green, so a run that ends with another code
than 0 and has no failed check gets one more suite with one failing case that says why
(``docs/decisions/not-proved-in-junit.md``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TextIO
from xml.etree import ElementTree as ET

from swarmtest.reports import CheckEntry, Document, wording
from swarmtest.reports.acts import act_rows, kind_sentence, story_lines
from swarmtest.reports.lifespans import (
    UNSEEN,
    durations,
    full_label,
    grace_seconds,
    span_text,
    stopped,
    with_error,
    zero,
)

IDS_LISTED = 100
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(document: Document, out: TextIO) -> None:
    """Writes JUnit XML to ``out``, which has to be UTF-8."""
    root = ET.Element("testsuites", name="swarmtest")
    root.extend(suites(document))
    write(root, out)


def suites(document: Document) -> Iterator[ET.Element]:
    """The suites of one run: its checks, and its verdict where no failed check shows it."""
    yield _checks_suite(document)
    if document.exit_code != 0 and not any(check.outcome == "failed" for check in document.checks):
        yield _verdict_suite(document)


def write(root: ET.Element, out: TextIO) -> None:
    """Adds up the suites, and writes the file."""
    for total in ("tests", "failures", "errors", "skipped"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    ET.indent(root)
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(ET.tostring(root, encoding="unicode"))
    out.write("\n")


def _checks_suite(document: Document) -> ET.Element:
    outcomes = [check.outcome for check in document.checks]
    suite = _suite(document, f"swarmtest {document.scenario} {document.stack}", len(outcomes))
    suite.set("failures", str(outcomes.count("failed")))
    suite.set("skipped", str(len(outcomes) - outcomes.count("failed") - outcomes.count("passed")))
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(document).items():
        ET.SubElement(properties, "property", name=clean(name), value=clean(value))
    for check in document.checks:
        suite.append(_case(document, check))
    ET.SubElement(suite, "system-out").text = clean(_losses(document))
    return suite


def _verdict_suite(document: Document) -> ET.Element:
    suite = _suite(document, "swarmtest verdict", 1)
    suite.set("failures", "1")
    case = ET.SubElement(suite, "testcase", name="run_proves_something", classname="swarmtest.verdict", time="0")
    message = f"{wording.outcome_words(document.outcome)}, exit code {document.exit_code}"
    unproved = [f"{check.name}: {check.sentence}" for check in document.checks if check.outcome != "passed"]
    failure = ET.SubElement(case, "failure", type=document.outcome, message=clean(message))
    failure.text = clean("\n".join([*unproved, *document.notes, *document.advice]))
    return suite


def _suite(document: Document, name: str, tests: int) -> ET.Element:
    suite = ET.Element("testsuite", name=clean(name), tests=str(tests), failures="0", errors="0", skipped="0")
    suite.set("time", f"{document.seconds or 0:.3f}")
    if document.start is not None:
        suite.set("timestamp", datetime.fromtimestamp(document.start, UTC).isoformat(timespec="seconds"))
    return suite


def _case(document: Document, check: CheckEntry) -> ET.Element:
    case = ET.Element("testcase", name=check.name, classname=f"swarmtest.{document.scenario}", time="0")
    if check.outcome == "passed":
        return case
    advice = [f"What to do: {check.advice}"] if check.advice else []
    if check.outcome == "failed":
        said = ET.SubElement(case, "failure", type="failed", message=clean(check.sentence))
    else:
        said = ET.SubElement(case, "skipped", message=clean(f"not proved: {check.sentence}"))
    said.text = clean("\n".join([check.sentence, *check.evidence, *advice]))
    return case


def _properties(document: Document) -> dict[str, str]:
    engine = {f"engine.{name}": value for name, value in wording.flat(document.engine).items()}
    return {
        "run": document.run,
        "outcome": document.outcome,
        "exit_code": str(document.exit_code),
        "stack": document.stack,
        "scenario": document.scenario,
        "kind": document.kind,
        **engine,
        **{f"settings.{name}": value for name, value in wording.flat(document.settings).items()},
    }


def _losses(document: Document) -> str:
    lines = [wording.proof_sentence(document), kind_sentence(document), *story_lines(document)]
    for row in act_rows(document):
        at = f"{row.at} s: " if row.at != UNSEEN else ""
        lines.append(f"{at}{row.name} of {row.whom}: {row.result}")
    for loss in wording.present_classes(document):
        where = wording.where_lost(document, loss)
        lines.append(f"{loss} {document.losses[loss]}: {wording.meaning(document, loss)}" + f" ({where})" * bool(where))
    if document.losses.get("duplicates"):
        lines.append(f"duplicates {document.losses['duplicates']}: request IDs that were handled twice")
    for event in document.loss_events[:IDS_LISTED]:
        at = "" if event.sent is None else f" sent at {with_error(event.sent - zero(document), 0)} s,"
        lines.append(f"{event.id} {event.loss},{at} {full_label(event.instance, document)}: {event.why}")
    if (rest := len(document.loss_events) + document.loss_events_left_out - IDS_LISTED) > 0:
        lines.append(wording.more(document, rest))
    for instance in stopped(document):
        span = durations(instance, grace_seconds(document))
        lines.append(
            f"{full_label(instance.id, document)}: propagation {span_text(span.propagation)},"
            f" drain {span_text(span.drain)}, stop {span_text(span.stop)}, slack {span_text(span.slack)} (seconds)"
        )
    return "\n".join(lines)


def clean(text: str) -> str:
    """Without what XML can't hold: logs of broken apps are full of control characters."""
    return NOT_XML.sub("?", text)
