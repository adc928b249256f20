"""``swarmtest list``: what there is, a line each."""

from __future__ import annotations

import click


@click.command("list")
def list_() -> None:
    """Shows the scenarios and the checks, with a line each."""
    from swarmtest.catalogue import check_lines, scenario_lines

    click.echo("Scenarios (swarmtest run STACK --scenario NAME):")
    for name, line in scenario_lines():
        click.echo(f"  {name:<28} {line}")
    click.echo("\nChecks:")
    for name, line in check_lines():
        click.echo(f"  {name:<28} {line}")
