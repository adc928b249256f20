"""A rollout with three times the traffic from the moment on in which an old instance goes.

That's when capacity is least, so whatever is lost beyond what ``rolling`` loses is lost to missing capacity.
It passes with nothing lost at all.
"""

from swarmtest.faults.update import Update
from swarmtest.plan import Burst, Plan, Step
from swarmtest.scenario import ROLLOUT, Scenario

SCENARIO = Scenario(
    story="a rollout, with three times the traffic for 8 s from the moment of least capacity on",
    plan=Plan(
        steps=(
            Step("baseline"),
            Step("rollout", fault=Update(force=True), burst=Burst(factor=3.0, seconds=8.0)),
        )
    ),
    checks=ROLLOUT,
)
