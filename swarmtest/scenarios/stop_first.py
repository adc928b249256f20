"""A rollout in which each old instance goes before its successor comes, whatever the file says.

Capacity is short meanwhile; with one replica there's none at all. Beside ``start-first`` it shows what the order
costs. It passes with nothing lost at all.
"""

from swarmtest.faults.update import Update
from swarmtest.plan import Plan, Step
from swarmtest.scenario import ROLLOUT, Scenario

SCENARIO = Scenario(
    story="a rollout with `order: stop-first`, whatever the stack's own order is",
    plan=Plan(steps=(Step("baseline"), Step("rollout", fault=Update(force=True)))),
    checks=ROLLOUT,
    deployed_with={"deploy": {"update_config": {"order": "stop-first"}}},
)
