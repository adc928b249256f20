"""Two instances are replaced one after the other, and the old ones are killed: SIGKILL, with no word before it.

The first of the four of `stop-modes`. It passes when every loss ran on one of the two, or was sent to it before the
front door could know.
"""

from swarmtest.faults.kill import Kill
from swarmtest.faults.make_room import MakeRoom
from swarmtest.plan import Line, Plan, Step, Target
from swarmtest.scenario import Scenario

SCENARIO = Scenario(
    story="two instances are replaced one after the other; the old ones are killed without a word",
    plan=Plan(
        steps=(
            Step("baseline", hold_seconds=2.0),
            Step("make room", MakeRoom(), prepares=True),
            Step("found ready", awaits=Line("asked"), hold_seconds=5.0),
            Step("just asked", awaits=Line("asked", (0,)), hold_seconds=5.0),
            Step("kill the first", Kill(), Target((0,))),
            Step("found ready again", awaits=Line("asked"), hold_seconds=5.0),
            # The first one's successor has its slot, and comes first.
            Step("just asked again", awaits=Line("asked", (1,)), hold_seconds=5.0),
            Step("kill the second", Kill(), Target((1,))),
        )
    ),
    kind="destructive",
    checks=(
        "lost_only_to_the_fault",
        "hurt_what_was_planned",
        "recovered_in_time",
        "delivered_the_traffic",
        "ids_on_every_record",
        "handled_each_request_once",
    ),
)
