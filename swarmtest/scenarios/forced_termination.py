"""A rollout with a grace of 1 s, whatever the file says: Swarm kills what's still running then.

It passes when only what ran on those instances was lost, all of it is classed, and the rollout completed.
"""

from swarmtest.faults.update import Update
from swarmtest.plan import Plan, Step
from swarmtest.scenario import HURT, Scenario

SCENARIO = Scenario(
    story="a rollout with a grace of 1 s: whatever is still running then is killed",
    plan=Plan(steps=(Step("baseline"), Step("rollout", fault=Update(force=True)))),
    checks=("replaced_every_instance", *HURT, "clients_reconnected_in_time"),
    kind="destructive",
    deployed_with={"stop_grace_period": "1s"},
)
