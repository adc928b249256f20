"""The reports of a series, against golden files, and what no golden file can hold."""

from __future__ import annotations

import io
from collections.abc import Callable
from xml.etree import ElementTree as ET

import msgspec
import pytest

from swarmtest.reports.console import series as console
from swarmtest.reports.series import junit, markdown, tables
from tests.reports.series.samples import ANSWERED, KEPT, SAMPLES, Sample, mixed, ran, repeats, run_of, series_of

Golden = Callable[[str, str], None]


@pytest.fixture(params=sorted(SAMPLES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def shown(sample: Sample, width: int = 80) -> str:
    out = io.StringIO()
    console.render(*sample, out, folder="runs/series", width=width)
    return out.getvalue()


def xml(sample: Sample) -> str:
    out = io.StringIO()
    junit.render(*sample, out)
    return out.getvalue()


def parsed(sample: Sample) -> ET.Element:
    return ET.fromstring(xml(sample).split("\n", 1)[1])


def page(sample: Sample) -> str:
    out = io.StringIO()
    markdown.render(*sample, out)
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_the_console_looks_as_it_did(name: str, width: int, golden: Golden) -> None:
    golden(f"series-{name}-{width}.txt", shown(SAMPLES[name](), width))


def test_the_page_looks_as_it_did(name: str, golden: Golden) -> None:
    golden(f"series-{name}.md", page(SAMPLES[name]()))


def test_the_file_for_ci_looks_as_it_did(golden: Golden) -> None:
    golden("series-mixed.xml", xml(mixed()))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal_but_the_verdict(name: str, width: int) -> None:
    *lines, _ = shown(SAMPLES[name](), width).splitlines()
    assert max(map(len, lines)) <= width


def test_there_is_a_line_for_each_run_and_the_last_line_is_the_verdict() -> None:
    lines = shown(mixed()).splitlines()
    for start in ("baseline    passed", "rolling     failed", "drain       refused", "freeze      not run"):
        assert any(line.startswith(start) for line in lines), start
    assert lines[-1] == "failed · interrupted · exit code 130 · runs/series"


def test_without_repeats_and_with_many_scenarios_there_are_no_figures_side_by_side() -> None:
    assert "Side by side" not in shown(mixed())
    assert "Side by side" in shown(SAMPLES["side-by-side"]())
    assert "median (least–most)" in shown(repeats())


def test_what_repeats_say_in_the_same_words_is_said_once() -> None:
    assert shown(repeats()).count("let the app finish") == 1
    assert shown(repeats()).count("failed  answered_every_request") == 1


def test_the_checklist_is_left_out_where_the_series_has_nothing_to_say_to_it() -> None:
    document = run_of("stop-by-kill", ANSWERED)
    sample = series_of([document], [ran(document)])
    assert "Checklist" not in shown(sample)
    assert "Checklist" not in page(sample)
    assert "checklist" not in xml(sample)
    assert "Checklist" in shown(repeats())


def test_every_run_has_a_suite_and_what_has_no_end_an_error() -> None:
    root = parsed(mixed())
    suites = [str(suite.get("name")) for suite in root]
    assert suites[0] == "swarmtest baseline stacks/api.yml"
    assert "swarmtest freeze stacks/api.yml: not run" in suites
    errors = [case.get("classname") for case in root.iter("testcase") if case.find("error") is not None]
    assert errors == ["swarmtest.drain", "swarmtest.scale-in", "swarmtest.kill"]
    assert root.get("errors") == "3"
    assert root.get("tests") == str(len([*root.iter("testcase")]))


def test_repeats_have_suites_of_their_own_names() -> None:
    names = [str(suite.get("name")) for suite in parsed(repeats())]
    assert "swarmtest rolling stacks/api.yml (2 of 3)" in names
    assert len(names) == len(set(names))


def clean() -> Sample:
    document = run_of("rolling", ANSWERED, KEPT)
    return series_of([document], [ran(document)])


def unlisted() -> Sample:
    document = run_of("rolling", ANSWERED, KEPT)
    return series_of([document], [ran(document)], checklist_weighs=True)


def unbegun() -> Sample:
    document = run_of("rolling", ANSWERED)
    return series_of([document, None], [ran(document), msgspec.structs.replace(ran(document), folder=None, ended=None)])


@pytest.mark.parametrize("made", [clean, unlisted, unbegun, mixed, repeats])
def test_the_file_is_red_exactly_where_the_exit_code_is_not_0(made: Callable[[], Sample]) -> None:
    sample = made()
    red = [*parsed(sample).iter("failure"), *parsed(sample).iter("error")]
    assert bool(red) == (sample[0].exit_code != 0)


def test_the_page_links_each_run_to_its_own_report() -> None:
    assert "[rolling](./20261201T221502Z-rolling-api-ab1202/report.md)" in page(mixed())
    assert "| freeze | **not run** |" in page(mixed())


def test_a_range_is_one_number_where_all_runs_agree() -> None:
    series, _ = repeats()
    figures = {each.figure: tables.range_text(each) for each in series.spread[1].figures}
    assert figures["lowest_ready"] == "3"
    assert figures["lost"] == "11 (0–22)"
    assert figures["seconds"] == "34.0 (31.0–37.0)"


def test_the_table_of_the_ways_of_stopping_takes_the_place_of_the_figures() -> None:
    documents = [run_of("stop-by-kill", ANSWERED, number=number) for number in (1, 2)]
    sample = series_of(documents, [ran(document, place) for place, document in enumerate(documents, 1)], repeat=2)
    assert "Ways of stopping" in shown(sample, 140)
    assert "Side by side" not in shown(sample, 140)
    assert "Four ways of stopping" in page(sample)


def test_without_a_terminal_there_is_no_escape_sequence(name: str) -> None:
    assert "\x1b" not in shown(SAMPLES[name]())
