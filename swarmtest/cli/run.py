"""``swarmtest run``: deploys, drives, carries out a scenario or a series of them, judges, removes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from swarmtest.cli.judge import judge_and_report
from swarmtest.cli.worker import address
from swarmtest.errors import Interrupted, SwarmtestError, UsageError
from swarmtest.interrupts import Interrupts

if TYPE_CHECKING:
    from swarmtest.cli.ordering import Asked
    from swarmtest.reports.console.progress import Progress
    from swarmtest.running.order import Order


@click.command(short_help="Deploys a stack, changes it under load, and judges.")
@click.argument("stack", type=click.Path(path_type=Path))
@click.option(
    "--scenario", default="rolling", show_default=True, help="What to do to the stack, or A,B,C; see `swarmtest list`."
)
@click.option("--repeat", type=click.IntRange(min=1), help="Runs of each scenario, reported with their spread.")
@click.option("--dry-run", is_flag=True, help="Print the plan, with everything drawn, and do nothing.")
@click.option("--minutes", type=float, help="How long a plan that's drawn is to take (chaos)  [default: 3]")
@click.option("--release", metavar="IMAGE", help="The image to release, where the file doesn't say.")
@click.option("--stop-at", help='Loss at which a run is stopped, such as "5%/5s" (5 % over 5 s), or off.')
@click.option("--limit", "limits", multiple=True, help='A limit to hold the run to, such as "p99 < 800ms"; repeatable.')
@click.option("--service", help="The service under test, where the file doesn't say.")
@click.option("--url", help="Where the traffic goes, where the published port isn't it.")
@click.option("--instance-header", help="Answer header that names the instance  [default: X-Instance-ID]")
@click.option("--rate", help='All traffic together, such as "40/s"; the mix stays as it is.')
@click.option("--processes", type=click.IntRange(1, 64), help="Processes that share the traffic  [default: 1]")
@click.option("--workers", type=click.IntRange(1, 64), help="Workers on other machines that send it, see `worker`.")
@click.option("--listen", metavar="HOST:PORT", help="Where those workers find this one  [default: 0.0.0.0:5557]")
@click.option("--baseline", help='Length of the quiet part before anything is done, such as "8s".')
@click.option("--seed", default=42, show_default=True, help="Seed of the traffic's times and of what a plan draws.")
@click.option(
    "--name", help="Name of the stack on the engine, in a series with a number  [default: a new one for each run]"
)
@click.option(
    "--out", default="runs", show_default=True, type=click.Path(path_type=Path), help="Folder of run folders."
)
@click.option("--init-swarm", is_flag=True, help="Make this engine a one-node swarm if swarm mode is off.")
def run(
    stack: Path,
    scenario: str,
    repeat: int | None,
    dry_run: bool,
    minutes: float | None,
    release: str | None,
    stop_at: str | None,
    limits: tuple[str, ...],
    service: str | None,
    url: str | None,
    instance_header: str | None,
    rate: str | None,
    processes: int | None,
    workers: int | None,
    listen: str | None,
    baseline: str | None,
    seed: int,
    name: str | None,
    out: Path,
    init_swarm: bool,
) -> int:
    """Deploys STACK under a name of its own, drives traffic, carries out a scenario, judges, removes."""
    with Interrupts() as interrupts:
        from swarmtest.cli.ordering import Asked, with_release
        from swarmtest.stack.block.brief import Overrides, duration_flag, rate_flag, read_brief
        from swarmtest.stack.services import read_stack

        parsed = read_stack(stack)
        flags = Overrides(
            service=service,
            url=url,
            instance_header=instance_header,
            rate=rate_flag(rate) if rate is not None else None,
            baseline_seconds=duration_flag("--baseline", baseline) if baseline is not None else None,
            stop_at=stop_at,
            limits=limits,
            processes=processes,
            workers=workers or 0,
            listen=_listen(workers, listen),
        )
        brief = read_brief(parsed, flags)
        brief = brief if release is None else with_release(brief, release)
        asked = Asked(parsed, brief, scenario, out, seed, name, init_swarm, minutes, repeat, release)
        return _print_plans(asked) if dry_run else _carry_out(asked, interrupts)


def _listen(workers: int | None, listen: str | None) -> str:
    if listen is not None and not workers:
        raise UsageError("--listen is where workers on other machines find this one; say --workers, too")
    host, port = address(listen or "0.0.0.0")  # noqa: S104 - they're on other machines
    return f"{host}:{port}" if workers else ""


def _print_plans(asked: Asked) -> int:
    """All that a dry run does: it needs no engine, and touches nothing."""
    from swarmtest.cli.findings import told_beforehand
    from swarmtest.cli.ordering import make_order, plan_text, sort_out, traffic_text

    names, reasons = sort_out(asked)
    texts = [plan_text(make_order(asked, name)) for name in names]
    if asked.runs > 1:
        texts.append(f"{asked.runs} runs of each, each with a deployment of its own")
    texts += [f"{name} can't be run on this stack: {reason}" for name, reason in reasons.items()]
    found = "\n".join(told_beforehand(asked.stack.file))
    click.echo("\n\n".join([*texts, *[found] * bool(found), traffic_text(asked.brief)]))
    return 0


def _carry_out(asked: Asked, interrupts: Interrupts) -> int:
    from swarmtest.cli.findings import told_beforehand
    from swarmtest.cli.ordering import make_order, sort_out

    names, reasons = sort_out(asked)
    if asked.is_series:
        from swarmtest.cli.series import run_series

        return run_series(asked, names, reasons, interrupts)
    return _run_once(replace(make_order(asked, names[0]), beforehand=told_beforehand(asked.stack.file)), interrupts)


def _run_once(order: Order, interrupts: Interrupts) -> int:
    from swarmtest import runner
    from swarmtest.reports.console.live import LiveView

    announce(order)
    with LiveView(progress=known_beforehand(order)) as live:
        folder, broke = runner.run(order, interrupts, live)
    code = judge_and_report(folder.path, broke is not None, _not_by_the_verdict(broke, interrupts))
    if broke is not None:
        raise broke
    interrupts.release()
    return code


def _not_by_the_verdict(broke: SwarmtestError | None, interrupts: Interrupts) -> str:
    """How a run ends that didn't come to its end; empty for one that did."""
    if broke is not None:
        return f"broke off · exit code {broke.exit_code}"
    return f"interrupted · exit code {Interrupted.exit_code}" if interrupts.caught is not None else ""


def announce(order: Order) -> None:
    """Prints a plan that was drawn from a mix, before anything of it happens."""
    from swarmtest.cli.ordering import is_mixed, plan_text

    if is_mixed(order.scenario_name):
        click.echo(plan_text(order), file=sys.stderr)


def known_beforehand(order: Order, title: str = "") -> Progress:
    """What the live view knows of a run before it begins."""
    from swarmtest.reports.console.progress import Progress
    from swarmtest.runner import SETTLE_SECONDS, WARM_UP_SECONDS

    held = {step.phase: step.seconds(order.brief.baseline_seconds) for step in order.plan.steps if step.fault is None}
    expected = {"warmup": WARM_UP_SECONDS, **held, "settle": SETTLE_SECONDS}
    return Progress(service=order.subject.name, replicas=order.subject.replicas, expected=expected, title=title)
