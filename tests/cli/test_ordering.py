"""From flags to orders: what's asked for, what can be run, and a plan that the seed alone decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from swarmtest.catalogue import load_scenario
from swarmtest.cli import commands
from swarmtest.cli.ordering import Asked, checks_for, make_order, plan_text, sort_out, with_release
from swarmtest.drawing import describe
from swarmtest.errors import UsageError
from swarmtest.scenario import STREAMS
from swarmtest.stack.block.brief import Overrides, read_brief
from swarmtest.stack.block.retrying import Retrying
from swarmtest.stack.services import read_stack

STACK = "services: {web: {image: demo, ports: ['8080:80'], deploy: {replicas: 3}}}\n"


def asked(folder: Path, scenario: str, flags: Overrides | None = None, **changes: object) -> Asked:
    file = folder / "stack.yml"
    file.write_text(STACK)
    parsed = read_stack(file)
    made = Asked(parsed, read_brief(parsed, flags), scenario, folder / "runs", 42, None, False, None, None)
    return replace(made, **changes)  # type: ignore[arg-type]


def dry_run(*words: str) -> str:
    ended = CliRunner().invoke(commands, ["run", *words, "--dry-run"])
    assert ended.exit_code == 0, ended.output
    return ended.output


@pytest.mark.parametrize(
    ("scenario", "repeat", "series", "runs"),
    [
        ("rolling", None, False, 1),
        ("rolling", 1, False, 1),
        ("rolling", 3, True, 3),
        ("rolling,kill", None, True, 1),
        ("all", None, True, 1),
        ("stop-modes", None, True, 5),
        ("stop-modes", 2, True, 2),
    ],
)
def test_more_than_one_run_makes_a_series(
    tmp_path: Path, scenario: str, repeat: int | None, series: bool, runs: int
) -> None:
    found = asked(tmp_path, scenario, repeat=repeat)
    assert (found.is_series, found.runs) == (series, runs)


def test_a_scenario_that_needs_what_the_stack_does_not_say_is_sorted_out(tmp_path: Path) -> None:
    names, reasons = sort_out(asked(tmp_path, "rolling,release"))
    assert names == ["rolling"]
    assert list(reasons) == ["release"]
    assert "x-swarmtest: {release: IMAGE}" in reasons["release"]


def test_where_nothing_can_be_run_that_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="release can't be run on this stack: it needs another version"):
        sort_out(asked(tmp_path, "release"))


def test_the_image_of_the_flag_takes_the_place_of_the_files(tmp_path: Path) -> None:
    found = asked(tmp_path, "release")
    brief = with_release(found.brief, "demo:2")
    assert sort_out(replace(found, brief=brief)) == (["release"], {})
    assert "demo:2" in plan_text(make_order(replace(found, brief=brief), "release"))
    variables = replace(brief, wishes={"release": {"image": "demo:1", "environment": {"A": "b"}}})
    assert with_release(variables, "demo:2").wishes["release"] == {"image": "demo:2", "environment": {"A": "b"}}


@pytest.mark.parametrize("image", ["", "two words", "a\tb"])
def test_what_is_no_image_is_refused(tmp_path: Path, image: str) -> None:
    with pytest.raises(UsageError, match="--release: expected an image"):
        with_release(asked(tmp_path, "release").brief, image)


def test_what_a_scenario_deploys_with_is_what_the_run_is_held_to(tmp_path: Path) -> None:
    found = asked(tmp_path, "stop-first,start-first")
    assert make_order(found, "stop-first").subject.update.order == "stop-first"
    order = make_order(found, "start-first")
    assert order.subject.update.order == "start-first"
    assert order.deployed_with
    assert make_order(found, "rolling").deployed_with == {}


def test_a_run_that_is_to_lose_nothing_is_guarded_and_one_that_destroys_only_if_asked(tmp_path: Path) -> None:
    plain = asked(tmp_path, "rolling,kill")
    assert make_order(plain, "rolling").stop_at is not None
    assert make_order(plain, "kill").stop_at is None
    given = asked(tmp_path, "rolling,kill", Overrides(stop_at="20%/10s"))
    limit = make_order(given, "kill").stop_at
    assert limit is not None
    assert (limit.share, limit.seconds) == (0.2, 10.0)
    assert make_order(asked(tmp_path, "rolling", Overrides(stop_at="off")), "rolling").stop_at is None


def test_a_check_that_asks_for_traffic_of_a_kind_is_left_out_where_there_is_none(tmp_path: Path) -> None:
    plain = asked(tmp_path, "kill")
    assert "retries_stayed_within_budget" not in make_order(plain, "kill").checks
    kinds = tuple(replace(kind, retries=Retrying(0.1, 3, 0.1, ("closed",), None)) for kind in plain.brief.kinds)
    retrying = replace(plain, brief=replace(plain.brief, kinds=kinds))
    assert "retries_stayed_within_budget" in make_order(retrying, "kill").checks


@pytest.mark.parametrize(
    ("scenario", "checks"),
    [
        ("baseline", {"no_message_lost"}),
        ("rolling", {"streams_closed_in_order", "clients_reconnected_in_time", "no_message_lost"}),
        ("kill", {"clients_reconnected_in_time"}),
        ("freeze", set()),
    ],
)
def test_streams_are_judged_where_there_are_any_and_nowhere_else(
    tmp_path: Path, scenario: str, checks: set[str]
) -> None:
    plain = asked(tmp_path, scenario)
    assert not {*make_order(plain, scenario).checks} & {*STREAMS}
    chat = replace(plain.brief.kinds[0], name="chat", protocol="websocket", sessions=3, reconnect_seconds=5.0)
    holding = replace(plain, brief=replace(plain.brief, kinds=(*plain.brief.kinds, chat)))
    assert {*make_order(holding, scenario).checks} & {*STREAMS} == checks


@pytest.mark.parametrize(
    ("scenario", "door", "protocol", "is_judged"),
    [
        ("rolling", "direct", "h2", True),
        ("rolling", "mesh", "h2", True),
        ("rolling", "proxy", "h2", False),  # HTTP/2 ends at the proxy, which isn't touched
        ("rolling", "direct", "http1", False),
        ("reload", "proxy", "h2", True),
        ("reload", "proxy", "http1", True),  # and isn't proved, as nothing shows the reload
    ],
)
def test_a_goodbye_is_judged_where_something_shows_it(
    tmp_path: Path, scenario: str, door: str, protocol: str, is_judged: bool
) -> None:
    plain = asked(tmp_path, scenario)
    kinds = tuple(replace(kind, protocol=protocol) for kind in plain.brief.kinds)
    brief = replace(plain.brief, kinds=kinds, front_door=replace(plain.brief.front_door, mode=door))
    assert ("http2_told_to_go_away" in checks_for(load_scenario(scenario), brief)) is is_judged


def test_each_run_of_a_series_has_a_name_of_its_own_even_where_one_is_given(tmp_path: Path) -> None:
    """Swarm still lists tasks of a stack that has just been removed."""
    found = asked(tmp_path, "rolling,kill", name="shop")
    assert make_order(found, "rolling").name == "shop"
    assert [make_order(found, "rolling", number=number).name for number in (1, 2)] == ["shop-1", "shop-2"]
    with pytest.raises(UsageError, match="--name: expected up to"):
        make_order(replace(found, name="-shop"), "rolling", number=1)


# ---------------------------------------------------------------- a dry run


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")  # nobody is there
    (tmp_path / "stack.yml").write_text(STACK)
    return "stack.yml"


def test_the_same_seed_prints_the_same_plan_and_touches_nothing(stack: str) -> None:
    words = (stack, "--scenario", "chaos", "--seed", "7", "--minutes", "3")
    first = dry_run(*words)
    assert dry_run(*words) == first
    assert first.startswith("plan of chaos on stack.yml, web, seed 7:\n")
    assert dry_run(stack, "--scenario", "chaos", "--seed", "8", "--minutes", "3") != first
    assert [path.name for path in Path().iterdir()] == ["stack.yml"]


def test_more_minutes_are_more_steps(stack: str) -> None:
    short = dry_run(stack, "--scenario", "chaos", "--minutes", "1")
    assert len(dry_run(stack, "--scenario", "chaos", "--minutes", "5").splitlines()) > len(short.splitlines())


def test_the_run_carries_out_the_plan_that_was_printed(stack: str, tmp_path: Path) -> None:
    printed = dry_run(stack, "--scenario", "chaos", "--seed", "7", "--minutes", "2")
    order = make_order(asked(tmp_path, "chaos", seed=7, minutes=2.0), "chaos")
    lines = [line.strip() for line in describe(order.plan, order.brief.baseline_seconds)]
    plan, _, _ = printed.partition("\n\ntraffic to ")
    assert [line.strip() for line in plan.splitlines()[1:]] == lines


def test_how_often_each_is_run_is_part_of_what_is_printed(stack: str) -> None:
    assert "\n3 runs of each" in dry_run(stack, "--repeat", "3")
    assert "runs of each" not in dry_run(stack)


def test_a_list_prints_every_plan_and_what_can_not_be_run(stack: str) -> None:
    printed = dry_run(stack, "--scenario", "rolling,kill,release")
    assert "plan of rolling on" in printed
    assert "plan of kill on" in printed
    assert "release can't be run on this stack: it needs another version" in printed


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--repeat", "0"], "--repeat"),
        (["--minutes", "0", "--scenario", "chaos"], "--minutes: expected more than 0"),
        (["--minutes", "nan", "--scenario", "chaos"], "--minutes: expected more than 0"),
        (["--minutes", "inf", "--scenario", "chaos"], "a week (10080) at most"),
        (["--minutes", "0.1", "--scenario", "chaos"], "no room for a single step"),
        (["--minutes", "5"], "rolling has a length of its own"),
        (["--stop-at", "5"], "--stop-at: expected a share"),
        (["--release", ""], "--release: expected an image"),
        (["--release", "demo:2"], "rolling releases nothing, and would only try the version of the stack file"),
        (["--scenario", "rolling,"], "no scenario ''"),
        (["--scenario", "rolling,kil"], "did you mean kill"),
    ],
)
def test_a_wrong_flag_is_told_by_its_name(stack: str, flags: list[str], said: str) -> None:
    ended = CliRunner().invoke(commands, ["run", stack, *flags])
    assert ended.exit_code != 0
    assert said in ended.output + str(ended.exception)


def test_what_is_sent_is_printed_with_what_a_file_did_not_give(tmp_path: Path) -> None:
    (tmp_path / "access.log").write_text(
        '1.2.3.4 - - [now] "GET /a HTTP/1.1" 200 5\n- - - [now] "PUT /b HTTP/1.1" 200 5\n'
    )
    file = tmp_path / "stack.yml"
    file.write_text(STACK + "x-swarmtest: {traffic: {access_log: access.log, rate: 90/m}}\n")
    _, _, traffic = dry_run(str(file)).partition("\n\ntraffic to http://127.0.0.1:8080:\n")
    left_out = "  · 1 left out, since PUT isn't among the methods (GET, HEAD, OPTIONS): PUT /b"
    kinds = "  · 1 kind of requests from access.log"
    assert traffic.splitlines() == ["  get-a  GET  /a  1.5/s", kinds, left_out]


def test_a_dry_run_says_where_the_traffic_goes(tmp_path: Path) -> None:
    file = tmp_path / "stack.yml"
    file.write_text(
        "x-swarmtest: {front_door: direct}\nservices: {web: {image: demo, ports: [{target: 80, mode: host}]}}\n"
    )
    assert "\n\ntraffic to each instance by its own port:\n" in dry_run(str(file))


def test_a_dry_run_says_how_each_kind_is_sent(stack: str) -> None:
    kinds = """
      s: {path: /, protocol: h2, rate: 8/s}
      u: {path: /u, protocol: upload, bytes: 2MB, rate: 1/s}
      r: {path: /r, rate: 2/s, retries: {budget: 10%}}
      w: {path: /w, protocol: websocket, sessions: 3}
"""
    Path(stack).write_text("x-swarmtest:\n  service: web\n  traffic:\n    kinds:" + kinds + STACK)
    shown = [" ".join(line.split()) for line in dry_run(stack).splitlines()]
    for line in (
        "s GET / 8/s by HTTP/2",
        "u POST /u 1/s, 2 MB each",
        "r GET /r 2/s, with retries",
        "w GET /w 3 sessions of websocket",
    ):
        assert line in shown
