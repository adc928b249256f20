from swarmtest.catalogue import expand, load_scenario
from swarmtest.checks import check_names
from swarmtest.faults.reload import Reload


def test_only_the_front_door_is_touched_and_traffic_goes_on_beyond_the_longest_request() -> None:
    steps = load_scenario("reload").plan.steps
    assert [step.phase for step in steps] == ["baseline", "reload"]
    assert steps[-1].fault == Reload()
    assert steps[-1].hold_seconds == 12.0


def test_all_of_its_checks_exist() -> None:
    assert set(load_scenario("reload").checks) <= set(check_names())


def test_it_is_one_of_all() -> None:
    assert "reload" in expand("all")
