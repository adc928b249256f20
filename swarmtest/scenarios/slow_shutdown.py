"""A rollout in which each old instance stands still for 3 s just after its stop signal, and then drains.

So does one on a busy machine: the drain takes longer than usual, and has to fit into the grace all the same. It
passes with nothing lost at all.
"""

from swarmtest.faults.freeze import Freeze
from swarmtest.faults.update import Update
from swarmtest.plan import OnStop, Plan, Step
from swarmtest.scenario import ROLLOUT, Scenario

SCENARIO = Scenario(
    story="a rollout in which each old instance drains 3 s more slowly than usual",
    plan=Plan(
        steps=(
            Step("baseline"),
            Step("rollout", fault=Update(force=True), on_stop=OnStop(Freeze(), seconds=3.0)),
        )
    ),
    checks=ROLLOUT,
)
