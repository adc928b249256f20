"""A rollout in which each new instance serves before the old one goes, whatever the file says.

Beside ``stop-first`` it shows what the order costs. It passes with nothing lost at all.
"""

from swarmtest.faults.update import Update
from swarmtest.plan import Plan, Step
from swarmtest.scenario import ROLLOUT, Scenario

SCENARIO = Scenario(
    story="a rollout with `order: start-first`, whatever the stack's own order is",
    plan=Plan(steps=(Step("baseline"), Step("rollout", fault=Update(force=True)))),
    checks=ROLLOUT,
    deployed_with={"deploy": {"update_config": {"order": "start-first"}}},
)
