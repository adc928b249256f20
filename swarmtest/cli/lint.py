"""``swarmtest lint``: what the files alone can tell."""

from __future__ import annotations

import os
from pathlib import Path

import click


@click.command()
@click.argument("stack", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--target", type=click.Choice(["swarm", "compose"]), default="swarm", show_default=True)
def lint(stack: tuple[Path, ...], target: str) -> int:
    """Reads stack files, and says what will go wrong; needs no engine.

    Each STACK is a stack of its own.
    """
    from swarmtest.lint import Severity, Target
    from swarmtest.lint.linting import lint as look

    worst = 0
    for path in stack:
        for found in look([path], Target(target), os.environ).findings:
            click.echo(f"{found.place.file}:{found.place.line}: {found.severity}: {found.effect} [{found.rule}]")
            worst = worst or int(found.severity is Severity.ERROR)
    return worst
