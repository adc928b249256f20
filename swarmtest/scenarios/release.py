"""A new image takes the place of the old one, which serves on meanwhile.

The image is the stack's own word (``x-swarmtest: {release: IMAGE}``) or ``--release``. It passes with nothing
lost at all; a release that Swarm rolls back is a failed one, however well the old version went on serving.
"""

from swarmtest.faults.release import Release
from swarmtest.plan import Plan, Step
from swarmtest.scenario import ROLLOUT, Scenario

SCENARIO = Scenario(
    story="every instance is replaced by one of a new image, under load",
    plan=Plan(steps=(Step("baseline"), Step("rollout", fault=Release()))),
    checks=ROLLOUT,
    needs=("release",),
)
