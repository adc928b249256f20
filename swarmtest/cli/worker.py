"""``swarmtest worker``: this machine's share of the traffic of a run on another one."""

from __future__ import annotations

import socket

import click

from swarmtest.errors import UsageError

DEFAULT_PORT = 5557


@click.command(short_help="Sends a share of the traffic of a run elsewhere.")
@click.argument("master", metavar="HOST[:PORT]")
@click.option("--processes", type=click.IntRange(1, 64), default=1, show_default=True, help="Workers on this machine.")
def worker(master: str, processes: int) -> int:
    """Sends a share of the traffic of `swarmtest run --workers` on HOST, and ends with it."""
    from swarmtest.traffic.worker import run_worker

    host, port = address(master)
    find(host)
    return run_worker(host, port, processes)


def find(host: str) -> None:
    """Looks a host up, as a worker would wait for ever for one that isn't there; raises :class:`UsageError`."""
    try:
        socket.getaddrinfo(host, None, socket.AF_INET)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"no host {host!r} with an IPv4 address is known ({reason}); give that of the run") from error


def address(text: str) -> tuple[str, int]:
    """Host and port of ``host[:port]``; raises :class:`UsageError` for other texts."""
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = text, str(DEFAULT_PORT)
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise UsageError(f"expected host:port such as 10.0.0.5:{DEFAULT_PORT}, found {text!r}")
    return host, int(port)
