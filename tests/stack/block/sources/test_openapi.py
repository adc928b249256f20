"""Requests out of an OpenAPI description: those that it gives all values for, and why others aren't taken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swarmtest.errors import StackError
from swarmtest.stack.block.sources import Wanted
from swarmtest.stack.block.sources.openapi import read_openapi
from swarmtest.stack.syntax.yamlfile import read_yaml
from tests.stack.block.sources.conftest import ReadBrief

ORDERS = """\
openapi: 3.0.3
info: {title: Orders, version: "1.4"}
servers:
  - url: https://{region}.shop.example/v1
    variables: {region: {default: eu}}
paths:
  /orders:
    parameters:
      - $ref: "#/components/parameters/Tenant"
    get:
      parameters:
        - {name: status, in: query, required: true, schema: {type: string, enum: [open, paid]}}
        - {name: page, in: query, schema: {type: integer, default: 1}}
    post:
      requestBody: {required: true, content: {application/json: {schema: {type: object}}}}
  /orders/{orderId}:
    get:
      parameters:
        - {name: orderId, in: path, required: true, schema: {type: string}, examples: {one: {value: "A 17"}}}
    delete:
      parameters:
        - {name: orderId, in: path, required: true, schema: {type: string, example: A18}}
  /invoices/{id}:
    get:
      parameters:
        - {name: id, in: path, required: true, schema: {type: string, format: uuid}}
  /me:
    get:
      security: [{bearer: []}]
  /basket:
    get:
      parameters:
        - {name: sid, in: cookie, required: true, schema: {type: string, default: x}}
  /healthz:
    head: {responses: {"200": {description: ok}}}
  x-internal: not a path
components:
  parameters:
    Tenant: {name: X-Tenant, in: header, required: true, schema: {type: string, default: acme}}
"""


def taken(folder: Path, text: str, wanted: Wanted | None = None, name: str = "api.yaml") -> dict[str, dict[str, str]]:
    """Each request as ``METHOD path`` with its headers, and under "out" what wasn't taken."""
    (folder / name).write_text(text)
    found = read_openapi(folder / name, wanted or Wanted())
    requests = {f"{one.method} {one.path}": dict(one.headers) for one in found.samples}
    return {**requests, "out": dict.fromkeys(found.left_out.words(), "")}


def refused(folder: Path, text: str, name: str = "api.yaml") -> StackError:
    with pytest.raises(StackError) as caught:
        taken(folder, text, name=name)
    return caught.value


def test_safe_requests_with_all_their_values_are_taken(tmp_path: Path) -> None:
    found = taken(tmp_path, ORDERS)
    found.pop("out")
    assert found == {
        "GET /v1/orders?status=open": {"X-Tenant": "acme"},
        "GET /v1/orders/A%2017": {},
        "HEAD /v1/healthz": {},
    }


def test_what_is_left_out_is_said_with_the_reason(tmp_path: Path) -> None:
    assert list(taken(tmp_path, ORDERS)["out"]) == [
        "1 left out, since POST isn't among the methods (GET, HEAD, OPTIONS): POST /orders",
        "1 left out, since DELETE isn't among the methods (GET, HEAD, OPTIONS): DELETE /orders/{orderId}",
        "1 left out, since nothing says what {id} may be (example, default or enum): GET /invoices/{id}",
        "1 left out, since they ask for a log-in (headers adds what they ask for): GET /me",
        "1 left out, since they need a cookie or a secret (headers adds it): GET /basket",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [("X", "a\\r\\nHost: evil"), ("X: y", "a"), ("Content-Length", "5"), ("X", "ü")],
)
def test_a_header_that_cannot_be_sent_as_it_is_described_is_left_out(tmp_path: Path, name: str, value: str) -> None:
    text = f"""
openapi: 3.1.0
paths:
  /a: {{get: {{parameters: [{{name: "{name}", in: header, required: true, example: "{value}"}}]}}}}
  /b: {{get: {{}}}}
"""
    found = taken(tmp_path, text)
    assert [key for key in found if key != "out"] == ["GET /b"]
    assert any("can't be sent as a header" in line for line in found["out"])


def test_other_methods_are_taken_when_told_but_never_bodies(tmp_path: Path) -> None:
    found = taken(tmp_path, ORDERS, Wanted(methods=("DELETE", "POST")))
    assert "DELETE /v1/orders/A18" in found
    assert any("need a body of their own: POST /orders" in line for line in found["out"])


