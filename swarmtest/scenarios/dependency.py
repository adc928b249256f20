"""What the service depends on is switched off for 10 s, and nothing else is touched.

Requests that need it fail, and may. But no instance may die of it: a health check that asks a shared dependency
turns a short blip into the death of all instances at once. It passes when none did, and nothing was lost but for
the time without it.
"""

from swarmtest.faults.switch_off import SwitchOff
from swarmtest.plan import Plan, Step
from swarmtest.scenario import TRAFFIC, Scenario

SCENARIO = Scenario(
    story="a service that the one under test depends on is off for 10 s; no instance may die of it",
    plan=Plan(steps=(Step("baseline"), Step("without", fault=SwitchOff(), hold_seconds=10.0))),
    checks=("survived_its_dependency", "hurt_what_was_planned", "lost_only_to_the_fault", *TRAFFIC),
    kind="destructive",
    needs=("dependency",),
)
