"""From ranks to instances, within the guard rails."""

from __future__ import annotations

import pytest

from swarmtest.engine import TaskView
from swarmtest.faults import Aim
from swarmtest.plan import Target
from swarmtest.running.aiming import Rails, choose


def task(slot: int, *, state: str = "running", service: str = "api", node: str = "n1") -> TaskView:
    return TaskView(
        id=f"t{slot}", service=service, slot=slot, node=node, container=f"c{slot}", desired="running", state=state,
        message="", error=None, exit_code=None, addresses=(), host_ports={}, grace_seconds=10.0, image="i",
        created=float(slot), force_update=0,
    )  # fmt: skip


THREE = (task(3), task(1), task(2), task(9, service="bank"))


def chosen(target: Target | None, tasks: tuple[TaskView, ...] = THREE, **rails: int) -> object:
    aim = choose(target, "api", tasks, Rails(node="n1", **rails))
    return [item.slot for item in aim.instances] if isinstance(aim, Aim) else aim


@pytest.mark.parametrize(
    ("ranks", "slots"),
    [((0,), [1]), ((2,), [3]), ((0, 2), [1, 3]), ((3,), [1]), ((4, 0), [1, 2])],
)
def test_a_rank_is_a_place_among_those_that_run_by_slot(ranks: tuple[int, ...], slots: list[int]) -> None:
    assert chosen(Target(ranks=ranks)) == slots


def test_without_a_target_it_is_the_service_as_a_whole() -> None:
    assert choose(None, "api", (), Rails()) == Aim("api")


def test_one_that_does_not_run_has_no_rank() -> None:
    assert chosen(Target(ranks=(1,)), (task(1), task(2, state="starting"), task(3))) == [3]


def test_two_ranks_that_fall_on_one_instance_are_too_many() -> None:
    assert chosen(Target(ranks=(0, 2)), (task(1), task(2))) == "2 instances were to be hurt, and only 2 run"


def test_the_floor_is_kept() -> None:
    assert chosen(Target(ranks=(0, 1)), (task(1), task(2))) == ("2 of api run; 1 must be left, so 2 can't be hurt")
    assert chosen(Target(ranks=(0, 1)), (task(1), task(2)), floor=0) == [1, 2]


def test_the_limit_of_hurts_is_kept() -> None:
    assert chosen(Target(ranks=(0,)), most=3, hurt=2) == [1]
    assert chosen(Target(ranks=(0,)), most=3, hurt=3) == ("3 instances were hurt already, and 3 is the limit")


def test_one_on_another_node_is_out_of_reach() -> None:
    tasks = (task(1, node="n2"), task(2))
    assert "api.1 is on node n2" in str(chosen(Target(ranks=(0,)), tasks))
    assert chosen(Target(ranks=(1,)), tasks) == [2]


def test_with_none_running_nobody_is_hurt() -> None:
    assert chosen(Target(ranks=(0,)), ()) == "no instance of api runs"


@pytest.mark.parametrize(
    ("fewer", "why"),
    [(1, None), (2, None), (3, "3 of api run; 1 must be left, so it can't be 3 fewer"), (-2, None), (0, None)],
)
def test_the_floor_is_kept_of_a_service_that_is_scaled_in(fewer: int, why: str | None) -> None:
    assert choose(None, "api", THREE, Rails(), fewer) == (why or Aim("api"))
