from __future__ import annotations

import pytest

from tests.lint.looking import look, stack

OLD = """\
services:
  web:
    image: demo/web:1
    ports: ["8001:80"]
    deploy: {replicas: 2, update_config: {order: start-first}}
"""


def test_one_file_alone_says_nothing_of_changes() -> None:
    assert stack(OLD).before is None
    assert look("ports-changed-start-first", OLD) == []
    assert look("mode-changed", OLD) == []


@pytest.mark.parametrize("ports", ['"8001:80", "8002:80"', '"8002:80"', '"8001:81"', '"8001:80/udp"'])
def test_another_port_in_a_start_first_update(ports: str) -> None:
    new = OLD.replace('"8001:80"', ports).replace("web:1", "web:2")
    (found,) = look("ports-changed-start-first", new, before=OLD)
    assert (found.severity, found.certainty, found.place.line) == ("warning", "likely", 4)
    assert "stop-first for this one update" in found.fix
    assert "grace" not in found.fix


def test_a_port_less_is_a_change_too() -> None:
    old = OLD.replace('"8001:80"', '"8001:80", "8002:80"')
    (found,) = look("ports-changed-start-first", OLD, before=old)
    assert "8002:80/tcp taken away" in found.effect


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("web:1", "web:2"),
        ('["8001:80"]', '["8001:80/tcp"]'),
        ('["8001:80"]', "[{target: 80, published: 8001, mode: ingress}]"),
        ('["8001:80"]', "[]"),
        ("  web:", "  site:"),
    ],
)
def test_the_same_ports_are_silent(was: str, becomes: str) -> None:
    assert look("ports-changed-start-first", OLD.replace(was, becomes), before=OLD) == []


def test_stop_first_and_host_ports_are_silent() -> None:
    new = OLD.replace('"8001:80"', '"8002:80"').replace("start-first", "stop-first")
    assert look("ports-changed-start-first", new, before=OLD) == []
    host = OLD.replace('"8001:80"', "{target: 80, mode: host}")
    assert look("ports-changed-start-first", host, before=host.replace("80,", "81,")) == []


def test_a_mode_can_not_be_changed() -> None:
    new = OLD.replace("replicas: 2", "mode: global")
    (found,) = look("mode-changed", new, before=OLD)
    assert (found.severity, found.certainty, found.place.line) == ("error", "certain", 5)
    assert "from replicated to global" in found.effect
    assert look("mode-changed", OLD, before=OLD) == []
