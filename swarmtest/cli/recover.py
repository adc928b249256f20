"""``swarmtest recover``: what a run left on the engine that was killed together with its own healing."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Removes what a killed run left behind.")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]...")
@click.option(
    "--out", default="runs", show_default=True, type=click.Path(path_type=Path), help="Folder of run folders."
)
@click.option("--keep", is_flag=True, help="Heal, and leave the stacks on the engine.")
@click.option("--stack", metavar="NAME", help="Remove this stack of a run whose folder is gone.")
def recover(folders: tuple[Path, ...], out: Path, keep: bool, stack: str | None) -> int:
    """Heals and removes what runs left that were killed (SIGKILL): in each FOLDER, or all under --out.

    A run that goes on is never touched, and nothing that isn't a run's own.

    \b
    Exit codes: 0 all is healed, or nothing had to be · 2 wrong usage · 4 something couldn't be healed
    """
    from swarmtest.engine.client import Client
    from swarmtest.errors import UsageError
    from swarmtest.recovery import Recovery
    from swarmtest.recovery.finding import recover_all, recover_given, remove_stack

    if stack is not None and (folders or keep):
        raise UsageError("--stack goes alone: it removes one stack, and no folder is looked at")
    client = Client()
    recovery = Recovery(client, client.info(), click.echo, keep=keep)
    if stack is not None:
        healed = remove_stack(stack, recovery)
    else:
        healed = recover_given(folders, recovery) if folders else recover_all(out, recovery)
    return 0 if healed else 4
