"""``swarmtest doctor``: what's missing, on this machine and in a stack, and what to do."""

from __future__ import annotations

from pathlib import Path

import click

from swarmtest.errors import EngineError


@click.command(short_help="Says what's missing on this machine, or for a stack.")
@click.argument("stack", required=False, type=click.Path(path_type=Path))
def doctor(stack: Path | None) -> int:
    """Says what's missing on this machine, and for STACK where one is given, and what to do."""
    from swarmtest.engine.client import Client
    from swarmtest.running.preflight import examine, examine_without_engine
    from swarmtest.stack.block.brief import read_brief
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
