"""Several processes' words as one."""

from __future__ import annotations

from typing import Any

import pytest

from swarmtest.traffic.merging import together


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        ([], {}),
        ([{"sent": 3}], {"sent": 3}),
        ([{"sent": 3, "missed": 0}, {"sent": 4, "missed": 1}], {"sent": 7, "missed": 1}),
        ([{"late_ms_p99": 3.0}, {"late_ms_p99": 9.0}], {"late_ms_p99": 9.0}),
        ([{"cpu_share_max": 0.9}, {"cpu_share_max": 0.2}], {"cpu_share_max": 0.9}),
        ([{"machine_share": None}, {"machine_share": 0.5}], {"machine_share": 0.5}),
        ([{"machine_share": 0.5}, {"machine_share": None}], {"machine_share": 0.5}),
        ([{"ok": True}, {"ok": False}, {"ok": True}], {"ok": False}),
        ([{"wrong": ["a"]}, {"wrong": []}, {"wrong": ["b"]}], {"wrong": ["a", "b"]}),
        ([{"outcomes": {"complete": 3}}, {"outcomes": {"complete": 1, "timed_out": 2}}],
         {"outcomes": {"complete": 4, "timed_out": 2}}),
        ([{"sent": 1}, {"open": 2}], {"sent": 1, "open": 2}),
        ([{"name": "a"}, {"name": "b"}], {"name": "a"}),
    ],
)  # fmt: skip
def test_counts_are_added_up_and_of_loads_and_delays_the_worst_counts(
    words: list[dict[str, Any]], whole: dict[str, Any]
) -> None:
    assert together(words) == whole


def test_words_are_left_as_they_were() -> None:
    one, other = {"outcomes": {"complete": 1}}, {"outcomes": {"complete": 2}}
    together([one, other])
    assert (one, other) == ({"outcomes": {"complete": 1}}, {"outcomes": {"complete": 2}})
