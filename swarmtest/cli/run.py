"""``swarmtest run``: deploys, drives, carries out a scenario, judges, removes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from swarmtest.cli.judge import judge_and_report
from swarmtest.interrupts import Interrupts

if TYPE_CHECKING:
    from swarmtest.reports.console.progress import Progress
    from swarmtest.running.order import Order


@click.command()
@click.argument("stack", type=click.Path(path_type=Path))
@click.option("--scenario", default="rolling", show_default=True, help="What to do to the stack; see `swarmtest list`.")
@click.option("--service", help="The service under test, where the file doesn't say.")
@click.option("--url", help="Where the traffic goes, where the published port isn't it.")
@click.option("--instance-header", help="Answer header that names the instance  [default: X-Instance-ID]")
@click.option("--rate", help='All traffic together, such as "40/s"; the mix stays as it is.')
@click.option("--baseline", help='Length of the quiet part before anything is done, such as "8s".')
@click.option("--seed", default=42, show_default=True, help="Seed of the traffic's times.")
@click.option("--name", help="Name of the stack on the engine  [default: a new one for each run]")
@click.option(
    "--out", default="runs", show_default=True, type=click.Path(path_type=Path), help="Folder of run folders."
)
@click.option("--init-swarm", is_flag=True, help="Make this engine a one-node swarm if swarm mode is off.")
def run(
    stack: Path,
    scenario: str,
    service: str | None,
    url: str | None,
    instance_header: str | None,
    rate: str | None,
    baseline: str | None,
    seed: int,
    name: str | None,
    out: Path,
    init_swarm: bool,
) -> int:
    """Deploys STACK under a name of its own, drives traffic, carries out a scenario, judges, removes."""
    with Interrupts() as interrupts:
        from swarmtest import runner
        from swarmtest.catalogue import load_scenario
        from swarmtest.reports.console.live import LiveView
        from swarmtest.running.order import Order, given_name, new_token, stack_name
        from swarmtest.stack.brief import Overrides, duration_flag, rate_flag, read_brief
        from swarmtest.stack.services import read_stack

        parsed = read_stack(stack)
        flags = Overrides(
            service=service,
            url=url,
            instance_header=instance_header,
            rate=rate_flag(rate) if rate is not None else None,
            baseline_seconds=duration_flag("--baseline", baseline) if baseline is not None else None,
        )
        found, token = load_scenario(scenario), new_token()
        order = Order(
            stack=parsed,
            brief=read_brief(parsed, flags),
            scenario_name=scenario,
            plan=found.plan,
            checks=found.checks,
            out=out,
            name=stack_name(parsed, token) if name is None else given_name(name, parsed),
            token=token,
            seed=seed,
            init_swarm=init_swarm,
        )
        with LiveView(progress=_progress(order)) as live:
            folder, broke = runner.run(order, interrupts, live)
        code = judge_and_report(folder.path, broke is not None)
        if broke is not None:
            raise broke
        interrupts.release()
        return code


def _progress(order: Order) -> Progress:
    """What the live view knows beforehand."""
    from swarmtest.reports.console.progress import Progress
    from swarmtest.runner import SETTLE_SECONDS, WARM_UP_SECONDS

    held = {step.phase: step.seconds(order.brief.baseline_seconds) for step in order.plan.steps if step.fault is None}
    expected = {"warmup": WARM_UP_SECONDS, **held, "settle": SETTLE_SECONDS}
    return Progress(service=order.subject.name, replicas=order.subject.replicas, expected=expected)
