"""``swarmtest tune``: the smallest grace that is safe, measured, proved, and written into the file where asked."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from swarmtest.errors import UsageError
from swarmtest.interrupts import Interrupts

if TYPE_CHECKING:
    from swarmtest.stack import Stack

EMITS = ("kubernetes", "compose", "service-update")


@click.command(short_help="Finds the smallest safe grace of a service.")
@click.argument("stack", type=click.Path(path_type=Path))
@click.option("--service", help="The service to tune, where the file doesn't say.")
@click.option("--coverage", default="0.9", show_default=True, help='Share of all stops to be covered, or "90%".')
@click.option("--confidence", default="0.9", show_default=True, help='How sure that is to be, or "90%".')
@click.option(
    "--replicas",
    type=click.IntRange(1, 100),
    help="Instances of the measuring runs  [default: 8, or the file's where it has more or a fixed port of the host]",
)
@click.option("--generous", help='Grace of the measuring runs, such as "90s"  [default: 60 s or more, by the file]')
@click.option("--edge", is_flag=True, help="Also find the highest whole second at which an instance is killed.")
@click.option("--write", is_flag=True, help="Change the stack file, once the value is proved.")
@click.option("--emit", type=click.Choice(EMITS), help="Print the same settings for something else.")
@click.option("--dry-run", is_flag=True, help="Print which runs it would make, and do nothing.")
@click.option("--url", help="Where the traffic goes, where the published port isn't it.")
@click.option("--instance-header", help="Answer header that names the instance  [default: X-Instance-ID]")
@click.option("--rate", help='All traffic together, such as "40/s"; the mix stays as it is.')
@click.option("--baseline", help='Length of the quiet part before each rollout, such as "8s".')
@click.option("--seed", default=42, show_default=True, help="Seed of the traffic's times.")
@click.option("--name", help="Name of the stacks on the engine, with a number  [default: a new one for each run]")
@click.option(
    "--out", default="runs", show_default=True, type=click.Path(path_type=Path), help="Folder of run folders."
)
@click.option("--init-swarm", is_flag=True, help="Make this engine a one-node swarm if swarm mode is off.")
def tune(
    stack: Path,
    service: str | None,
    coverage: str,
    confidence: str,
    replicas: int | None,
    generous: str | None,
    edge: bool,
    write: bool,
    emit: str | None,
    dry_run: bool,
    url: str | None,
    instance_header: str | None,
    rate: str | None,
    baseline: str | None,
    seed: int,
    name: str | None,
    out: Path,
    init_swarm: bool,
) -> int:
    """Finds the smallest stop_grace_period of STACK's service that is safe, and says how sure that is."""
    with Interrupts() as interrupts:
        from swarmtest.cli.ordering import Asked
        from swarmtest.cli.tuning import Recorder, carry_out_all, dry_text, refuse_unwritable, refuse_useless
        from swarmtest.stack.block.brief import Overrides, duration_flag, rate_flag, read_brief
        from swarmtest.stack.services import read_stack
        from swarmtest.tune.trials import Tuned

        parsed = read_stack(stack)
        flags = Overrides(
            service=service,
            url=url,
            instance_header=instance_header,
            rate=rate_flag(rate) if rate is not None else None,
            baseline_seconds=duration_flag("--baseline", baseline) if baseline is not None else None,
        )
        # A tune is held to no limits of the file, and goes on whatever is lost: its own verdict is another one.
        brief = replace(read_brief(parsed, flags), limits=(), stop_at=None, stop_at_given=False)
        tuned = Tuned(
            stack=parsed,
            brief=brief,
            coverage=_share("--coverage", coverage),
            confidence=_share("--confidence", confidence),
            replicas=replicas,
            generous_seconds=_whole("--generous", generous),
            edge=edge,
            seed=seed,
        )
        asked = Asked(parsed, brief, "tune", _folder(parsed, out), seed, name, init_swarm, None, None)
        refuse_useless(tuned)
        if write:
            refuse_unwritable(tuned)
        if dry_run:
            click.echo(dry_text(asked, tuned))
            return 0
        return carry_out_all(Recorder(asked, tuned, interrupts), emit=emit, write=write)


def _folder(stack: Stack, out: Path) -> Path:
    from swarmtest.running.order import new_token

    moment = datetime.fromtimestamp(time.time(), UTC).strftime("%Y%m%dT%H%M%SZ")
    stem = re.sub(r"[^A-Za-z0-9_.-]", "-", stack.file.stem)
    return out / f"{moment}-tune-{stem}-{new_token()}"


def _share(flag: str, text: str) -> float:
    number, percent = text.strip().removesuffix("%").rstrip(), text.strip().endswith("%")
    share = float(number) if re.fullmatch(r"[0-9]{0,3}(?:\.[0-9]{1,6})?", number) and number else -1.0
    share = share / 100 if percent else share
    if not 0 < share < 1:
        raise UsageError(f'{flag}: expected a share between 0 and 1, such as 0.9 or "90%", found {text!r}')
    return share


def _whole(flag: str, text: str | None) -> int | None:
    from swarmtest.stack.block.brief import duration_flag

    if text is None:
        return None
    seconds = duration_flag(flag, text)
    if seconds < 1 or seconds != int(seconds):
        raise UsageError(f"{flag}: expected whole seconds, since the engine cuts fractions, found {text!r}")
    return int(seconds)
