"""The same instance is killed each time that it's back, as an app does that crashes on the same input.

It passes as ``kill`` does; a restart policy with few attempts or a growing delay shows here.
"""

from swarmtest.faults.kill import Kill
from swarmtest.plan import Plan, Step, Target
from swarmtest.scenario import HURT, Scenario

SCENARIO = Scenario(
    story="the first instance is killed (SIGKILL) four times, each time as soon as it's back",
    plan=Plan(
        steps=(
            Step("baseline"),
            Step("crash 1", fault=Kill(), target=Target(ranks=(0,))),
            Step("crash 2", fault=Kill(), target=Target(ranks=(0,))),
            Step("crash 3", fault=Kill(), target=Target(ranks=(0,))),
            Step("crash 4", fault=Kill(), target=Target(ranks=(0,))),
        )
    ),
    checks=(*HURT, "clients_reconnected_in_time"),
    kind="destructive",
)
