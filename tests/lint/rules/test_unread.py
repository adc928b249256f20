from __future__ import annotations

import pytest

from tests.lint.looking import look

WEB = "services:\n  web:\n    image: demo/web:1\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (" version: '3.8'\n" + WEB, 2),
        (WEB + "---\nservices: {api: {image: demo/api:1}}\n", 5),
        (WEB + "...\n# as before\n---\nx: 1\n", 7),
        ("# head\n\n  services:\n    web: {image: demo/web:1}\nnetworks: {a: {}}\n", 5),
    ],
)
def test_what_follows_the_first_document_is_not_read_by_swarm(text: str, line: int) -> None:
    (found,) = look("rest-not-read", text)
    assert (found.severity, found.place.line) == ("error", line)


@pytest.mark.parametrize("end", ["", "# the end", "---\n", "...\n", "\n\n  # indented\n", "--- # nothing\n...\n"])
def test_a_file_that_only_ends_has_no_rest(end: str) -> None:
    assert look("rest-not-read", WEB + end) == []
    assert look("rest-not-read", "{services: {web: {image: demo/web:1}}}\n" + end) == []
    assert look("rest-not-read", (WEB + end).replace("\n", "\r\n")) == []


def test_compose_reads_each_document_and_refuses_less_indentation() -> None:
    assert look("rest-not-read", WEB + "---\nservices: {api: {image: demo/api:1}}\n", "compose") == []
    (found,) = look("rest-not-read", " name: a\n" + WEB, "compose")
    assert found.effect.startswith("Compose will refuse")


@pytest.mark.parametrize("text", ["networks: {a: {}}\n", "services: {}\n", " version: '3.8'\n" + WEB])
def test_a_stack_without_services_deploys_nothing(text: str) -> None:
    (found,) = look("no-services", text)
    assert found.severity == "warning"
    assert look("no-services", text, "compose") == []


def test_a_stack_with_one_service_is_one() -> None:
    assert look("no-services", WEB) == []


def test_a_file_of_the_first_format_is_refused_and_nothing_more() -> None:
    """docker/compose 1.29.2 ``tests/fixtures/UpperCaseDir``: services at the top, as before version 2."""
    assert look("no-services", "web: {image: demo/web:1}\n") == []
    assert len(look("docker-refuses", "web: {image: demo/web:1}\n")) == 1


def test_what_compose_puts_together_from_elsewhere_is_not_read() -> None:
    text = "include: [base.yml]\n" + WEB + "  api:\n    extends: web\n"
    first, second = look("extends-not-read", text, "compose")
    assert (first.severity, first.place.line) == ("warning", 1)
    assert (second.place.line, "what api takes over" in second.effect) == (6, True)
    assert look("extends-not-read", text) == []
    assert look("extends-not-read", WEB, "compose") == []
