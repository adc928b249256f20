from __future__ import annotations

from typing import Any

import pytest

from swarmtest.stack.syntax.merging import merged_by_compose, merged_by_swarm

UDP = {"target": 443, "published": 443, "protocol": "udp", "mode": "host"}
TCP = {"target": 443, "published": 443, "protocol": "tcp", "mode": "host"}


def laid_over(first: dict[str, Any], later: dict[str, Any]) -> Any:
    return merged_by_swarm([{"services": {"web": first}}, {"services": {"web": later}}])["services"]["web"]


@pytest.mark.parametrize("later", [{"stop_grace_period": "3s"}, {"ports": []}])
def test_a_second_file_takes_one_of_two_ports_with_the_same_number_away(later: dict[str, Any]) -> None:
    """docker/cli ``cli/compose/loader/merge.go``, ``toServicePortConfigsMap``: the key is the number outside alone."""
    assert laid_over({"ports": [UDP, TCP]}, later)["ports"] == [TCP]


def test_ports_with_no_number_outside_count_as_one() -> None:
    assert laid_over({"ports": ["80", "443"]}, {"init": True})["ports"] == ["443"]


def test_a_range_is_taken_apart() -> None:
    merged = laid_over({"ports": ["8000-8002:80-82"]}, {"ports": ["8001:9000"]})
    assert merged["ports"] == ["8000:80/tcp", "8001:9000", "8002:82/tcp"]


def test_a_service_of_one_file_only_keeps_both() -> None:
    merged = merged_by_swarm([{"services": {"web": {"ports": [UDP, TCP]}}}, {"services": {"other": {"image": "x"}}}])
    assert merged["services"]["web"]["ports"] == [UDP, TCP]


def test_compose_keeps_both() -> None:
    web = {"ports": [UDP, TCP]}
    merged = merged_by_compose([{"services": {"web": web}}, {"services": {"web": {"init": True}}}])
    assert merged["services"]["web"]["ports"] == [UDP, TCP]


def test_a_text_that_looks_like_no_time_isnt_zero() -> None:
    assert laid_over({"image": "demo/web:1", "user": "app"}, {"image": "0", "user": "0"}) == {"image": "0", "user": "0"}


def test_a_time_of_zero_in_a_later_file_changes_nothing() -> None:
    assert laid_over({"stop_grace_period": "30s"}, {"stop_grace_period": "0s"}) == {"stop_grace_period": "30s"}
