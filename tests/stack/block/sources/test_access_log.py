"""Requests out of an access log, in the formats that servers write."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swarmtest.errors import StackError
from swarmtest.stack.block.sources import Wanted
from swarmtest.stack.block.sources.access_log import parse_line, read_access_log
from tests.stack.block.sources.conftest import ReadBrief

LOG = r"""
203.0.113.7 - - [29/Nov/2026:10:00:00 +0000] "GET /orders/17 HTTP/1.1" 200 512 "https://shop.example/" "Browser/1 (X)"
203.0.113.7 - - [29/Nov/2026:10:00:00 +0000] "GET /orders/18 HTTP/1.1" 200 512 "-" "Browser/1"
203.0.113.8 - anna [29/Nov/2026:10:00:01 +0000] "GET /orders/18 HTTP/2.0" 304 0
203.0.113.8 - - [29/Nov/2026:10:00:01 +0000] "GET / HTTP/1.1" 200 5
203.0.113.9 - - [29/Nov/2026:10:00:02 +0000] "POST /orders HTTP/1.1" 201 80
198.51.100.1 - - [29/Nov/2026:10:00:02 +0000] "GET /wp-login.php HTTP/1.1" 404 10
198.51.100.1 - - [29/Nov/2026:10:00:02 +0000] "\x16\x03\x01" 400 0
198.51.100.1 - - [29/Nov/2026:10:00:02 +0000] "GET /reset?token=abc HTTP/1.1" 200 10
shop.example:443 203.0.113.9 - - [29/Nov/2026:10:00:03 +0000] "GET /say?q=\"hi\" HTTP/1.1" 200 7 "-" "-"
"""


def test_its_requests_become_kinds_by_their_share(tmp_path: Path, read: ReadBrief) -> None:
    (tmp_path / "access.log").write_text(LOG)
    brief = read("{access_log: access.log, rate: 10/s}")
    assert [(kind.name, kind.path, kind.rate) for kind in brief.kinds] == [
        ("get-orders-id", "/orders/18", 6.0),
        ("get", "/", 2.0),
        ("get-say", "/say?q=%5C%22hi%5C%22", 2.0),
    ]
    assert brief.traffic_words == (
        "3 kinds of requests from access.log",
        "1 left out, since POST isn't among the methods (GET, HEAD, OPTIONS): POST /orders",
        "1 left out, since they weren't answered with 2xx: GET /wp-login.php",
        r"1 left out, since they name no path: ? \x16\x03\x01",
        "1 left out, with what may be a secret in the query, token (carry: [token] takes it): GET /reset?token",
    )


def test_a_gzipped_log_is_read_as_well(tmp_path: Path, read: ReadBrief) -> None:
    (tmp_path / "access.log.gz").write_bytes(gzip.compress(LOG.encode()))
    assert len(read("{access_log: access.log.gz}").kinds) == 3


@pytest.mark.parametrize(
    "line",
    [
        '{"request_method": "GET", "request_uri": "/a?b=1", "status": "200"}',  # nginx, as people set it up
        '{"request": {"method": "GET", "uri": "/a?b=1", "host": "x"}, "status": 200}',  # Caddy
        '{"RequestMethod": "GET", "RequestPath": "/a?b=1", "DownstreamStatus": 200}',  # Traefik
        '{"request": "GET /a?b=1 HTTP/1.1", "status": 200}',
        '1.2.3.4 - - [now] "GET /a?b=1 HTTP/1.1" 200 5',
        '1.2.3.4 - - [now] "GET /a?b=1" 200 5',
    ],
)
def test_a_line_is_read_as_each_server_writes_it(line: str) -> None:
    assert parse_line(line) == ("GET", "/a?b=1", 200)


@pytest.mark.parametrize(
    "line", ["hello", '{"a": 1}', "{", '{"method": "GET", "uri": "/", "status": null}', "[x] GET / 200"]
)
def test_what_is_no_such_line_is_none(line: str) -> None:
    assert parse_line(line) is None


def test_a_few_odd_lines_are_said_and_no_reason_to_stop(tmp_path: Path, read: ReadBrief) -> None:
    (tmp_path / "access.log").write_text("-- rotated --\n" + LOG)
    words = read("{access_log: access.log}").traffic_words
    assert "1 left out, since they aren't lines of an access log: line 1" in words


def test_what_is_no_access_log_is_refused_with_the_first_line(tmp_path: Path, read: ReadBrief) -> None:
    (tmp_path / "access.log").write_text("one\ntwo\n")
    with pytest.raises(StackError) as caught:
        read("{access_log: access.log}")
    assert "expected an access log with lines such as" in str(caught.value)
    assert caught.value.line == 1


def test_a_broken_gzip_file_is_said_to_be_that(tmp_path: Path, read: ReadBrief) -> None:
    (tmp_path / "access.log.gz").write_bytes(b"no gzip")
    with pytest.raises(StackError, match="can't be read"):
        read("{access_log: access.log.gz}")


@given(st.lists(st.text(alphabet='abc/?&=%"[]{}:\\ GET POST HTTP/1.1 200 \x16é-', max_size=60), max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_it_is_read_or_refused(tmp_path: Path, lines: list[str]) -> None:
    log = tmp_path / "access.log"
    requests = [f'1.2.3.4 - - [now] "GET http://{line} HTTP/1.1" 200 5' for line in lines]
    log.write_text("\n".join([*requests, *lines]), encoding="utf-8")
    try:
        samples = read_access_log(log, Wanted()).samples
    except StackError:
        return
    assert all(sample.path.startswith("/") and sample.path.isascii() and " " not in sample.path for sample in samples)
