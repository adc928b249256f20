"""A release that turns unhealthy when the update is long over: Swarm takes nothing back any more.

It only restarts what's unhealthy, again and again. No setting of an update helps against it, so it passes when what
was lost ran on instances that were ended for their health, and all of it is classed; what's seen is what such a
release costs.
"""

from swarmtest.faults.unhealthy import Unhealthy
from swarmtest.plan import Plan, Step
from swarmtest.scenario import TRAFFIC, Scenario

SCENARIO = Scenario(
    story="a release that turns unhealthy after the update is over: what it costs, since nothing rolls it back",
    plan=Plan(
        steps=(
            Step("baseline"),
            Step("bad release", fault=Unhealthy(way="late")),
            Step("aftermath", hold_seconds=25.0),
        )
    ),
    checks=("hurt_what_was_planned", "lost_only_to_the_fault", *TRAFFIC),
    kind="destructive",
)
