"""As `withdraw_then_term`, with an app that gives its requests one second to end, which is less than they take.

The last of the four of `stop-modes`: at its limit the app resets what's still open, and lets handlers run on for up
to a second. It passes when every loss ran on one of the two that were stopped.
"""

from swarmtest.faults.make_room import MakeRoom
from swarmtest.faults.signal import Signal
from swarmtest.plan import Line, Plan, Step, Target
from swarmtest.scenario import Scenario

SCENARIO = Scenario(
    story="as withdraw-then-term, with a shutdown limit of one second, which is less than requests take",
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
    kind="destructive",
    deployed_with={"environment": {"SHUTDOWN": "close", "SHUTDOWN_LIMIT_SECONDS": "1", "SHUTDOWN_AT_LIMIT": "reset"}},
    checks=(
        "lost_only_to_the_fault",
        "hurt_what_was_planned",
        "recovered_in_time",
        "delivered_the_traffic",
        "ids_on_every_record",
        "handled_each_request_once",
    ),
)
