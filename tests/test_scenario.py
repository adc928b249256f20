"""Plans as data."""

from swarmtest.faults.update import Update
from swarmtest.plan import Plan, Step
from swarmtest.scenario import Scenario


def test_a_step_says_in_the_plan_what_is_done_or_how_long_nothing_is() -> None:
    assert Step("baseline").as_json(8.0) == {"phase": "baseline", "seconds": 8.0}
    assert Step("hold", hold_seconds=20.0).as_json(8.0) == {"phase": "hold", "seconds": 20.0}
    rollout = Step("rollout", fault=Update())
    assert rollout.as_json(8.0) == {
        "phase": "rollout",
        "fault": "update",
        "settings": {"force": True},
        "replaces": True,
        "prepares": False,
        "target": None,
    }


def test_only_a_plan_with_a_fault_replaces_instances() -> None:
    assert not Plan((Step("baseline"),)).replaces
    assert Plan((Step("baseline"), Step("rollout", fault=Update()))).replaces


def test_scenarios_are_values() -> None:
    plan = Plan((Step("baseline"),))
    assert Scenario("s", plan, ("a",)) == Scenario("s", Plan((Step("baseline"),)), ("a",))
