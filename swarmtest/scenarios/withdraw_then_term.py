"""Two instances are replaced one after the other; the old ones are withdrawn, and get SIGTERM two seconds later.

The third of the four of `stop-modes`: SIGUSR1 turns an instance unready, and its front door has two seconds to
notice, which is longer than it takes. It passes with nothing lost at all.
"""

from swarmtest.faults.make_room import MakeRoom
from swarmtest.faults.signal import Signal
from swarmtest.plan import Line, Plan, Step, Target
from swarmtest.scenario import Scenario

SCENARIO = Scenario(
    story="two instances are replaced one after the other; the old ones are withdrawn, then drain",
    plan=Plan(
        steps=(
            Step("baseline", hold_seconds=2.0),
            Step("make room", MakeRoom(), prepares=True),
            Step("found ready", awaits=Line("asked"), hold_seconds=5.0),
            Step("just asked", awaits=Line("asked", (0,)), hold_seconds=5.0),
            Step("withdraw the first", Signal("SIGUSR1"), Target((0,)), hold_seconds=2.0),
            Step("term the first", Signal("SIGTERM"), Target((0,))),
            Step("found ready again", awaits=Line("asked"), hold_seconds=5.0),
            # The first one's successor has its slot, and comes first.
            Step("just asked again", awaits=Line("asked", (1,)), hold_seconds=5.0),
            Step("withdraw the second", Signal("SIGUSR1"), Target((1,)), hold_seconds=2.0),
            Step("term the second", Signal("SIGTERM"), Target((1,))),
        )
    ),
    deployed_with={"environment": {"SHUTDOWN": "close", "SHUTDOWN_LIMIT_SECONDS": "30"}},
    checks=(
        "answered_every_request",
        "hurt_what_was_planned",
        "recovered_in_time",
        "delivered_the_traffic",
        "ids_on_every_record",
        "handled_each_request_once",
    ),
)
