"""The view of a run while it goes on, fed with the events of a small rollout."""

from __future__ import annotations

import io
import threading
from typing import Any

import pytest
from rich.console import Console

from swarmtest.events import Event
from swarmtest.reports.console.live import LiveView, picture, wants_lines
from swarmtest.reports.console.news import feed
from swarmtest.reports.console.progress import Progress

BEGIN = 1000.0


def event(at: float, kind: str, **data: Any) -> Event:
    return Event(BEGIN + at, kind, data)


def task(at: float, name: str, slot: int, state: str, desired: str = "running", **more: Any) -> Event:
    found = {"task": name, "service": "api", "slot": slot, "container": name * 8, "addresses": [f"10.0.1.{slot}"]}
    return event(at, "task", **{**found, "state": state, "desired": desired, **more})


DEPLOYED = [
    event(0, "trace", version=1),
    event(0.1, "phase", name="deploy", edge="began"),
    task(1, "old1", 1, "pending"),
    task(2, "old1", 1, "starting"),
    task(7, "old1", 1, "running"),
    event(7.2, "phase", name="deploy", edge="ended"),
]
ROLLING = [
    event(8, "phase", name="baseline", edge="began"),
    event(9, "traffic", event="tick", sent=40, open=3, outcomes={"complete": 37}),
    event(10, "traffic", event="tick", sent=80, open=3, outcomes={"complete": 76, "closed_unanswered": 1}),
    event(16, "phase", name="baseline", edge="ended"),
    event(16.1, "phase", name="rollout", edge="began"),
    event(16.2, "act", id=1, name="update", edge="began", target="api"),
    event(16.3, "update_status", service="api", state="updating", message="update in progress"),
    task(17, "new1", 1, "starting", addresses=["10.0.1.9"]),
]
STOPPING = [
    task(22, "new1", 1, "running", addresses=["10.0.1.9"]),
    event(22.1, "names", name="tasks.api", addresses=["10.0.1.1", "10.0.1.9"]),
    event(22.3, "names", name="tasks.api", addresses=["10.0.1.9"]),
    task(22.4, "old1", 1, "running", "shutdown"),
    event(24.3, "container", action="kill", signal=15, task="old1", container="old1" * 8, service="api"),
]
GONE = [
    event(28.5, "container", action="die", exit_code=0, task="old1", container="old1" * 8, service="api"),
    event(29, "act", id=1, name="update", edge="ended", outcome="ok"),
    event(30, "ended", outcome="finished", error=None),
]
SHUT = [
    event(9, "front_door", url="http://h:1", edge="waiting", last="503 Gone", seconds=1.5, within=120),
]
OPEN = [event(20, "front_door", url="http://h:1", edge="open")]
SETTLED = [event(29, "phase", name="rollout", edge="ended")]


def after(*parts: list[Event]) -> Progress:
    progress = Progress("api", replicas=1, expected={"warmup": 2, "baseline": 8}, expected_total=40)
    for part in parts:
        for each in part:
            feed(progress, each)
    return progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Broken(io.StringIO):
    def write(self, _: str, /) -> int:
        raise BrokenPipeError


def test_each_change_is_one_plain_line() -> None:
    out = io.StringIO()
    with LiveView(out, Progress("api", 1, {"baseline": 8}), environment={}) as view:
        for each in [*DEPLOYED, *ROLLING, *STOPPING, *GONE]:
            view(each)
    assert out.getvalue().splitlines() == [
        "   0.1 s  deploy began",
        "   2.0 s  api.1 starting",
        "   7.0 s  api.1 running",
        "   7.2 s  deploy ended after 7.1 s",
        "   8.0 s  baseline began, 8 s planned",
        "  16.0 s  baseline ended after 8.0 s",
        "  16.1 s  rollout began",
        "  16.2 s  update api begun",
        "  16.3 s  Swarm: update updating, update in progress",
        "  17.0 s  new api.1 starting",
        "  22.0 s  new api.1 running",
        "  22.3 s  old api.1 announced",
        "  24.3 s  old api.1 signalled",
        "  28.5 s  old api.1 exited (exit code 0)",
        "  29.0 s  update ended: ok",
        "  30.0 s  run finished",
    ]


def test_a_tick_says_what_is_waited_for_and_the_counts() -> None:
    out = io.StringIO()
    view = LiveView(out, after(DEPLOYED, ROLLING, STOPPING), environment={}, clock=lambda: BEGIN + 26)
    view.tick()
    assert out.getvalue() == (
        "  26.0 s  ... waiting for old api.1 to exit (signalled for 2 s; 0 of 1 old instances gone);"
        " 80 sent, 3 open, 76 complete, 1 closed unanswered\n"
    )


