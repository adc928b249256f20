"""From samples to kinds: what's alike together, the rarest left out, and keys that go with a file or don't."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import StackError
from swarmtest.stack.block.sources import LeftOut, Sample
from swarmtest.stack.block.sources.mix import LONGEST_TURN, MOST_PATHS, in_turn, make_parts
from tests.stack.block.sources.conftest import ReadBrief

LINE = '1.2.3.4 - - [now] "{} {} HTTP/1.1" 200 5\n'


def write(folder: Path, *paths: str) -> None:
    (folder / "access.log").write_text("".join(LINE.format("GET", path) for path in paths))


def test_the_rarest_kinds_are_left_out_and_the_shares_are_of_the_rest() -> None:
    samples = [Sample("GET", f"/{n}x", f"/{n}x", times=10 - n) for n in range(6)]
    left_out = LeftOut()
    parts = make_parts(samples, 2, left_out)
    assert [(part.path, round(part.share, 3)) for part in parts] == [("/0x", 0.526), ("/1x", 0.474)]
    reason = "since only the 2 most frequent are taken (most_kinds)"
    assert left_out.words() == [f"26 left out, {reason}: GET /2x, GET /3x, GET /4x and 1 more"]


def test_the_shares_add_up_to_the_rate(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path, "/a", "/a", "/b", "/c")
    assert sum(kind.rate for kind in read("{access_log: access.log, rate: 7/s}").kinds) == pytest.approx(7)
    assert sum(kind.rate for kind in read("{access_log: access.log}").kinds) == pytest.approx(20)
    assert sum(kind.rate for kind in read("{access_log: access.log}", rate=3).kinds) == pytest.approx(3)


def test_a_rate_may_change_over_time_and_all_kinds_with_it(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path, "/a", "/b")
    brief = read("{access_log: access.log, rate: {from: 10/s, to: 30/s, over: 20s}}")
    assert [kind.shape and kind.shape.highest for kind in brief.kinds] == [15.0, 15.0]


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ("{access_log: none.log}", "no such file"),
        ("{access_log: }", "expected the path of a file"),
        ("{access_log: access.log, har: x.har}", "expected one file to take traffic from"),
        ("{access_log: access.log, path: /a}", "of no use where the requests come from a file"),
        ("{access_log: access.log, kinds: {a: {}}}", "of no use where the requests come from a file"),
        ("{access_log: access.log, protocol: sse}", "expected http1 or h2"),
        ("{access_log: access.log, host: x}", "it's for har alone"),
        ("{access_log: access.log, base_path: /x}", "it's for openapi alone"),
        ("{access_log: access.log, methods: {a: b}}", "expected a list of words"),
        ("{access_log: access.log, most_kinds: 0}", "expected a whole number of 1 or more"),
        (
            "{access_log: access.log, methods: PUT}",
            "nothing of access.log can be sent: 1 left out, since GET isn't among",
        ),
        ("{methods: GET}", "of no use without one of openapi, har, access_log"),
        ("{acces_log: access.log}", "did you mean access_log?"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, read: ReadBrief, traffic: str, message: str) -> None:
    write(tmp_path, "/a")
    with pytest.raises(StackError) as caught:
        read(traffic)
    assert message in str(caught.value)
    assert caught.value.line == 3


def test_an_empty_log_gives_nothing_to_send(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path)
    with pytest.raises(StackError, match=r"nothing of access\.log can be sent: it holds no request"):
        read("{access_log: access.log}")


def test_a_kind_asks_for_its_paths_in_turn_each_as_often_as_it_occurred() -> None:
    assert in_turn({"/1": 4, "/2": 2, "/3": 1}) == ("/1", "/2", "/1", "/3", "/1", "/2", "/1")
    assert in_turn({"/1": 7}) == ()


def test_of_very_many_paths_the_most_frequent_are_asked_for() -> None:
    turn = in_turn({f"/{n}": 1000 - n for n in range(500)})
    assert len(turn) == LONGEST_TURN
    assert set(turn) == {f"/{n}" for n in range(MOST_PATHS)}


def test_the_paths_of_a_log_go_into_the_kind(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path, "/o/1", "/o/2", "/o/2", "/a")
    kinds = {kind.name: kind for kind in read("{access_log: access.log}").kinds}
    assert (kinds["get-o-id"].path, kinds["get-o-id"].paths) == ("/o/2", ("/o/2", "/o/1", "/o/2"))
    assert kinds["get-a"].paths == ()


def test_probes_are_no_traffic(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path, "/a", "/healthz", "/api/readyz?full", "/metrics/", "/health/advice")
    brief = read("{access_log: access.log}")
    assert [kind.path for kind in brief.kinds] == ["/a", "/health/advice"]
    reason = "since they ask how an instance is, which a draining one answers with no"
    assert f"3 left out, {reason}: GET /healthz, GET /api/readyz?full, GET /metrics/" in brief.traffic_words
