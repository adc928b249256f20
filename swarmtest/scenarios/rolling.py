"""Every instance is replaced by one of the same image, by the stack's own update policy.

Nothing changes but the lifecycle, so whatever is lost is lost to starting and stopping. It passes with
nothing lost at all.
"""

from swarmtest.faults.update import Update
from swarmtest.plan import Plan, Step
from swarmtest.scenario import Scenario

SCENARIO = Scenario(
    story="every instance is replaced by one of the same image, under load, by the stack's own update policy",
    plan=Plan(steps=(Step("baseline"), Step("rollout", fault=Update(force=True)))),
    checks=(
        "answered_every_request",
        "replaced_every_instance",
        "exited_within_grace",
        "drained_before_exit",
        "front_door_let_go_in_time",
        "nothing_arrived_after_close",
        "new_served_only_when_ready",
        "kept_capacity",
        "delivered_the_traffic",
        "exercised_every_instance",
        "ids_on_every_record",
        "handled_each_request_once",
    ),
)
