"""The page: it stands alone, says all that the document says, and runs nothing that an app wrote."""

from __future__ import annotations

import hashlib
import io
import json
import re
from base64 import b64encode
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from swarmtest.judge import judged_folder
from swarmtest.judge.seconds import count_seconds
from swarmtest.losses.seconds import Seconds, Track
from swarmtest.losses.table import Told
from swarmtest.reports import CheckEntry, Document, LossEvent, StreamEvent, StreamRow
from swarmtest.reports.entries import LimitFigures
from swarmtest.reports.html import Run, render
from swarmtest.reports.html.page import as_data
from swarmtest.reports.html.picture import MOST_STEPS, curves, in_rows
from swarmtest.reports.policy_entries import RetryEntry
from swarmtest.store import open_run_folder
from tests.judge.builder import Rollout
from tests.judge.test_judge import folder_of
from tests.reports.doubtful import doubtful

EVIL = "</script><script>alert('x')</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}\u2028"
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Elements and text of a page; whether each element that was opened is closed again, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    @property
    def drawn(self) -> dict[str, object]:
        return dict(json.loads(self.scripts[0]))


def text_of(document: Document, seconds: Seconds | None = None, requests: Told | None = None) -> str:
    out = io.StringIO()
    render(Run(document, seconds or Seconds(), requests), out)
    return out.getvalue()


def test_a_page_is_whole_and_says_verdict_proof_checks_and_advice(document: Document) -> None:
    page = Page(text_of(document))
    assert page.open == []
    for check in document.checks:
        assert check.sentence in page.text
        assert check.name in page.text
    for line in (*document.advice, *document.notes):
        assert line in page.text
    assert document.run in page.text


def test_the_same_document_gives_the_same_bytes(document: Document) -> None:
    assert text_of(document) == text_of(document)


def test_a_page_fetches_nothing(document: Document) -> None:
    page = Page(text_of(document))
    sources = [value for _, attrs in page.elements for name, value in attrs.items() if name in ("src", "href")]
    assert [value for value in sources if value and not value.startswith(("#", "data:"))] == []
    assert "url(" not in text_of(document).replace("url(#", "")


