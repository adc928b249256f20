"""Two instances are killed at the same moment.

It needs a third: one must be left to serve. It passes as ``kill`` does.
"""

from swarmtest.faults.kill import Kill
from swarmtest.plan import Plan, Step, Target
from swarmtest.scenario import HURT, Scenario

SCENARIO = Scenario(
    story="two instances are killed (SIGKILL) at once, under load",
    plan=Plan(steps=(Step("baseline"), Step("kill", fault=Kill(), target=Target(draw=2)))),
    checks=(*HURT, "clients_reconnected_in_time"),
    kind="destructive",
)
