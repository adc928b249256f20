"""What a trace says of a run that nobody writes any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from swarmtest.events import Event
from swarmtest.recovery.leavings import leavings_of, read_leavings
from tests.recovery.conftest import FROZEN, act, freeze, scale

HEAD = Event(1.0, "trace", {"version": 1, "locked": True})


def events(*acts: dict[str, Any]) -> list[Event]:
    return [HEAD, *(Event(2.0, "act", fields) for fields in acts)]


def heal(number: int, of: int, outcome: str | None = None) -> dict[str, Any]:
    return act(number, "heal", heals=of) if outcome is None else act(number, "heal", "ended", heals=of, outcome=outcome)


@pytest.mark.parametrize(
    ("acts", "unhealed"),
    [
        ((), []),
        ((act(0, "deploy"), act(1, "update"), act(2, "kill")), []),
        ((freeze(1),), [1]),
        ((freeze(1), freeze(1, "ended", outcome="ok")), [1]),
        ((freeze(1), freeze(1, "ended", outcome="failed")), [1]),
        ((freeze(1), heal(2, 1)), [1]),
        ((freeze(1), heal(2, 1), heal(2, 1, "unknown")), [1]),
        ((freeze(1), heal(2, 1), heal(2, 1, "ok")), []),
        ((scale(1, 3), freeze(2), scale(3, 5)), [3, 2, 1]),
        ((scale(1, 3), freeze(2), heal(3, 1, "ok")), [2]),
        ((freeze(1, "skipped"),), []),
    ],
)
def test_what_lasts_and_was_not_healed_for_certain_is_unhealed_the_newest_first(
    acts: tuple[dict[str, Any], ...], unhealed: list[int]
) -> None:
    left = leavings_of(events(*acts))
    assert [found.number for found in left.unhealed] == unhealed
    assert left.locked


def test_an_aim_names_the_instances_that_were_written_down() -> None:
    (frozen,) = leavings_of(events(freeze(1))).unhealed
    assert frozen.aim.service == "api"
    assert frozen.aim.containers == (FROZEN["container"],)
    assert (frozen.aim.instances[0].slot, frozen.aim.instances[0].node) == (2, "node1")


@pytest.mark.parametrize("missing", ["id", "settings", "instances", "before", "target", "lasting"])
def test_a_field_that_is_missing_is_no_reason_to_break(missing: str) -> None:
    fields = {key: value for key, value in freeze(1).items() if key != missing}
    left = leavings_of(events(fields))
    assert left.outcome is None
    for found in left.unhealed:
        assert found.aim.service in ("api", "")


def test_a_trace_without_an_end_is_not_done_and_one_with_an_end_is() -> None:
    end = Event(9.0, "ended", {"outcome": "finished"})
    assert not leavings_of(events()).done
    assert leavings_of([*events(), end]).done
    assert not leavings_of([*events(freeze(1)), end]).done
    recovered = Event(9.0, "ended", {"outcome": "interrupted", "recovered": "removed"})
    assert leavings_of([*events(freeze(1)), recovered]).done


def test_a_missing_and_an_empty_trace_say_that_nothing_was_begun(tmp_path: Path) -> None:
    assert read_leavings(tmp_path / "events.jsonl").done
    (tmp_path / "events.jsonl").touch()
    assert read_leavings(tmp_path / "events.jsonl").outcome == "never begun"
