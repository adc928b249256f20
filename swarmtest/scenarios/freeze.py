"""An instance stands still for 5 s, as one does on a swapping or overloaded machine, and goes on.

What it holds is answered late or not at all; what's sent to it until the front door has noticed waits with it. It
passes when nothing was lost but on the victim, and all is as before afterwards.
"""

from swarmtest.faults.freeze import Freeze
from swarmtest.plan import Plan, Step, Target
from swarmtest.scenario import HURT, Scenario

SCENARIO = Scenario(
    story="one instance stands still for 5 s (docker pause), then goes on",
    plan=Plan(
        steps=(Step("baseline"), Step("freeze", fault=Freeze(), target=Target(draw=1), hold_seconds=5.0)),
    ),
    checks=HURT,
    kind="destructive",
)
