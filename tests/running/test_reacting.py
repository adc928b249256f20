"""What's done at a stop is undone in time, and all of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from swarmtest.engine.client import Refused
from swarmtest.faults.freeze import Freeze
from swarmtest.plan import OnStop
from swarmtest.running import Run, reacting
from swarmtest.running.reacting import Reactions
from tests.faults.deployment import task


@dataclass
class Watched:
    """Two instances that were told to stop."""

    def signalled(self) -> dict[str, float]:
        return {"c1": 1.0, "c2": 1.0}

    def has_exited(self, _container: str) -> bool:
        return False

    def tasks(self) -> list[Any]:
        return [task(1), task(2)]


@dataclass
class Work:
    """As much of a run as is looked at."""

    watch: Watched = field(default_factory=Watched)


def test_one_that_can_not_be_healed_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    hurt: list[str] = []
    healed: list[str] = []

    def begin(_work: Run, _fault: object, aim: Any) -> str:
        hurt.append(aim.containers[0])
        return hurt[-1]

    def heal(_work: Run, container: Any) -> None:
        if container == hurt[0]:
            raise Refused("cannot resume", 500)
        healed.append(container)

    for name, played in {"begin": begin, "heal": heal, "carry_out": lambda *_words, **_more: None}.items():
        monkeypatch.setattr(reacting, name, played)
    for turn in (1, -1):  # whichever comes first
        hurt.clear()
        healed.clear()
        reactions = Reactions(cast("Run", Work()), OnStop(Freeze(), 3.0), {"c1", "c2"}, clock=lambda: 0.0)
        reactions.tick()
        hurt[::turn] = hurt
        with pytest.raises(Refused):
            reactions.close()
        assert healed == [hurt[1]]
