"""``swarmtest worker``: this machine's share of the traffic of a run on another one."""

from __future__ import annotations

import click

from swarmtest.errors import UsageError

DEFAULT_PORT = 5557


@click.command()
@click.argument("master", metavar="HOST[:PORT]")
@click.option("--processes", type=click.IntRange(1, 64), default=1, show_default=True, help="Workers on this machine.")
def worker(master: str, processes: int) -> int:
    """Sends a share of the traffic of `swarmtest run --workers` on HOST, and ends with it."""
    from swarmtest.traffic.process import run_worker

    host, port = address(master)
    return run_worker(host, port, processes)


def address(text: str) -> tuple[str, int]:
    """Host and port of ``host[:port]``; raises :class:`UsageError` for other texts."""
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = text, str(DEFAULT_PORT)
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise UsageError(f"expected host:port such as 10.0.0.5:{DEFAULT_PORT}, found {text!r}")
    return host, int(port)