@pytest.mark.parametrize(
    ("parts", "at", "headline"),
    [
        ([], 0, "getting ready"),
        ([DEPLOYED[:3]], 5, "waiting for api to be healthy (0 of 1 ready, 5 s)"),
        ([DEPLOYED, SHUT], 10, "waiting for http://h:1 to answer steadily (last: 503 Gone; 2 of 120 s)"),
        ([DEPLOYED, SHUT, OPEN], 21, "getting ready"),
        ([DEPLOYED, SHUT, ROLLING[:1]], 11, "measuring with nothing going on (3 of 8 s)"),
        ([DEPLOYED, SHUT, [event(12, "ended", outcome="interrupted")]], 12, "run interrupted"),
        ([DEPLOYED, ROLLING[:1]], 11, "measuring with nothing going on (3 of 8 s)"),
        ([DEPLOYED, ROLLING], 19, "waiting for new api.1 to be healthy (starting for 2 s; 0 of 1 old instances gone)"),
        ([DEPLOYED, [event(7.3, "phase", name="warmup", edge="began")]], 8, "warming up (1 of 2 s)"),
        (
            [DEPLOYED, ROLLING, STOPPING, GONE[:1]],
            29,
            "waiting for Swarm to end the update (its monitor time; 1 of 1 old instances gone)",
        ),
        ([DEPLOYED, ROLLING, STOPPING, GONE[:1], SETTLED], 30, "waiting for 3 open requests"),
        ([DEPLOYED, ROLLING, STOPPING, GONE], 31, "run finished"),
    ],
)
def test_the_headline_says_what_is_waited_for(parts: list[list[Event]], at: float, headline: str) -> None:
    assert after(*parts).headline(BEGIN + at) == headline


@pytest.mark.parametrize(
    ("out", "environment", "lines"),
    [
        (io.StringIO(), {}, True),
        (Terminal(), {"TERM": "xterm"}, False),
        (Terminal(), {"NO_COLOR": "1"}, True),
        (Terminal(), {"NO_COLOR": ""}, False),
        (Terminal(), {"CI": "true"}, True),
        (Terminal(), {"TERM": "dumb"}, True),
    ],
)
def test_there_is_a_picture_only_in_a_terminal_with_colours(
    out: io.StringIO, environment: dict[str, str], lines: bool
) -> None:
    assert wants_lines(out, environment) is lines


def test_the_picture_shows_phase_instances_and_counts() -> None:
    out = io.StringIO()
    console = Console(file=out, width=80)
    console.print(picture(after(DEPLOYED, ROLLING, STOPPING), BEGIN + 26))
    assert [line.rstrip() for line in out.getvalue().splitlines()] == [
        "rollout  26 s of about 40 s",
        "waiting for old api.1 to exit (signalled for 2 s; 0 of 1 old instances gone)",
        "  old api.1  signalled  2 s",
        "  new api.1  running    4 s",
        "traffic 40/s: 80 sent, 3 open, 76 complete, 1 closed unanswered  1 not complete",
    ]


def test_a_run_of_a_series_says_which_one_it_is_in_lines_and_in_the_picture() -> None:
    title = "run 3 of 14: kill"
    out = io.StringIO()
    with LiveView(out, Progress("api", title=title), environment={}, clock=lambda: BEGIN):
        pass
    assert out.getvalue() == f"   0.0 s  {title}\n"
    terminal = Terminal()
    with LiveView(terminal, Progress("api", title=title), environment={"TERM": "xterm"}):
        pass
    assert title in terminal.getvalue(), "it stays above the picture"
    drawn = io.StringIO()
    Console(file=drawn, width=80).print(picture(Progress("api", title=title), BEGIN))
    assert drawn.getvalue().splitlines()[0].rstrip() == title


def test_an_event_of_whatever_shape_ends_no_run() -> None:
    with LiveView(io.StringIO(), Progress("api"), environment={}) as view:
        for kind in ("phase", "act", "task", "container", "names", "update_status", "traffic", "ended", "new_kind"):
            view(Event(1.0, kind, {}))
            view(
                Event(
                    2.0, kind, {"service": "api", "task": 7, "state": [], "addresses": 3, "event": "tick", "sent": "x"}
                )
            )


def test_a_closed_output_ends_no_run() -> None:
    with LiveView(Broken(), Progress("api"), environment={}) as view:
        view(DEPLOYED[1])
        view.tick()


def test_a_terminal_that_went_away_ends_no_run() -> None:
    class Gone(Broken):
        def isatty(self) -> bool:
            return True

    with LiveView(Gone(), Progress("api"), environment={"TERM": "xterm"}) as view:
        view(DEPLOYED[1])


