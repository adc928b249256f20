"""A release that never gets healthy: Swarm is to take it back by itself, and the old version to serve on.

It passes with nothing lost at all, the update rolled back, and every instance one of the old version.
"""

from swarmtest.faults.unhealthy import Unhealthy
from swarmtest.plan import Plan, Step
from swarmtest.scenario import TRAFFIC, Scenario

SCENARIO = Scenario(
    story="a release that never gets healthy; it's to be rolled back with nothing lost",
    plan=Plan(steps=(Step("baseline"), Step("bad release", fault=Unhealthy(way="never")))),
    checks=("answered_every_request", "rolled_back_by_itself", "kept_capacity", *TRAFFIC),
)
