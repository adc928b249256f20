"""Two instances more, for a while.

The new ones may get requests only when they're ready, and go in good order afterwards. It passes with nothing lost
at all.
"""

from swarmtest.faults.scale import Scale
from swarmtest.plan import Plan, Step
from swarmtest.scenario import STOPS, TRAFFIC, Scenario

SCENARIO = Scenario(
    story="two instances more for some seconds, under load",
    plan=Plan(steps=(Step("baseline"), Step("more", fault=Scale(by=2), hold_seconds=8.0))),
    checks=(
        "answered_every_request",
        "scaled_as_asked",
        "announced_before_the_signal",
        *STOPS,
        "no_message_lost",
        "new_served_only_when_ready",
        *TRAFFIC,
    ),
)
