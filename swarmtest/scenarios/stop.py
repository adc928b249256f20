"""An instance is stopped by hand, with the service's own grace.

Swarm doesn't announce such a stop: DNS learns of it when the process is gone. So the app itself has to turn unready
and to serve on until the front door has noticed. It passes with nothing lost at all.
"""

from swarmtest.faults.stop import Stop
from swarmtest.plan import Plan, Step, Target
from swarmtest.scenario import STOPS, STREAMS, TRAFFIC, Scenario

SCENARIO = Scenario(
    story="one instance is stopped by hand (docker stop, with the service's own grace), under load",
    plan=Plan(steps=(Step("baseline"), Step("stop", fault=Stop(), target=Target(draw=1)))),
    checks=("answered_every_request", "hurt_what_was_planned", *STOPS, *STREAMS, "recovered_in_time", *TRAFFIC),
)