def test_headers_of_the_stack_file_answer_what_asks_for_a_log_in(tmp_path: Path) -> None:
    assert "GET /v1/me" in taken(tmp_path, ORDERS, Wanted(headers={"Authorization": "Bearer test"}))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("example: 1, schema: {default: 2}", "1"),
        ("schema: {type: integer, default: 2, enum: [3]}", "2"),
        ("schema: {enum: [3, 4]}", "3"),
        ("schema: {const: 5}", "5"),
        ("schema: {examples: [6, 7]}", "6"),
        ("schema: {type: boolean, default: true}", "true"),
        ("schema: {type: array, default: [a, b]}", "a%2Cb"),
        ("schema: {$ref: '#/components/schemas/Size'}", "XL"),
        ("examples: {a: {$ref: '#/components/examples/Nine'}}, schema: true", "9"),
        ("content: {application/json: {example: 10}}", "10"),
        ("content: {application/json: {schema: {default: 11}}}", "11"),
    ],
)
def test_a_value_is_taken_from_wherever_one_is_given(tmp_path: Path, parameter: str, value: str) -> None:
    text = f"""\
openapi: 3.1.0
paths: {{"/a/{{x}}": {{get: {{parameters: [{{name: x, in: path, required: true, {parameter}}}]}}}}}}
components: {{schemas: {{Size: {{enum: [XL]}}}}, examples: {{Nine: {{value: 9}}}}}}
"""
    assert f"GET /a/{value}" in taken(tmp_path, text)


def test_swagger_2_is_read_as_well_and_json_too(tmp_path: Path) -> None:
    parameter = {"name": "id", "in": "path", "required": True, "type": "string", "x-example": "17"}
    operation = {"parameters": [parameter, {"name": "q", "in": "query", "required": True, "default": ["a", "b"]}]}
    text = json.dumps({"swagger": "2.0", "basePath": "/api/", "paths": {"/a/{id}": {"get": operation}}})
    assert "GET /api/a/17?q=a&q=b" in taken(tmp_path, text, name="api.json")


def test_the_first_servers_path_can_be_replaced(tmp_path: Path) -> None:
    assert "HEAD /healthz" in taken(tmp_path, ORDERS, Wanted(base_path=""))
    assert "HEAD /v2/healthz" in taken(tmp_path, ORDERS, Wanted(base_path="/v2"))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("- 1", 1, "expected an OpenAPI description with the key paths"),
        ("info: {}", 1, "found neither of the keys openapi and swagger"),
        ("openapi: 1.2", 1, "found version 1.2"),
        ("openapi: 3.0.0\npaths: [1]", 2, "expected a mapping, found [1]"),
        ("openapi: 3.0.0\npaths:\n  /a: 17", 3, "expected a mapping, found 17"),
        ("openapi: 3.0.0\npaths:\n  /a:\n    get:\n      parameters: 3", 5, "expected a list, found 3"),
        ("openapi: 3.0.0\npaths:\n  /a:\n    $ref: 'other.yaml#/a'", 4, "isn't followed; bundle them into one file"),
        ("openapi: 3.0.0\npaths:\n  /a:\n    $ref: '#/nowhere'", 4, "a reference to what isn't there"),
        ("openapi: 3.0.0\npaths:\n  /a:\n    $ref: '#/paths/~1a'", 3, "references that lead in circles"),
        ("openapi: [", 1, "not valid YAML"),
    ],
)
def test_a_broken_description_is_shown_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    error = refused(tmp_path, text)
    assert message in str(error)
    assert error.line == line, str(error)


def test_broken_json_is_said_to_be_that(tmp_path: Path) -> None:
    assert "not valid JSON" in str(refused(tmp_path, "{", name="api.json"))


def test_all_its_requests_share_the_rate_equally(tmp_path: Path, read: ReadBrief) -> None:
    (tmp_path / "api.yaml").write_text(ORDERS)
    brief = read("{openapi: api.yaml, rate: 30/s, headers: {X-Load: test}}")
    names = ["get-v1-orders", "get-v1-orders-orderId", "get-v1-me"]
    assert [(kind.name, kind.rate) for kind in brief.kinds] == [(name, pytest.approx(10)) for name in names]
    assert brief.kinds[0].headers == {"X-Tenant": "acme", "X-Load": "test"}
    assert brief.traffic_words[0] == "3 kinds of requests from api.yaml"


ODD = st.sampled_from(
    [None, 0, True, "", "x", [], [1], {}, {"a": 1}, {"$ref": "#/paths"}, {"$ref": "x"}, [{}], {"in": "path"}]
).map(deepcopy)
"""Each of its own, since what's put into a tree may be changed there by the next one."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each value in a tree."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_it_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    (tmp_path / "api.yaml").write_text(ORDERS)
    tree = read_yaml(tmp_path / "api.yaml", "").tree
    for path in data.draw(st.lists(st.sampled_from(list(places(tree))[1:]), min_size=1, max_size=3)):
        owner = tree
        for key in path[:-1]:
            owner = owner.get(key) if isinstance(owner, dict) else None
        if isinstance(owner, dict):
            owner[path[-1]] = data.draw(ODD)
    try:
        found = taken(tmp_path, json.dumps(tree), Wanted(methods=("GET", "POST", "DELETE", "HEAD")), "api.json")
    except StackError:
        return
    assert all(request.partition(" ")[2].startswith("/") for request in found if request != "out")
