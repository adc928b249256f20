"""A release that gets healthy, takes over, and turns unhealthy while Swarm still watches it.

The old instance is gone by then, so the way back is a rollout of its own. It passes with nothing lost at all, the
update rolled back, and every instance one of the old version.
"""

from swarmtest.faults.unhealthy import Unhealthy
from swarmtest.plan import Plan, Step
from swarmtest.scenario import TRAFFIC, Scenario

SCENARIO = Scenario(
    story="a release that turns unhealthy within the update's monitor time; it's to be rolled back with nothing lost",
    plan=Plan(steps=(Step("baseline"), Step("bad release", fault=Unhealthy(way="soon")))),
    checks=("answered_every_request", "rolled_back_by_itself", *TRAFFIC),
)