def test_many_threads_may_feed_a_picture_at_once() -> None:
    with LiveView(Terminal(), Progress("api"), environment={"TERM": "xterm"}) as view:

        def talk(number: int) -> None:
            for index in range(50):
                view(event(index, "phase", name=f"phase{number}", edge="began"))

        threads = [threading.Thread(target=talk, args=(number,)) for number in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(timeout=20)
        assert not any(each.is_alive() for each in threads)


def test_an_instance_that_ended_never_comes_back() -> None:
    progress = after(DEPLOYED, ROLLING, STOPPING, GONE)
    assert feed(progress, task(40, "old1", 1, "running")) == []
    assert progress.instances["old1"].state == "exited"


def test_with_no_service_named_every_service_is_shown_and_only_the_updated_one_has_generations() -> None:
    progress = Progress()
    for each in [*DEPLOYED, task(7, "edge1", 1, "running", service="edge"), *ROLLING]:
        feed(progress, each)
    assert [(instance.generation, instance.label) for instance in progress.instances.values()] == [
        ("old", "api.1"),
        ("", "edge.1"),
        ("new", "api.1"),
    ]


def test_tasks_of_other_services_are_left_out() -> None:
    progress = after(DEPLOYED)
    feed(progress, task(9, "edge1", 1, "running", service="edge"))
    assert list(progress.instances) == ["old1"]


def test_a_burst_is_told_apart_and_its_counts_do_not_replace_those_of_the_steady_traffic() -> None:
    progress = Progress(service="api", replicas=1)
    told = [event(11, "traffic", event="started", client="burst")]
    told += [event(12, "traffic", event="tick", client="burst", sent=9, open=1, outcomes={"complete": 8})]
    told += [event(19, "traffic", event="stopped", client="burst", sent=1320, outcomes={"complete": 1320})]
    news = [line.text for one in [*DEPLOYED, *ROLLING, *told] for line in feed(progress, one)]
    assert news[-2:] == ["traffic: burst started", "traffic: burst stopped, 1,320 sent"]
    assert progress.traffic["sent"] == 80


def test_a_stop_by_the_guard_is_said() -> None:
    (line,) = feed(Progress(), event(20, "guard", name="stop-at", text="9.1 % lost over 5 s: 41 of 452; limit 5 %"))
    assert line.text == "stopped by stop-at: 9.1 % lost over 5 s: 41 of 452; limit 5 %"
    (line,) = feed(
        Progress(), event(20, "guard", name="limit", text="the limit lost <= 5 was broken: 6 of 452 requests")
    )
    assert line.text == "stopped: the limit lost <= 5 was broken: 6 of 452 requests"


KILLED = [
    event(16.1, "phase", name="kill", edge="began"),
    event(16.2, "act", id=1, name="kill", edge="began", target="api", instances=[{"task": "old1", "slot": 1}]),
    event(16.25, "container", action="die", exit_code=137, task="old1", container="old1" * 8, service="api"),
    event(16.3, "act", id=1, name="kill", edge="ended", target="api", outcome="ok", instances=[{"task": "old1"}]),
    task(17, "new1", 1, "starting", addresses=["10.0.1.9"]),
]


def lines_of(*events: Event) -> list[str]:
    progress, lines = after(DEPLOYED), []
    for each in events:
        lines += [news.text for news in feed(progress, each)]
    return lines


def test_an_act_names_whom_it_hurts_and_nobody_is_called_old_by_it() -> None:
    assert lines_of(*KILLED)[1:4] == ["kill api.1 begun", "api.1 exited (exit code 137)", "kill api.1 ended: ok"]


def test_a_step_of_a_fault_tells_what_it_waits_for() -> None:
    progress = after(DEPLOYED, KILLED)
    assert progress.headline(BEGIN + 19) == "waiting for api.1 to be healthy (starting for 2 s)"


def test_a_step_that_a_guard_rail_forbade_is_said_with_its_reason() -> None:
    skipped = event(20, "act", id=2, name="kill", edge="skipped", target="api", reason="only 1 would be left")
    assert lines_of(skipped) == ["kill api skipped: only 1 would be left"]


@pytest.mark.parametrize("name", ["release", "rollback", "unhealthy", "crash"])
def test_every_act_that_is_an_update_makes_what_was_there_old(name: str) -> None:
    progress = after(DEPLOYED, [event(16, "act", id=1, name=name, edge="began", target="api"), ROLLING[-1]])
    assert [one.generation for one in progress.instances.values()] == ["old", "new"]
