"""A report with everything that can be in one."""

from __future__ import annotations

from pathlib import Path

from swarmtest.errors import StackError
from swarmtest.lint import Certainty, Edit, Finding, Place, Severity, Target
from swarmtest.lint.linting import Linted
from swarmtest.lint.output import Report
from swarmtest.lint.rules import Rule
from swarmtest.lint.silencing import Silenced

UPDATE = ("services", "api", "deploy", "update_config")

HOST_PORT = Finding(
    rule="start-first-host-port",
    severity=Severity.ERROR,
    certainty=Certainty.CERTAIN,
    place=Place(Path("stacks/shop.yml"), 14, (*UPDATE, "order")),
    effect="the new task needs 8080/tcp on its node while the old one holds it, so it stays pending for ever",
    fix="write order: stop-first",
    edit=Edit((*UPDATE, "order"), "stop-first"),
)
SHORT_GRACE = Finding(
    rule="short-grace",
    severity=Severity.WARNING,
    certainty=Certainty.LIKELY,
    place=Place(Path("stacks/shop.yml"), 20, ("services", "worker", "stop_grace_period")),
    effect="100% of the grace of 10 s may be used up: its own limit is 30 s, and after that what runs is killed",
    fix="write stop_grace_period: 40s; or a shorter limit",
)
PID_1 = Finding(
    rule="signal-path",
    severity=Severity.INFO,
    certainty=Certainty.UNKNOWN,
    place=Place(Path("stacks/base.yml"), None, ()),
    effect="whether the image hands on the signal can't be told from here",
    fix="look at its ENTRYPOINT: the exec form does",
)
UNREADABLE = StackError(
    "not valid YAML: mapping values are not allowed here", file="a, b: c.yml", line=3, key="services"
)

STACKS = (
    Linted(
        (Path("stacks/base.yml"), Path("stacks/shop.yml")),
        Target.SWARM,
        (PID_1, HOST_PORT, SHORT_GRACE),
        (Silenced(HOST_PORT, "nine nodes", 13),),
    ),
    Linted((Path("good.yml"),), Target.SWARM),
    Linted((Path("a, b: c.yml"),), Target.SWARM, problem=UNREADABLE),
)
REPORT = Report(STACKS, Target.SWARM, Severity.ERROR)
CLEAN = Report((STACKS[1],), Target.SWARM, Severity.ERROR)

RULES = tuple(
    Rule(name, f"what {name} finds", lambda _stack: ())
    for name in ("short-grace", "signal-path", "start-first-host-port")
)
