"""From the words of a command line to orders: one for each run, all of them made before the first begins."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from swarmtest.catalogue import GROUPS, expand, load_scenario
from swarmtest.cli.limiting import limit_lines, limits_for, not_asked, refuse_useless
from swarmtest.drawing import describe, draw_plan
from swarmtest.errors import UsageError
from swarmtest.plan import Draw
from swarmtest.running.order import Order, given_name, new_token, stack_name
from swarmtest.scenario import STREAMS, Scenario
from swarmtest.stack import Stack
from swarmtest.stack.block.brief import Brief
from swarmtest.stack.block.kinds import Kind
from swarmtest.stack.services import put_over

NEEDED = {
    "release": "it needs another version: add `x-swarmtest: {release: IMAGE}` to the stack file, or --release IMAGE",
    "dependency": "it needs a service to switch off: add `x-swarmtest: {dependency: SERVICE}` to the stack file",
    "reload": "it needs a front door that can be reloaded: add `x-swarmtest: {front_door: {service: NAME, reload:"
    " SIGUSR2}}` to the stack file, with the signal at which it begins anew",
}


LONGEST_MINUTES = 7 * 24 * 60.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asked for, checked and read.

    Attributes:
        scenario: as it was typed, such as ``rolling,kill`` or ``all``.
        minutes: length of a mix; None for its own.
        repeat: runs of each scenario; None for the group's own number.
        release: the image of the command line, which the brief has already.
    """

    stack: Stack
    brief: Brief
    scenario: str
    out: Path
    seed: int
    name: str | None
    init_swarm: bool
    minutes: float | None
    repeat: int | None
    release: str | None = None

    @property
    def runs(self) -> int:
        """How often each scenario is run."""
        if self.repeat is not None:
            return self.repeat
        return GROUPS[self.scenario].repeat if self.scenario in GROUPS else 1

    @property
    def is_series(self) -> bool:
        """Whether more than one run is asked for."""
        return self.scenario in GROUPS or "," in self.scenario or self.runs > 1

    @property
    def series_name(self) -> str:
        """What the folder of a series is called after: the group, unless that's all there is."""
        return self.scenario if self.scenario in GROUPS and self.scenario != "all" else "series"

    @property
    def checklist_weighs(self) -> bool:
        """Whether the checklist is part of the verdict."""
        return self.scenario in GROUPS and GROUPS[self.scenario].checklist


def _refuse_useless(asked: Asked, names: list[str]) -> None:
    """A flag that's of no use to any scenario: whoever gives it expects something that won't be done."""
    minutes, listed = asked.minutes, ", ".join(names)
    if minutes is not None and not 0 < minutes <= LONGEST_MINUTES:
        raise UsageError(
            f"--minutes: expected more than 0, and a week ({LONGEST_MINUTES:g}) at most, found {minutes:g}"
        )
    if minutes is not None and not any(is_mixed(name) for name in names):
        raise UsageError(f"--minutes is for a plan that's drawn (chaos); {listed} has a length of its own")
    if asked.release is not None and not any(
        is_mixed(name) or "release" in load_scenario(name).needs for name in names
    ):
        raise UsageError(
            f"--release: {listed} releases nothing, and would only try the version of the stack file;"
            " add --scenario release"
        )


def with_release(brief: Brief, image: str) -> Brief:
    """The brief with another image to release than the file's; raises :class:`UsageError` for what's none."""
    if not image.isprintable() or not image or " " in image:
        raise UsageError(f"--release: expected an image such as api:2, found {image!r}")
    wish = {**brief.wishes.get("release", {"environment": {}}), "image": image}
    return replace(brief, wishes={**brief.wishes, "release": wish})


def sort_out(asked: Asked) -> tuple[list[str], dict[str, str]]:
    """The scenarios that can be run on this stack, and those that can't with the reason.

    Raises:
        UsageError: a scenario isn't known, none can be run, or a flag has nothing to say to any of them.
    """
    names = expand(asked.scenario)
    _refuse_useless(asked, names)
    refuse_useless(asked.brief.limits, names)
    reasons = {name: reason for name in names if (reason := unmet(load_scenario(name), asked.brief))}
    if len(reasons) == len(names):
        raise UsageError("; ".join(f"{name} can't be run on this stack: {reason}" for name, reason in reasons.items()))
    return [name for name in names if name not in reasons], reasons


def unmet(scenario: Scenario, brief: Brief) -> str:
    """What a scenario needs and the stack doesn't say, with the key to add; empty where nothing is missing."""
    return "; ".join(text for need, text in NEEDED.items() if need in scenario.needs and need not in brief.wishes)


def make_order(asked: Asked, name: str, out: Path | None = None, number: int | None = None) -> Order:
    """One run's order, its plan drawn.

    Arguments:
        out: the folder for the run's folder, where that isn't the one that was asked for.
        number: the run's place in a series. It's part of a name that was given: Swarm still lists tasks of a
            stack that's just been removed, and by its name they'd be taken for the next run's.

    Raises:
        UsageError: the plan needs what the stack doesn't say.
    """
    return order_of(asked, name, load_scenario(name), out, number)


