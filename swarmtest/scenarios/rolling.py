"""Every instance is replaced by one of the same image, by the stack's own update policy.

Nothing changes but the lifecycle, so whatever is lost is lost to starting and stopping. It passes with
nothing lost at all.
"""

from swarmtest.faults.update import Update
from swarmtest.plan import Plan, Step
from swarmtest.scenario import ROLLOUT, Scenario

SCENARIO = Scenario(
    story="every instance is replaced by one of the same image, under load, by the stack's own update policy",
    plan=Plan(steps=(Step("baseline"), Step("rollout", fault=Update(force=True)))),
    checks=ROLLOUT,
)
