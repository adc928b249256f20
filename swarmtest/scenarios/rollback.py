"""A new image is rolled out, and a person takes it back: the way back is judged as a rollout is.

The way there only prepares it, and isn't judged but for its losses. It passes with nothing lost at all.
"""

from swarmtest.faults.release import Release
from swarmtest.faults.rollback import Rollback
from swarmtest.plan import Plan, Step
from swarmtest.scenario import ROLLOUT, Scenario

SCENARIO = Scenario(
    story="a release is rolled out, then rolled back by order; the way back is judged as a rollout is",
    plan=Plan(
        steps=(
            Step("release", fault=Release(), prepares=True),
            Step("baseline"),
            Step("rollback", fault=Rollback()),
        )
    ),
    checks=ROLLOUT,
    needs=("release",),
)
