"""One instance less, for a while.

The one that goes is drained as in a rollout. It passes with nothing lost at all.
"""

from swarmtest.faults.scale import Scale
from swarmtest.plan import Plan, Step
from swarmtest.scenario import STOPS, STREAMS, TRAFFIC, Scenario

SCENARIO = Scenario(
    story="one instance less for some seconds, under load",
    plan=Plan(steps=(Step("baseline"), Step("fewer", fault=Scale(by=-1), hold_seconds=3.0))),
    checks=("answered_every_request", "scaled_as_asked", "announced_before_the_signal", *STOPS, *STREAMS, *TRAFFIC),
)
