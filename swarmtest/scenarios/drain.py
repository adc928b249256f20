"""All of a node's instances are moved elsewhere, as before maintenance of the machine.

Swarm stops all of them at once: neither the order nor the parallelism of ``update_config`` applies. It needs a
second node, and a node whose label ``swarmtest.allow=true`` says that it may be drained. It passes when nothing was
lost but on those instances.
"""

from swarmtest.faults.drain import Drain
from swarmtest.plan import Plan, Step
from swarmtest.scenario import HURT, Scenario

SCENARIO = Scenario(
    story="a node is drained; update_config doesn't apply to that",
    plan=Plan(steps=(Step("baseline"), Step("drain", fault=Drain(), hold_seconds=10.0)), floor=0),
    checks=(*HURT, "clients_reconnected_in_time"),
    kind="destructive",
    needs=("second_node",),
)