def test_only_the_scripts_that_are_meant_may_run(document: Document) -> None:
    page = Page(text_of(document))
    policy = next(a["content"] for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy") or ""
    run = [
        script
        for script, (_, attrs) in zip(page.scripts, [one for one in page.elements if one[0] == "script"], strict=True)
        if attrs.get("type") != "application/json"
    ]
    hashes = {f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in run}
    allowed = next(part for part in policy.split("; ") if part.startswith("script-src")).split()[1:]
    assert set(allowed) == hashes
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("place", ["check", "loss", "note", "setting", "act", "instance", "run"])
def test_no_text_of_an_app_becomes_markup(place: str, runs: dict[str, Callable[[], Document]]) -> None:
    document = runs["hurt"]()
    harmless = Page(text_of(document))
    lost = LossEvent(EVIL, "cut", EVIL, True, 1.0, 2.0, EVIL, EVIL, EVIL, saw=EVIL)
    changes: dict[str, dict[str, object]] = {
        "check": {"checks": [*document.checks[1:], CheckEntry(EVIL, "failed", EVIL, [EVIL], EVIL)]},
        "loss": {"loss_events": [lost]},
        "note": {"notes": [EVIL], "advice": [EVIL], "guard": EVIL},
        "setting": {"settings": document.settings | {EVIL: {EVIL: EVIL}}, "engine": {"version": EVIL}},
        "act": {"acts": [msgspec.structs.replace(document.acts[0], name=EVIL, reason=EVIL, outcome=EVIL)]},
        "instance": {"instances": [msgspec.structs.replace(document.instances[0], name=EVIL, cause=EVIL, id=EVIL)]},
        "run": {"run": EVIL, "scenario": EVIL, "stack": EVIL, "kind": EVIL, "outcome": "failed"},
    }
    page = Page(text_of(msgspec.structs.replace(document, **changes[place])))
    assert page.open == []
    assert len(page.scripts) == len(harmless.scripts)
    assert {tag for tag, _ in page.elements} - {tag for tag, _ in harmless.elements} <= {
        "ul",
        "li",
        "ol",
        "p",
        "strong",
    }
    assert not [attrs for _, attrs in page.elements if any(name.startswith("on") for name in attrs)]
    assert "alert('x')" in page.text + json.dumps(page.drawn)


TURNING = "\u202e\u2066\x1b[2J"


def test_no_text_of_an_app_turns_the_text_around_it(runs: dict[str, Callable[[], Document]]) -> None:
    document = runs["hurt"]()
    lost = LossEvent("id", "cut", "short", True, 1.0, 2.0, None, "shutdown", TURNING + "why")
    page = text_of(msgspec.structs.replace(document, notes=[TURNING + "note"], loss_events=[lost]))
    assert not set(TURNING[:3]) & set(page)
    assert "\ufffd\ufffd\ufffd[2Jnote" in page
    assert json.dumps(TURNING[:1]).strip('"') not in page


def test_a_backslash_that_is_meant_stays_one() -> None:
    assert json.loads(str(as_data({"path": "C:\\u202e"})))["path"] == "C:\\u202e"
    assert json.loads(str(as_data({"path": "\\\u202e"})))["path"] == "\\\ufffd"


def test_data_cannot_end_its_element() -> None:
    text = str(as_data({"why": EVIL}))
    assert not re.search(r"[<>&\u2028]", text)
    assert json.loads(text)["why"] == EVIL


def test_a_run_is_drawn_with_its_dots_curves_marks_and_acts(tmp_path: Path) -> None:
    run = Rollout()
    run.request("lost", 3.0, 3.4, run.old[0], client_outcome="closed_unanswered", status=None, instance=None)
    folder = open_run_folder(folder_of(run, tmp_path / "run"))
    with judged_folder(folder.path) as (document, requests):
        drawn = Page(text_of(document, count_seconds(requests, document), requests)).drawn
    ok, lost = drawn["ok"], drawn["lost"]
    assert isinstance(ok, dict)
    assert isinstance(lost, dict)
    assert ok["count"] == document.losses["ok"]
    assert len(lost["told"]) == 1
    assert [row["label"].split()[0] for row in drawn["rows"]] == ["api.1", "api.1", "api.2", "api.2", "api.3", "api.3"]  # type: ignore[attr-defined]
    assert drawn["since"] < 0 < drawn["until"]  # type: ignore[operator]


def test_every_answer_is_found_on_the_row_of_its_instance(tmp_path: Path) -> None:
    folder = open_run_folder(folder_of(Rollout(), tmp_path / "run"))
    with judged_folder(folder.path) as (document, requests):
        drawn = Page(text_of(document, count_seconds(requests, document), requests)).drawn
    from tests.reports.html.test_dots import column

    rows, counts = column(drawn["ok"], "row"), column(drawn["ok"], "n")  # type: ignore[arg-type]
    for place, instance in enumerate(in_rows(document.instances)):
        assert sum(n for row, n in zip(rows, counts, strict=True) if row == place) == instance.served


def test_a_run_without_requests_has_a_page(runs: dict[str, Callable[[], Document]]) -> None:
    document = msgspec.structs.replace(runs["passed"](), instances=[], losses={}, start=None, acts=[], proof={})
    assert "nothing is proved" in Page(text_of(document)).text


def test_a_long_run_is_put_together_in_longer_steps() -> None:
    length = 2 * MOST_STEPS
    track = Track(
        sent=[1] * length, ok=[1] * length, lost={"cut": [1] * length}, retries=[0] * length,
        in_flight=[3, 5] * MOST_STEPS, p50_ms=[None] * length, p99_ms=[1.0, 9.0] * MOST_STEPS,
        p50_sent_ms=[None] * length, p99_sent_ms=[None, 2.0] * MOST_STEPS,
    )  # fmt: skip
    drawn = curves(Seconds(start=10, ready=[2, 1] * MOST_STEPS, all=track, kinds={"short": track}), 8.0)
    assert (drawn["step"], drawn["start"], len(drawn["ready"])) == (2, 2.0, MOST_STEPS)
    first = {name: values[0] for name, values in drawn["tracks"][0].items() if isinstance(values, list)}
    assert first == {
        "sent": 2, "ok": 2, "retries": 0, "in_flight": 5, "p50_ms": None, "p99_ms": 9.0,
        "p50_sent_ms": None, "p99_sent_ms": 2.0,
    }  # fmt: skip
    assert drawn["tracks"][0]["lost"]["cut"][0] == 2
    assert drawn["ready"][0] == 1


def test_what_the_counts_rest_on_is_said(runs: dict[str, Callable[[], Document]]) -> None:
    document = runs["passed"]()
    rests = {"answers": "instance header, full length", "commits": "no commit lines", "records": "whole"}
    page = Page(text_of(msgspec.structs.replace(document, proof=document.proof | rests)))
    assert all(words in page.text for words in rests.values())


def test_streams_are_told_apart_from_requests(runs: dict[str, Callable[[], Document]]) -> None:
    document = runs["passed"]()
    row = StreamRow("feed", "websocket", sessions=4, tries=6, opened=6, told=5, cut=1, lost=2)
    bad = StreamEvent("s-1", "feed", "s", document.instances[0].id, 1.0, 2.5, "cut without a close frame", lost=2)
    page = Page(text_of(msgspec.structs.replace(document, stream_rows=[row], stream_events=[bad], start=0.0)))
    assert "cut without a close frame" in page.text
    assert "streams 6 1 cut" in page.text
    layer = page.drawn["layers"][0]  # type: ignore[index]
    assert layer["points"] == [[2.5, 0, "stream · feed: cut without a close frame", "2 lost, 0 repeated; s-1"]]
    assert page.drawn["lost"]["told"] == []  # type: ignore[index]
    assert "Streams" not in Page(text_of(document)).texts


def test_retries_are_told_where_there_are_any(runs: dict[str, Callable[[], Document]]) -> None:
    document = runs["passed"]()
    entry = RetryEntry("short", 100, 103, 1.03, 3, 2, 1, 0.1)
    assert "1.030" in Page(text_of(msgspec.structs.replace(document, retries=[entry]))).text
    assert "Retries" not in Page(text_of(document)).texts


def test_limits_of_answer_times_are_drawn_for_the_whole_run_only(runs: dict[str, Callable[[], Document]]) -> None:
    document = runs["passed"]()
    limits = [
        LimitFigures("p99", "<", 800.0, "ms", kind="short"),
        LimitFigures("p99", "<", 900.0, "ms", phase="rollout"),
        LimitFigures("lost", "=", 0.0, "requests"),
    ]
    checks = [CheckEntry("limit", "passed", "s", limit=limit) for limit in limits]
    drawn = Page(text_of(msgspec.structs.replace(document, checks=checks))).drawn
    assert drawn["limits"] == [{"name": "limit of p99", "kind": "short", "value": 800.0}]


def test_one_kind_alone_is_not_drawn_twice() -> None:
    assert len(curves(Seconds(kinds={"short": Track()}), 0.0)["tracks"]) == 1


def test_every_class_has_a_colour_and_a_shape() -> None:
    from swarmtest.reports import CLASSES
    from swarmtest.reports.html.page import ASSETS

    shapes = re.search(r"const SHAPES = \{(.*?)\};", (ASSETS / "shapes.js").read_text(), re.DOTALL)
    assert shapes
    for name in (*CLASSES, "stream"):
        assert re.search(rf"\b{name}: \"", shapes.group(1)), name
        for colours in ("style.css", "dark.css"):
            assert f"--{name}:" in (ASSETS / colours).read_text(), (name, colours)
    used = re.findall(r': "(\w+)"', shapes.group(1))
    assert len(used) == len(set(used)) == len(CLASSES) + 1


def test_what_only_lacks_its_proof_is_not_said_to_be_lost(runs: dict[str, Callable[[], Document]]) -> None:
    text = Page(text_of(doubtful(runs["passed"]()))).text
    assert "lost 5 2 refused, 3 unknown" in text
    assert "not proved 15 to be answered" in text
    assert "short fresh 20 0 15 5 2 18" in text
