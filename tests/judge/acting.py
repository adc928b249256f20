"""Acts and what comes of them, put into a rollout made of numbers."""

from __future__ import annotations

from typing import Any

from tests.judge.builder import Life, Rollout


def stays(life: Life) -> Life:
    """Nobody stops it."""
    life.announced = life.desired = life.signalled = life.unready = life.closed = life.exited = None
    return life


def acted(rollout: Rollout, name: str, at: float = 0.0, number: int = 1, **fields: Any) -> Rollout:
    """An act that was carried out."""
    act = {"id": number, "name": name, "target": "api", "settings": {}, "prepares": False, "lasting": False, **fields}
    rollout.event(at, "act", **act, edge="began")
    return rollout.event(at + 0.1, "act", **act, edge="ended", outcome="ok", error=None)


def without_the_update(rollout: Rollout) -> Rollout:
    """Takes the builder's own act out, for another one in its place."""
    return rollout.drop(lambda event: event["kind"] == "act" and event["name"] == "update")
