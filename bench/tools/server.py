"""A server that's faster than every client: HAProxy, which answers by itself."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator

from bench import Place
from bench.tools.machine import move

CONFIG = """
global
  nbthread 1
  maxconn 2000
defaults
  mode http
  timeout client 60s
  timeout http-keep-alive 60s
frontend answers
  bind 127.0.0.1:{port}
  http-request return status 200 content-type text/plain string "answered" \
hdr X-Instance-ID bench hdr X-Request-ID %[req.hdr(X-Request-ID)]
"""


@contextlib.contextmanager
def fast_server(place: Place) -> Iterator[str]:
    """Its ``host:port`` while it runs; every answer has 8 bytes, names an instance and echoes the request's ID.

    Raises:
        RuntimeError: HAProxy isn't installed, or doesn't listen.
    """
    if shutil.which("haproxy") is None and not shutil.which("haproxy", path="/usr/sbin"):
        raise RuntimeError("needs haproxy (scripts/bench-tools installs it)")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = place.folder / "haproxy.cfg"
    config.write_text(CONFIG.format(port=port))
    program = shutil.which("haproxy") or "/usr/sbin/haproxy"
    server = subprocess.Popen([program, "-db", "-f", str(config)])
    try:
        _wait(port)
        move(server.pid, place.server_core)
        yield f"127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait(port: int) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.02)
    raise RuntimeError(f"haproxy doesn't listen on {port}")
