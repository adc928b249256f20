"""The pipe between the child and whoever started it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any

import msgspec
from gevent.os import make_nonblocking, nb_read, nb_write  # type: ignore[import-untyped]

log = logging.getLogger("swarmtest.traffic")


class Parent:
    """The pipe to whoever started the child. Locust gets its own stdout, so that it can't mix in."""

    def __init__(self) -> None:
        self._out = os.dup(1)
        os.dup2(2, 1)
        make_nonblocking(0)
        make_nonblocking(self._out)

    def tell(self, event: str, **fields: Any) -> None:
        """Sends one message; a parent that's gone is no reason to break off."""
        line = msgspec.json.encode({"event": event, **fields}) + b"\n"
        try:
            while line:
                line = line[nb_write(self._out, line) :]
        except OSError as error:
            log.warning("message %s not sent: %s", event, error)

    def commands(self) -> Iterator[str]:
        """The lines that come in, and a last "stop" when the parent is gone."""
        rest = b""
        while data := nb_read(0, 4096):
            *lines, rest = (rest + data).split(b"\n")
            yield from (line.decode(errors="replace").strip() for line in lines)
        yield "stop"