def order_of(asked: Asked, name: str, scenario: Scenario, out: Path | None = None, number: int | None = None) -> Order:
    """The same of a scenario that isn't among those that have a name of their own."""
    token = new_token()
    stack = put_over(asked.stack, asked.brief.service, scenario.deployed_with)
    replicas = stack.services[asked.brief.service].replicas
    plan = draw_plan(scenario.plan, Draw(asked.seed, replicas, asked.minutes, asked.brief.wishes))
    return Order(
        stack=stack,
        brief=asked.brief,
        scenario_name=name,
        plan=plan,
        checks=checks_for(scenario, asked.brief),
        out=asked.out if out is None else out,
        name=_name(asked, stack, token, number),
        token=token,
        seed=asked.seed,
        init_swarm=asked.init_swarm,
        kind=scenario.kind,
        deployed_with=scenario.deployed_with,
        stop_at=asked.brief.stop_at if scenario.kind == "orderly" or asked.brief.stop_at_given else None,
        limits=limits_for(asked.brief.limits, name, scenario, plan),
        not_asked=not_asked(asked.brief.limits, name, scenario, plan),
    )


GOODBYES = "http2_told_to_go_away"

_ONLY_OF: Mapping[str, Callable[[Kind], bool]] = {
    "retries_stayed_within_budget": lambda kind: kind.retries is not None,
    GOODBYES: lambda kind: kind.protocol == "h2",
    **dict.fromkeys(STREAMS, lambda kind: kind.is_stream),
}
"""Checks that have something to say only where a kind of traffic is like that."""


def checks_for(scenario: Scenario, brief: Brief) -> tuple[str, ...]:
    """The checks of a scenario, without those that ask for traffic that this stack hasn't got."""
    return tuple(name for name in scenario.checks if _is_judged(name, scenario, brief))


def _is_judged(name: str, scenario: Scenario, brief: Brief) -> bool:
    if name == GOODBYES and "reload" in scenario.needs:
        return True  # it's what shows that the front door was reloaded
    if name == GOODBYES and brief.front_door.mode == "proxy":
        return False  # HTTP/2 ends there, so no stop of an instance ends a connection of it
    return name not in _ONLY_OF or any(_ONLY_OF[name](kind) for kind in brief.kinds)


def _name(asked: Asked, stack: Stack, token: str, number: int | None) -> str:
    if asked.name is None:
        return stack_name(stack, token)
    return given_name(asked.name if number is None else f"{asked.name}-{number}", stack)


def is_mixed(name: str) -> bool:
    """Whether a scenario's plan is drawn from a mix, and so is to be read before it's carried out."""
    return load_scenario(name).plan.mix is not None


def plan_text(order: Order) -> str:
    """A drawn plan for a person to read first; the same seed gives the same bytes."""
    head = f"plan of {order.scenario_name} on {order.stack.file}, {order.subject.name}, seed {order.seed}:"
    lines = describe(order.plan, order.brief.baseline_seconds)
    if order.deployed_with:
        lines.insert(0, f"  -  {order.subject.name} is deployed with {json.dumps(order.deployed_with)}")
    if order.limits:
        lines += ["held to", *(f"  {line}" for line in limit_lines(order.limits, order.kind))]
    lines += [f"· {word}" for word in order.not_asked]
    return "\n".join([head, *(f"  {line}".rstrip() for line in lines)])


def traffic_text(brief: Brief) -> str:
    """What's sent and where to, for a person to read before anything is, and what a file didn't give."""
    rows = [(kind.name, kind.method, _path(kind), _amount(kind)) for kind in brief.kinds]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, (*widths, 0), strict=True)) for row in rows]
    words = [f"· {word}" for word in brief.traffic_words]
    where = "each instance by its own port" if brief.url is None else brief.url
    return "\n".join([f"traffic to {where}:", *(f"  {line}".rstrip() for line in [*lines, *words])])


def _path(kind: Kind) -> str:
    more = len(set(kind.paths)) - 1
    return kind.path + (f" and {more} more" if more > 0 else "")


def _amount(kind: Kind) -> str:
    if kind.sessions is not None:
        return f"{kind.sessions} sessions of {kind.protocol}"
    rate = f"{kind.rate:.3g}/s" if kind.rate < 100 else f"{kind.rate:,.0f}/s"
    how = {"h2": " by HTTP/2", "upload": f", {_size(kind)} each", "download": f", {_size(kind)} each"}.get(
        kind.protocol, ""
    )
    again = ", with retries" if kind.retries is not None else ""
    return ("up to " if kind.shape is not None else "") + rate + how + again


def _size(kind: Kind) -> str:
    length = kind.large.length if kind.large is not None else None
    if length is None:
        return "a body"
    return f"{length / 2**20:.3g} MB" if length >= 2**20 else f"{length / 1024:.3g} KB"
