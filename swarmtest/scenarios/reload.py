"""The front door is reloaded under load, as for a new certificate or another route, and no instance is touched.

Its old process has to finish what it carries, and to tell HTTP/2 clients to go away; its new one has to know the
instances before it takes a connection. It passes with nothing lost at all, and only where HTTP/2 is among the
traffic: a GOAWAY is what shows that it was reloaded.
"""

from swarmtest.faults.reload import Reload
from swarmtest.plan import Plan, Step
from swarmtest.scenario import TRAFFIC, Scenario

SCENARIO = Scenario(
    story="the front door is reloaded under load; clients of HTTP/2 are told, and nothing is lost",
    plan=Plan(steps=(Step("baseline"), Step("reload", fault=Reload(), hold_seconds=12.0))),
    checks=("answered_every_request", "http2_told_to_go_away", *TRAFFIC),
    needs=("reload",),
)
