"""Requests out of a HAR file: of the main host, answered well, without the browser's secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swarmtest.errors import StackError
from tests.stack.block.sources.conftest import ReadBrief


def entry(url: str, method: str = "GET", status: int = 200, **request: Any) -> dict[str, Any]:
    headers = [
        {"name": ":authority", "value": "shop.example"},
        {"name": "Accept", "value": "application/json"},
        {"name": "Cookie", "value": "sid=secret"},
        {"name": "Authorization", "value": "Bearer secret"},
        {"name": "User-Agent", "value": "Browser/1"},
        {"name": "X-Trace", "value": "7"},
    ]
    return {
        "startedDateTime": "2026-11-29T10:00:00Z",
        "request": {"method": method, "url": url, "httpVersion": "h2", "headers": headers, **request},
        "response": {"status": status, "content": {}},
    }


TOKEN = "access_token"
SHOP = [
    entry("https://shop.example/"),
    entry("https://shop.example/api/orders/17"),
    entry("https://shop.example/api/orders/18?full=1"),
    entry("https://shop.example/api/orders/18"),
    entry("https://shop.example/api/orders/18"),
    entry("https://shop.example/api/orders", "POST", 201, postData={"mimeType": "application/json", "text": "{}"}),
    entry("https://shop.example/api/pay", "POST", 201),
    entry("https://shop.example/missing.png", status=404),
    entry("https://shop.example/app.js", status=304),
    entry("https://shop.example/feed?access_token=abc"),
    entry("https://cdn.example/font.woff2"),
]


def write(folder: Path, entries: list[dict[str, Any]]) -> None:
    (folder / "site.har").write_text(json.dumps({"log": {"version": "1.2", "creator": {}, "entries": entries}}))


def test_its_requests_become_kinds_by_their_share(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path, SHOP)
    brief = read("{har: site.har, rate: 12/s}")
    assert [(kind.name, kind.method, kind.path, kind.rate) for kind in brief.kinds] == [
        ("get-api-orders-id", "GET", "/api/orders/18", 6.0),
        ("get", "GET", "/", 2.0),
        ("get-api-orders-id-2", "GET", "/api/orders/18?full=1", 2.0),
        ("get-app.js", "GET", "/app.js", 2.0),
    ]


def test_nothing_that_may_be_secret_goes_along(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path, SHOP)
    brief = read("{har: site.har}")
    assert all(kind.headers == {"Accept": "application/json"} for kind in brief.kinds)
    assert not any("secret" in str(kind) or "abc" in str(kind) for kind in brief.kinds)
    assert not any("sid=" in line or "abc" in line for line in brief.traffic_words)


def test_what_is_left_out_is_said(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path, SHOP)
    assert read("{har: site.har}").traffic_words == (
        "4 kinds of requests from site.har",
        "2 left out, since POST isn't among the methods (GET, HEAD, OPTIONS): POST /api/orders, POST /api/pay",
        "1 left out, since they weren't answered with 2xx: GET /missing.png",
        "1 left out, since only requests to shop.example are meant (host says which): cdn.example",
        f"1 left out, with what may be a secret in the query, {TOKEN} (carry: [{TOKEN}] takes it): GET /feed?{TOKEN}",
    )


def test_headers_and_parameters_go_along_when_told(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path, SHOP)
    brief = read("{har: site.har, carry: [x-trace, Cookie, access_token]}")
    assert any(kind.path == "/feed?access_token=abc" for kind in brief.kinds)
    assert brief.kinds[0].headers == {"Accept": "application/json", "Cookie": "sid=secret", "X-Trace": "7"}


def test_other_methods_are_taken_when_told_but_never_bodies(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path, SHOP)
    brief = read("{har: site.har, methods: [post]}")
    assert [(kind.method, kind.path) for kind in brief.kinds] == [("POST", "/api/pay")]
    assert any("have a body of their own: POST /api/orders" in line for line in brief.traffic_words)


def test_another_host_can_be_meant(tmp_path: Path, read: ReadBrief) -> None:
    write(tmp_path, SHOP)
    assert [kind.path for kind in read("{har: site.har, host: cdn.example}").kinds] == ["/font.woff2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html>", "expected a HAR file, which is JSON"),
        ('{"log": {}}', "expected a HAR file, as a browser saves it: Object missing required field `entries`"),
        ('{"log": {"entries": [{"request": {"method": "GET"}}]}}', "field `url` - at `$.log.entries[0].request`"),
        ('{"log": {"entries": [{"request": {"method": 3, "url": "/"}}]}}', "at `$.log.entries[0].request.method`"),
    ],
)
def test_what_is_no_har_file_is_refused_with_the_entry(
    tmp_path: Path, read: ReadBrief, text: str, message: str
) -> None:
    (tmp_path / "site.har").write_text(text)
    with pytest.raises(StackError) as caught:
        read("{har: site.har}")
    assert message in str(caught.value)
    assert "site.har" in str(caught.value)
