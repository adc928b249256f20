"""What swarmtest is told about a stack, and what it derives where nobody told it."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path
from typing import Any

import pytest

from swarmtest.errors import StackError, UsageError
from swarmtest.stack.block.brief import Brief, FrontDoor, Kind, Overrides, duration_flag, rate_flag, read_brief
from swarmtest.stack.block.wishes import StopAt
from swarmtest.stack.services import read_stack

SERVICES = """\
services:
  api: {image: demo}
  edge: {image: proxy, ports: [{target: 80, published: 8080, mode: host}]}
"""


def brief(folder: Path, about: str, services: str = SERVICES, **flags: Any) -> Brief:
    file = folder / "stack.yml"
    file.write_text(textwrap.dedent(services) + "x-swarmtest:\n" + textwrap.indent(textwrap.dedent(about), "  "))
    return read_brief(read_stack(file, {}), Overrides(**flags))


def refused(folder: Path, about: str, services: str = SERVICES, **flags: Any) -> StackError:
    with pytest.raises(StackError) as caught:
        brief(folder, about, services, **flags)
    return caught.value


def test_a_stack_with_one_published_port_needs_no_block_at_all(tmp_path: Path) -> None:
    file = tmp_path / "stack.yml"
    file.write_text("services: {web: {image: demo, ports: ['8080:80']}, db: {image: db}}")
    read = read_brief(read_stack(file, {}))
    assert (read.service, read.url, read.url_given) == ("web", "http://127.0.0.1:8080", False)
    assert read.front_door == FrontDoor("mesh")
    assert read.kinds == (Kind("get", "GET", "/", 20.0, headers={}),)
    assert (read.instance_header, read.request_id_header) == ("X-Instance-ID", "X-Request-ID")
    assert (read.timeout_seconds, read.fresh_share, read.baseline_seconds, read.longest_seconds) == (30, 0.5, 8, 1)


def test_the_one_other_service_that_publishes_is_the_proxy(tmp_path: Path) -> None:
    read = brief(tmp_path, "service: api")
    assert read.front_door == FrontDoor("proxy", "edge")
    assert read.url == "http://127.0.0.1:8080"


def test_a_proxy_may_say_how_it_is_reloaded(tmp_path: Path) -> None:
    read = brief(tmp_path, "{service: api, front_door: {reload: sigusr2}}")
    assert read.front_door == FrontDoor("proxy", "edge", reload="SIGUSR2")
    assert read.wishes["reload"] == {"service": "edge", "signal": "SIGUSR2"}
    assert "reload" not in brief(tmp_path, "service: api").wishes
    assert "expected a signal" in str(refused(tmp_path, "{service: api, front_door: {reload: twice}}"))
    alone = "services: {api: {image: demo, ports: ['8080:80']}}\n"
    assert "no proxy that could be reloaded" in str(refused(tmp_path, "front_door: {reload: SIGHUP}", alone))


def test_processes_are_one_as_many_as_asked_for_or_one_a_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert brief(tmp_path, "service: api").processes == 1
    assert brief(tmp_path, "{service: api, traffic: {processes: 4}}").processes == 4
    assert brief(tmp_path, "{service: api, traffic: {processes: auto}}").processes == 6
    assert brief(tmp_path, "{service: api, traffic: {processes: auto}}", processes=2).processes == 2


def test_the_block_is_read(tmp_path: Path) -> None:
    read = brief(
        tmp_path,
        """\
        service: api
        url: http://127.0.0.1:9090/base
        front_door: {service: edge, detects: dns, within: 1s}
        instance_header: X-Served-By
        request_id_header: X-Correlation
        traffic:
          timeout: 20s
          fresh_share: 0.25
          kinds:
            short: {method: post, path: "/work?ms={ms}", ms: [20, 300], rate: 34/s, headers: {A: b}, body_bytes: 3}
            long: {path: /slow, ms: "4000", rate: "6", end_marker: done, expect_bytes: 9, count: 12}
        baseline: 4s
        longest_request: 6s
        ready_within: 1m
        """,
    )
    assert read.url_given
    assert read.front_door == FrontDoor("proxy", "edge", "dns", 1.0)
    assert read.kinds[0] == Kind("short", "POST", "/work?ms={ms}", 34.0, (20, 300), 3, {"A": "b"})
    assert read.kinds[1] == Kind("long", "GET", "/slow", 6.0, (4000, 4000), 0, {}, "done", 9, 12)
    assert (read.timeout_seconds, read.fresh_share, read.baseline_seconds) == (20, 0.25, 4)
    assert (read.longest_seconds, read.ready_seconds) == (6, 60)
    assert (read.instance_header, read.request_id_header) == ("X-Served-By", "X-Correlation")


def test_the_longest_request_is_derived_from_the_kinds(tmp_path: Path) -> None:
    assert brief(tmp_path, "{service: api, traffic: {ms: [20, 4500]}}").longest_seconds == 4.5


def test_direct_needs_a_host_port_of_the_service_and_no_address(tmp_path: Path) -> None:
    services = "services: {api: {image: demo, ports: [{target: 80, mode: host}]}}\n"
    read = brief(tmp_path, "front_door: direct", services)
    assert (read.url, read.front_door.mode) == (None, "direct")
    error = refused(tmp_path, "{service: api, front_door: direct}")
    assert error.key == "x-swarmtest.front_door"


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    read = brief(
        tmp_path,
        "{service: edge, url: 'http://a', instance_header: A, baseline: 8s, traffic: {rate: 30/s}}",
        service="api",
        url="http://b:1",
        instance_header="B",
        baseline_seconds=0.0,
        rate=60.0,
    )
    assert (read.service, read.url, read.instance_header, read.baseline_seconds) == ("api", "http://b:1", "B", 0)
    assert [kind.rate for kind in read.kinds] == [60]


def test_a_rate_for_all_keeps_the_mix(tmp_path: Path) -> None:
    about = "{service: api, traffic: {kinds: {a: {rate: 30/s}, b: {rate: 10/s}}}}"
    assert [kind.rate for kind in brief(tmp_path, about, rate=20.0).kinds] == [15, 5]


def test_a_service_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    error = refused(tmp_path, "service: apo")
    assert (error.line, error.key) == (5, "x-swarmtest.service")
    assert "api, edge" in error.problem
    with pytest.raises(UsageError, match=r"no service 'apo'.*api, edge"):
        brief(tmp_path, "{}", service="apo")


def test_no_or_several_published_ports_leave_the_service_to_be_named(tmp_path: Path) -> None:
    none = refused(tmp_path, "{}", "services: {a: {image: x}, b: {image: x}}\n")
    assert "Services with a published port: none" in none.problem
    both = refused(tmp_path, "{}", "services: {a: {image: x, ports: [1:1]}, b: {image: x, ports: [2:2]}}\n")
    assert "a, b" in both.problem
    assert "--service" in both.problem


def test_a_service_without_a_published_port_has_no_address(tmp_path: Path) -> None:
    error = refused(tmp_path, "service: a", "services:\n  a: {image: x}\n  b: {image: x}\n")
    assert (error.line, error.key) == (2, "services.a.ports")
    assert "--url" in error.problem
    chosen_by_engine = refused(tmp_path, "{}", "services: {a: {image: x, ports: [80]}}\n")
    assert "no published port" in chosen_by_engine.problem
    assert '["8080:80"]' in chosen_by_engine.problem


def test_host_ports_without_a_number_can_be_asked_directly(tmp_path: Path) -> None:
    ports = "services: {a: {image: x, ports: [{target: 80, mode: host}]}}\n"
    error = refused(tmp_path, "{}", ports)
    assert "no published port" in error.problem
    assert "{front_door: direct}" in error.problem
    assert brief(tmp_path, "front_door: direct", ports).front_door.mode == "direct"
    proxy = refused(tmp_path, "service: b", ports.replace("{a:", "{b: {image: y}, a:"))
    assert "front_door: direct" not in proxy.problem


@pytest.mark.parametrize(
    ("about", "key", "said"),
    [
        ("servise: api", "servise", "did you mean service?"),
        ("zzz: 1", "zzz", "known keys"),
        ("{service: api, traffic: {rates: 5}}", "traffic.rates", "did you mean rate?"),
        ("{service: api, traffic: {kinds: {a: {mss: 5}}}}", "traffic.kinds.a.mss", "did you mean ms?"),
        ("{service: api, front_door: {detect: dns}}", "front_door.detect", "did you mean detects?"),
        ("{service: api, front_door: dirct}", "front_door", "expected direct"),
        ("{service: api, front_door: {service: edg}}", "front_door.service", "api, edge"),
        ("{service: api, front_door: {detects: smell}}", "front_door.detects", "dns, tasks, probe, none"),
        ("{service: api, front_door: {within: 1}}", "front_door.within", "duration"),
        ("{service: api, front_door: {within: -1s}}", "front_door.within", "zero or more"),
        ("{service: api, front_door: {keep_alive: -1s}}", "front_door.keep_alive", "zero or more"),
        ("{service: api, url: 'ftp://x'}", "url", "expected an address"),
        ("{service: api, url: 'http://me:word@x'}", "url", "no name or password is sent"),
        ("{service: api, url: 'https://x'}", "url", "only plain http"),
        ("{service: api, url: 'http://x:port'}", "url", "expected an address"),
        ("{service: api, url: 'http://[x'}", "url", "expected an address"),
        ("{service: api, url: 'http://x/a b'}", "url", "expected an address"),
        ("{service: api, url: 'http://x/?q=1'}", "url", "expected an address"),
        ("{service: api, instance_header: 'X Y'}", "instance_header", "one word"),
        ("{service: api, instance_header: x-request-id}", "instance_header", "another header"),
        ("{service: api, traffic: {ms: 3600000, rate: 9/s}}", "traffic.rate", "32,400 open at once"),
        ("{service: api, request_id_header: ''}", "request_id_header", "one word"),
        ("{service: api, traffic: {rate: 0}}", "traffic.rate", "above zero"),
        ("{service: api, traffic: {rate: fast}}", "traffic.rate", "40/s"),
        ("{service: api, traffic: {ms: [300, 20]}}", "traffic.ms", "[20, 300]"),
        ("{service: api, traffic: {ms: [1]}}", "traffic.ms", "[20, 300]"),
        ("{service: api, traffic: {ms: true}}", "traffic.ms", "[20, 300]"),
        ("{service: api, traffic: {ms: soon}}", "traffic.ms", "[20, 300]"),
        ("{service: api, traffic: {ms: 99999999999}}", "traffic.ms", "[20, 300]"),
        ("{service: api, traffic: {path: work}}", "traffic.path", "begins with /"),
        ("{service: api, traffic: {path: /a b}}", "traffic.path", "no spaces"),
        ("{service: api, traffic: {method: G T}}", "traffic.method", "one word"),
        ('{service: api, traffic: {headers: {A: "b\\nc: d"}}}', "traffic.headers.A", "on one line"),
        ("{service: api, traffic: {body_bytes: -1}}", "traffic.body_bytes", "0 or more"),
        ("{service: api, traffic: {timeout: 30}}", "traffic.timeout", "duration"),
        ("{service: api, traffic: {timeout: 0s}}", "traffic.timeout", "above zero"),
        ("{service: api, traffic: {fresh_share: 2}}", "traffic.fresh_share", "0 to 1"),
        ("{service: api, traffic: {fresh_share: half}}", "traffic.fresh_share", "0 to 1"),
        ("{service: api, traffic: {processes: 0}}", "traffic.processes", "1 or more"),
        ("{service: api, traffic: {processes: 65}}", "traffic.processes", "auto, or up to 64"),
        ("{service: api, traffic: {processes: many}}", "traffic.processes", "whole number"),
        ("{service: api, traffic: {kinds: {}}}", "traffic.kinds", "at least one"),
        ("{service: api, traffic: {rate: 9, kinds: {a: {path: /}}}}", "traffic.rate", "put it into each"),
        ('{service: api, traffic: {kinds: {"a\\r\\nb: c": {path: /}}}}', "traffic.kinds.a\r\nb: c", "request IDs"),
        ("{service: api, traffic: {kinds: {€: {path: /}}}}", "traffic.kinds.€", "request IDs"),
        ("{service: api, traffic: {headers: {Content-Length: 5}}}", "traffic.headers.Content-Length", "client's own"),
        ("{service: api, traffic: 5}", "traffic", "mapping"),
        ("{service: api, baseline: -8s}", "baseline", "zero or more"),
        ("{service: api, ready_within: 0s}", "ready_within", "above zero"),
    ],
)
def test_each_wrong_word_of_the_block_is_named_with_its_line(tmp_path: Path, about: str, key: str, said: str) -> None:
    error = refused(tmp_path, about)
    assert error.key == f"x-swarmtest.{key}"
    assert error.line == 5
    assert said in error.problem


def test_flags_are_refused_in_their_own_name() -> None:
    for call, name in (
        (lambda: rate_flag("fast"), "--rate"),
        (lambda: duration_flag("--baseline", "8"), "--baseline"),
        (lambda: duration_flag("--baseline", "-8s"), "--baseline"),
    ):
        with pytest.raises(UsageError, match=name) as caught:
            call()
        assert not isinstance(caught.value, StackError)
    assert rate_flag("30") == rate_flag("30/s") == 30
    assert duration_flag("--baseline", "1m") == 60


@pytest.mark.parametrize(
    "flags", [{"url": "ftp://x"}, {"url": ""}, {"instance_header": "a b"}, {"instance_header": ""}]
)
def test_wrong_flags_over_the_block_are_usage_errors(tmp_path: Path, flags: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"--(url|instance-header)"):
        brief(tmp_path, "service: api", **flags)


@pytest.mark.parametrize(
    ("deploy", "key"),
    [("{replicas: 0}", "replicas"), ("{mode: replicated-job}", "mode"), ("{mode: global-job}", "mode")],
)
def test_a_service_that_can_never_answer_is_refused_at_once(tmp_path: Path, deploy: str, key: str) -> None:
    error = refused(tmp_path, "{}", f"services: {{web: {{image: x, ports: ['80:80'], deploy: {deploy}}}}}\n")
    assert error.key == f"services.web.deploy.{key}"


def test_a_limit_that_somebody_wrote_is_told_from_the_one_that_holds_by_itself(tmp_path: Path) -> None:
    silent = brief(tmp_path, "service: api")
    assert (silent.stop_at, silent.stop_at_given) == (StopAt(0.05, 5.0), False)
    for read in (brief(tmp_path, "service: api\nstop_at: 5%/5s"), brief(tmp_path, "service: api", stop_at="5%/5s")):
        assert (read.stop_at, read.stop_at_given) == (StopAt(0.05, 5.0), True)
    off = brief(tmp_path, "service: api\nstop_at: off")
    assert (off.stop_at, off.stop_at_given) == (None, True)


def test_what_a_front_door_keeps_open_is_kept_with_the_verdict(tmp_path: Path) -> None:
    door = brief(tmp_path, "{service: api, front_door: {service: edge, keep_alive: 75s, idle: 1m}}").front_door
    assert (door.keep_alive_seconds, door.idle_seconds) == (75.0, 60.0)
    assert refused(tmp_path, "{service: api, front_door: {service: edge, idle: 5}}").key is not None
