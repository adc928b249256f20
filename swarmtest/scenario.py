"""A scenario: a plan, and the names of the checks that judge what came of it.

Scenarios are the only place that sees both the acting and the judging side, and sees of the second
only names, so that reading a scenario loads no engine and judging an old run none either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from swarmtest.plan import Plan

Kind = Literal["orderly", "destructive"]

TRAFFIC = ("delivered_the_traffic", "ids_on_every_record", "handled_each_request_once")
"""What every scenario is judged by: that it was looked at rightly."""

STOPS = (
    "exited_within_grace",
    "drained_before_exit",
    "grace_exceeds_longest_request",
    "front_door_let_go_in_time",
    "nothing_arrived_after_close",
    "http2_told_to_go_away",
)
"""What's asked of each instance that's stopped in good order."""

STREAMS = ("streams_closed_in_order", "clients_reconnected_in_time", "no_message_lost")
"""What's asked of each stop where clients hold streams: WebSockets, server-sent events."""

ROLLOUT = (
    "answered_every_request",
    "replaced_every_instance",
    "announced_before_the_signal",
    *STOPS,
    *STREAMS,
    "new_served_only_when_ready",
    "new_instances_were_warm",
    "kept_capacity",
    "exercised_every_instance",
    *TRAFFIC,
)
"""What a rollout is judged by, whichever way it goes."""

RETRIES = ("retries_stayed_within_budget",)
"""What's asked where something is sure to be lost, of traffic that tries again."""

HURT = ("hurt_what_was_planned", "lost_only_to_the_fault", "recovered_in_time", *TRAFFIC)
"""What's left to ask where losses are meant to happen."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A story that a person would tell, as data.

    Attributes:
        story: one line: what is done and what it proves.
        plan: what happens when.
        checks: names of modules in :mod:`swarmtest.checks`, in the order of the report.
        kind: an orderly one passes with nothing lost; a destructive one passes when every loss belongs to
            what was hurt, nothing else was lost, and capacity was back in time.
        deployed_with: keys of the service under test as a compose file has them, put over the stack's own,
            such as ``{"stop_grace_period": "1s"}``.
        needs: what it can't be run without: ``release`` or ``dependency`` (keys of ``x-swarmtest``),
            ``second_node``.
    """

    story: str
    plan: Plan
    checks: tuple[str, ...]
    kind: Kind = "orderly"
    deployed_with: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
