"""Nothing is done to the stack. What's lost here is lost every day, deploy or no deploy.

It passes with nothing lost at all.
"""

from swarmtest.plan import Plan, Step
from swarmtest.scenario import Scenario

SCENARIO = Scenario(
    story="no change at all: what is lost with nobody touching the stack",
    plan=Plan(steps=(Step("baseline"), Step("hold", hold_seconds=15.0))),
    checks=(
        "answered_every_request",
        "kept_capacity",
        "delivered_the_traffic",
        "exercised_every_instance",
        "ids_on_every_record",
        "handled_each_request_once",
        "no_message_lost",
    ),
)
