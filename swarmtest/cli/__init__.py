"""The verbs: parse, call, choose the exit code.

Heavy things are imported inside the verbs, so that ``swarmtest list`` and ``swarmtest judge`` load
neither Docker nor Locust, and ``--help`` is quick.
"""

from __future__ import annotations

import sys
import traceback

import click

from swarmtest.cli import doctor, judge, lint, listing, query, recover, run, tune, worker
from swarmtest.errors import Interrupted, SwarmtestError
from swarmtest.interrupts import Interrupts

VERBS = [
    lint.lint,
    doctor.doctor,
    run.run,
    judge.judge,
    query.query,
    tune.tune,
    recover.recover,
    worker.worker,
    listing.list_,
]
"""One module a verb."""


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


class _InOrder(click.Group):
    """Its help lists the verbs as a person comes to need them, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        return list(self.commands)


@click.group(
    cls=_InOrder, commands=VERBS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_say_version, help="The version.")
def commands() -> None:
    """Finds out whether a Swarm stack can be deployed under load without losing a request.

    \b
    Exit codes: 0 every check passed · 1 a check failed
                2 wrong usage, or a stack that can't be run
                3 no check failed, but something isn't proved
                4 swarmtest or the engine broke · 130 interrupted
    """


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
