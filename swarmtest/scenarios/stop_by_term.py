"""Two instances are replaced one after the other, and the old ones get SIGTERM, with no word before it.

The second of the four of `stop-modes`: an app that closes its listener at once and drains. It passes when every loss
ran on one of the two, or was sent to it before the front door could know.
"""

from swarmtest.faults.make_room import MakeRoom
from swarmtest.faults.signal import Signal
from swarmtest.plan import Line, Plan, Step, Target
from swarmtest.scenario import Scenario

SCENARIO = Scenario(
    story="two instances are replaced one after the other; the old ones close their listener and drain",
    plan=Plan(
        steps=(
            Step("baseline", hold_seconds=2.0),
            Step("make room", MakeRoom(), prepares=True),
            Step("found ready", awaits=Line("asked"), hold_seconds=5.0),
            Step("just asked", awaits=Line("asked", (0,)), hold_seconds=5.0),
            Step("term the first", Signal("SIGTERM"), Target((0,))),
            Step("found ready again", awaits=Line("asked"), hold_seconds=5.0),
            # The first one's successor has its slot, and comes first.
            Step("just asked again", awaits=Line("asked", (1,)), hold_seconds=5.0),
            Step("term the second", Signal("SIGTERM"), Target((1,))),
        )
    ),
    kind="destructive",
    deployed_with={"environment": {"SHUTDOWN": "close", "SHUTDOWN_LIMIT_SECONDS": "30"}},
    checks=(
        "lost_only_to_the_fault",
        "hurt_what_was_planned",
        "recovered_in_time",
        "delivered_the_traffic",
        "ids_on_every_record",
        "handled_each_request_once",
    ),
)
