"""A seeded mix of everything for a time: the nightly job.

The plan is drawn with ``--seed`` before anything happens, and is printed first. It passes when nothing was lost but
what was running on, or sent to, instances that were killed or frozen, and capacity was back each time.
"""

from swarmtest.faults.freeze import Freeze
from swarmtest.faults.kill import Kill
from swarmtest.faults.release import Release
from swarmtest.faults.scale import Scale
from swarmtest.faults.stop import Stop
from swarmtest.faults.update import Update
from swarmtest.plan import Mix, OnStop, Plan, Step, Target
from swarmtest.scenario import HURT, Scenario

SCENARIO = Scenario(
    story="a seeded mix of kills, freezes, stops, rollouts and scalings for --minutes; the plan is printed first",
    plan=Plan(
        steps=(Step("baseline"),),
        mix=Mix(
            steps=(
                (Step("kill", fault=Kill(), target=Target(draw=1)), 4, 12.0),
                (Step("kill two", fault=Kill(), target=Target(draw=2)), 1, 14.0),
                (Step("freeze", fault=Freeze(), target=Target(draw=1), hold_seconds=4.0), 3, 6.0),
                (Step("stop", fault=Stop(), target=Target(draw=1)), 3, 20.0),
                (Step("rollout", fault=Update(force=True)), 2, 30.0),
                (
                    Step("slow rollout", fault=Update(force=True), on_stop=OnStop(Freeze(), seconds=3.0)),
                    1,
                    40.0,
                ),
                (Step("release", fault=Release()), 1, 30.0),
                (Step("more", fault=Scale(by=1), hold_seconds=4.0), 2, 18.0),
                (Step("fewer", fault=Scale(by=-1), hold_seconds=4.0), 2, 18.0),
            )
        ),
    ),
    checks=HURT,
    kind="destructive",
)
