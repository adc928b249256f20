"""Paths of requests: which are alike, what they're called, what may be secret, and how they go on the wire."""

from __future__ import annotations

import pytest

from swarmtest.stack.block.sources.paths import is_secret, name_of, secret_parameters, template_of, wire_path


@pytest.mark.parametrize(
    ("path", "template"),
    [
        ("/orders/17", "/orders/{id}"),
        ("/orders/17/lines/2", "/orders/{id}/lines/{id}"),
        ("/u/3f2504e0-4f89-11d3-9a0c-0305e82c3301", "/u/{id}"),
        ("/blob/deadbeef01", "/blob/{id}"),
        ("/s/eyJhbGciOiJIUzI1NiJ9", "/s/{id}"),
        ("/v1/orders", "/v1/orders"),
        ("/feedback", "/feedback"),
        ("/decade", "/decade"),
        ("/search?q=a&page=2", "/search?page&q"),
        ("/", "/"),
    ],
)
def test_what_names_one_thing_of_many_is_taken_out(path: str, template: str) -> None:
    assert template_of(path) == template


def test_a_kind_is_called_by_its_method_and_its_path() -> None:
    assert name_of("GET", "/orders/{id}?full", []) == "get-orders-id"
    assert name_of("GET", "/", []) == "get"
    assert name_of("GET", "/a", ["get-a", "get-a-2"]) == "get-a-3"
    assert len(name_of("OPTIONS", "/very/" * 20, [])) <= 36
    assert name_of("GET", "/käse/ü", []) == "get-k-se"


@pytest.mark.parametrize(
    "name", ["token", "access_token", "api_key", "apikey", "X-Amz-Signature", "password", "code", "sid"]
)
def test_names_of_secrets_are_known(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize("name", ["q", "page", "country_code", "monkey", "author", "state_id", "keyword"])
def test_other_names_are_no_secrets(name: str) -> None:
    assert not is_secret(name)


def test_a_secret_that_was_asked_for_is_none() -> None:
    assert secret_parameters("/a?token=1&q=2", []) == ["token"]
    assert secret_parameters("/a?token=1&q=2", ["token"]) == []


@pytest.mark.parametrize(
    ("target", "wire"),
    [
        ("https://shop.example/a b?c=ä#top", "/a%20b?c=%C3%A4"),
        ("https://shop.example", "/"),
        ("/a?x={ms}", "/a?x=%7Bms%7D"),
        ("//double/slash", "//double/slash"),
        ("/kept%2Fas?it=is", "/kept%2Fas?it=is"),
    ],
)
def test_a_path_goes_on_the_wire_as_ascii_without_braces(target: str, wire: str) -> None:
    assert wire_path(target) == wire
