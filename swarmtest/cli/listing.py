"""``swarmtest list``: what there is, a line each."""

from __future__ import annotations

import click


@click.command("list", short_help="Lists scenarios, checks and the rules of lint.")
def list_() -> None:
    """Shows the scenarios, the checks and the rules of lint, with a line each."""
    from swarmtest.catalogue import check_lines, group_lines, rule_lines, scenario_lines

    parts = (
        ("Scenarios (swarmtest run STACK --scenario NAME):", scenario_lines()),
        ("Several, each a run of its own (a NAME of these, or NAME,NAME):", group_lines()),
        ("Checks:", check_lines()),
        ("Rules of swarmtest lint (swarmtest lint --explain RULE says more):", rule_lines()),
    )
    width = max(len(name) for _, lines in parts for name, _ in lines)
    click.echo("\n\n".join("\n".join([title, *_rows(lines, width)]) for title, lines in parts))


def _rows(lines: list[tuple[str, str]], width: int) -> list[str]:
    return [f"  {name:<{width}} {line}" for name, line in lines]
