"""The report of a series that CI systems draw: a suite for each run, and one for what can't be told by a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO
from xml.etree import ElementTree as ET

from swarmtest.reports import Document
from swarmtest.reports.junit import clean, suites, write
from swarmtest.reports.series import ChecklistLine, Member, Series, tables


def render(series: Series, documents: Sequence[Document | None], out: TextIO) -> None:
    """Writes JUnit XML to ``out``, which has to be UTF-8; it's red exactly where the exit code isn't 0."""
    root = ET.Element("testsuites", name="swarmtest")
    for member, document in zip(series.members, documents, strict=True):
        root.extend(_of_run(series, member, document))
    if tables.has_checklist(series):
        root.append(_checklist(series))
    if series.exit_code != 0 and not [*root.iter("failure"), *root.iter("error")]:
        root.append(_verdict(series))
    write(root, out)


def _of_run(series: Series, member: Member, document: Document | None) -> Iterator[ET.Element]:
    """A run's own suites; one that has no end of its own, or no folder, is told by a case."""
    name = f"{tables.run_name(member, series)} {series.stack}"
    if document is not None:
        for suite in suites(document):
            if series.repeat > 1:
                suite.set("name", clean(f"{suite.get('name')} ({member.repeat} of {series.repeat})"))
            yield suite
    if member.ended == "finished":
        return
    words = tables.verdict(member)[1]
    suite = ET.Element("testsuite", name=clean(f"swarmtest {name}: {words}"), tests="1", failures="0")
    case = ET.SubElement(suite, "testcase", name="run_came_to_its_end", classname=f"swarmtest.{member.scenario}")
    case.set("time", "0")
    begun = member.ended is not None or member.folder is not None
    said = ET.SubElement(case, "error" if begun else "skipped", message=clean(member.error or words))
    said.text = clean(member.error or words)
    suite.set("errors", "1" if begun else "0")
    suite.set("skipped", "0" if begun else "1")
    yield suite


def _checklist(series: Series) -> ET.Element:
    """The checklist; a line that isn't passed is a failure only where it weighs and has failed."""
    suite = ET.Element("testsuite", name="swarmtest checklist", tests=str(len(series.checklist)), errors="0")
    failures = 0
    for line in series.checklist:
        case = ET.SubElement(
            suite, "testcase", name=clean(f"{line.number} {line.text}"), classname="swarmtest.checklist", time="0"
        )
        if line.outcome == "passed":
            continue
        failed = line.outcome == "failed" and series.checklist_weighs
        failures += failed
        said = ET.SubElement(case, "failure" if failed else "skipped", message=clean(_words(line)))
        said.text = clean("\n".join([line.sentence, *line.evidence]))
    suite.set("failures", str(failures))
    skipped = sum(line.outcome != "passed" for line in series.checklist) - failures
    suite.set("skipped", str(skipped))
    return suite


def _words(line: ChecklistLine) -> str:
    return line.sentence if line.outcome == "failed" else f"not proved: {line.sentence}"


def _verdict(series: Series) -> ET.Element:
    suite = ET.Element("testsuite", name="swarmtest verdict", tests="1", failures="1", errors="0", skipped="0")
    case = ET.SubElement(suite, "testcase", name="series_proves_something", classname="swarmtest.verdict", time="0")
    words = f"{series.outcome.replace('_', ' ')}, exit code {series.exit_code}"
    failure = ET.SubElement(case, "failure", type=series.outcome, message=clean(words))
    lines = [f"{line.number} {_words(line)}" for line in series.checklist if line.outcome != "passed"]
    failure.text = clean(
        "\n".join([tables.sum_sentence(series), *(lines if series.checklist_weighs else []), *series.notes])
    )
    return suite
