"""A rollout in which each old instance stands still from its stop signal on, for longer than its grace.

The grace is 8 s whatever the file says, so that it can be seen to end. Swarm kills what's left then. It passes when
only what ran on those instances was lost, all of it is classed, and the rollout completed.
"""

from swarmtest.faults.freeze import Freeze
from swarmtest.faults.update import Update
from swarmtest.plan import OnStop, Plan, Step
from swarmtest.scenario import HURT, Scenario

SCENARIO = Scenario(
    story="a rollout in which each old instance is still draining when its grace (8 s here) is over, and is killed",
    plan=Plan(
        steps=(
            Step("baseline"),
            Step("rollout", fault=Update(force=True), on_stop=OnStop(Freeze(), seconds=10.0)),
        )
    ),
    checks=("replaced_every_instance", *HURT, "clients_reconnected_in_time"),
    kind="destructive",
    deployed_with={"stop_grace_period": "8s"},
)
