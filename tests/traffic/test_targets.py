from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.traffic.targets import FrontDoor, ListedTargets, Target, write_targets


@pytest.mark.parametrize(
    ("url", "host", "port", "label", "prefix"),
    [
        ("http://127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1:8080", ""),
        ("http://shop.example/base/", "shop.example", 80, "shop.example:80", "/base"),
        ("http://[::1]:8080/", "::1", 8080, "[::1]:8080", ""),
    ],
)
def test_a_url_names_a_target(url: str, host: str, port: int, label: str, prefix: str) -> None:
    assert Target.from_url(url) == Target(host, port, label, prefix)
    assert FrontDoor(Target.from_url(url)).pick() == Target(host, port, label, prefix)


@pytest.mark.parametrize("text", ["8080", ":8080", "host", "host:", "host:http"])
def test_a_text_without_host_and_port_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected host:port|invalid literal"):
        Target.from_text(text)


def test_listed_targets_take_turns_and_follow_the_file(tmp_path: Path) -> None:
    path = tmp_path / "targets.json"
    targets = ListedTargets(path)
    assert targets.pick() is None
    write_targets(path, ["127.0.0.1:1", "127.0.0.1:2"])
    assert targets.pick() is None
    assert targets.refresh() is None
    picked = [target.port for _ in range(4) if (target := targets.pick())]
    assert sorted(picked[:2]) == [1, 2]
    assert picked[:2] == picked[2:]
    write_targets(path, ["127.0.0.1:3"])
    targets.refresh()
    assert {targets.pick() for _ in range(2)} == {Target.from_text("127.0.0.1:3")}
    write_targets(path, [])
    targets.refresh()
    assert targets.pick() is None


def test_a_missing_file_is_complained_of_once(tmp_path: Path) -> None:
    targets = ListedTargets(tmp_path / "targets.json")
    assert targets.refresh()
    assert targets.refresh() is None


def test_a_broken_file_leaves_the_last_list_and_says_so_once(tmp_path: Path) -> None:
    path = tmp_path / "targets.json"
    write_targets(path, ["127.0.0.1:1"])
    targets = ListedTargets(path)
    targets.refresh()
    path.write_text('{"targets": ["127.0')
    assert "targets.json" in (targets.refresh() or "")
    assert targets.refresh() is None
    assert targets.pick() is not None
