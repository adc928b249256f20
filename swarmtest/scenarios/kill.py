"""Two instances, one after the other, are killed as a crash or a lost machine would.

Which ones is drawn with the seed. Nothing announces the end, so what ran on a victim is lost, and so is what's sent
to it until the front door has noticed. It passes when nothing else was lost, every loss is classed, and capacity
was back within restart delay and time to healthy.
"""

from swarmtest.faults.kill import Kill
from swarmtest.plan import Plan, Step, Target
from swarmtest.scenario import HURT, RETRIES, Scenario

SCENARIO = Scenario(
    story="one instance is killed (SIGKILL) under load, and when it's back another",
    plan=Plan(
        steps=(
            Step("baseline"),
            Step("kill", fault=Kill(), target=Target(draw=1)),
            Step("between", hold_seconds=3.0),
            Step("kill again", fault=Kill(), target=Target(draw=1)),
        )
    ),
    checks=(*HURT, *RETRIES, "clients_reconnected_in_time"),
    kind="destructive",
)
