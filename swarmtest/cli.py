"""The verbs: parse, call, choose the exit code.

Heavy things are imported inside the verbs, so that ``swarmtest list`` and ``swarmtest judge`` load
neither Docker nor Locust, and ``--help`` is quick.
"""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import click

from swarmtest.errors import EngineError, Interrupted, SwarmtestError
from swarmtest.interrupts import Interrupts

if TYPE_CHECKING:
    from swarmtest.reports.console.progress import Progress
    from swarmtest.running.order import Order


def _say_version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """A checkout that isn't installed has none, and that's no reason to fail."""
    if not wanted:
        return
    import importlib.metadata

    try:
        version = importlib.metadata.version("swarmtest")
    except importlib.metadata.PackageNotFoundError:
        version = "(a checkout that isn't installed)"
    click.echo(f"swarmtest {version}")
    context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_say_version, help="The version.")
def commands() -> None:
    """Finds out whether a Swarm stack can be deployed under load without losing a request.

    \b
    Exit codes: 0 every check passed · 1 a check failed · 2 wrong usage, or a stack that can't be run
                3 none failed, but something is not proved · 4 swarmtest or the engine broke · 130 interrupted
    """


@commands.command()
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
        code = _judge_and_report(folder.path, broke is not None)
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


@commands.command()
@click.argument("folder", type=click.Path(path_type=Path))
def judge(folder: Path) -> int:
    """Judges the run in FOLDER again, from what's in the folder alone."""
    return _judge_and_report(folder)


def _judge_and_report(path: Path, broken_off: bool = False) -> int:
    """Writes all reports, and prints one; of a run that broke off before its first request, only the place."""
    from swarmtest.judge import judge_folder
    from swarmtest.reports import console, junit, markdown, write_document
    from swarmtest.store import open_run_folder

    folder = open_run_folder(path)
    document = judge_folder(folder.path)
    try:
        write_document(document, folder.verdicts)
        for name, report in (("junit.xml", junit), ("report.md", markdown)):
            with (folder.path / name).open("w", encoding="utf-8") as out:
                report.render(document, out)
    except OSError as error:  # a folder that's only to be read is no reason to keep the verdict back
        click.echo(f"swarmtest: the reports can't be written ({error}); judge a copy of {path} to have them", err=True)
    if broken_off and not document.losses.get("sent"):
        click.echo(f"nothing was sent, so there's nothing to judge; what was seen is in {path}")
    else:
        console.render(document, sys.stdout, folder=str(path))
    return document.exit_code


@commands.command("list")
def list_() -> None:
    """Shows the scenarios and the checks, with a line each."""
    from swarmtest.catalogue import check_lines, scenario_lines

    click.echo("Scenarios (swarmtest run STACK --scenario NAME):")
    for name, line in scenario_lines():
        click.echo(f"  {name:<28} {line}")
    click.echo("\nChecks:")
    for name, line in check_lines():
        click.echo(f"  {name:<28} {line}")


@commands.command()
@click.argument("stack", required=False, type=click.Path(path_type=Path))
def doctor(stack: Path | None) -> int:
    """Says what's missing on this machine, and for STACK where one is given, and what to do."""
    from swarmtest.engine.client import Client
    from swarmtest.running.preflight import examine, examine_without_engine
    from swarmtest.stack.brief import read_brief
    from swarmtest.stack.services import read_stack

    parsed = read_stack(stack) if stack is not None else None
    brief = read_brief(parsed) if parsed is not None else None
    try:
        client = Client()
        findings = examine(client, client.info(), parsed, brief)
    except EngineError as error:
        findings = examine_without_engine(error, parsed, brief)
    marks = {"ok": "ok     ", "warning": "warning", "missing": "MISSING"}
    for finding in findings:
        click.echo(f"{marks[finding.state]}  {finding.subject}: {finding.text}")
        if finding.advice and finding.state != "ok":
            click.echo(f"         → {finding.advice}")
    return 2 if any(finding.state == "missing" for finding in findings) else 0


def main() -> None:
    """The command ``swarmtest``; signals are taken from the first moment on."""
    try:
        with Interrupts():
            code = _exit_code()
    except (Interrupted, KeyboardInterrupt):
        code = Interrupted.exit_code
    sys.exit(code)


def _exit_code() -> int:
    try:
        code = commands.main(standalone_mode=False)
    except click.exceptions.Abort:
        return Interrupted.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Interrupted as error:
        click.echo(f"swarmtest: {error}", err=True)
        return error.exit_code
    except SwarmtestError as error:
        click.echo("\n".join([f"swarmtest: error: {error}", *getattr(error, "__notes__", ())]), err=True)
        return error.exit_code
    except OSError as error:
        click.echo(f"swarmtest: error: {error}", err=True)
        return SwarmtestError.exit_code
    except Exception as error:  # noqa: BLE001 - left to Python it would end with 1, which means that a check failed
        traceback.print_exc()
        click.echo(f"swarmtest: error: swarmtest itself broke ({type(error).__name__}: {error}); report it", err=True)
        return SwarmtestError.exit_code
    return code if isinstance(code, int) else 0
