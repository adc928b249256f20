"""What an instance is told by its environment; the README beside this folder lists it for people."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, get_type_hints

from sample.streams import OnDrain


class Shutdown(StrEnum):
    """What the process does on SIGTERM."""

    WITHDRAW = "withdraw"  # unready, wait, close the listener, drain, exit: loses nothing
    CLOSE = "close"  # close the listener at once, then drain: what Kestrel and most servers do
    EXIT = "exit"  # gone at once
    IGNORE = "ignore"  # serve on
    DESTROY = "destroy"  # reset every connection, but let the handlers finish
    HOLD = "hold"  # keep the listener open, but accept nothing more


class AtLimit(StrEnum):
    """What becomes of requests that are still open when the shutdown limit is over."""

    RESET = "reset"  # reset their connections and let handlers run on for a second: Kestrel's abort
    EXIT = "exit"


@dataclass(frozen=True, slots=True)
class Settings:
    """Each field is read from the variable of the same name in capitals."""

    instance_id: str
    version: str = "1"
    port: int = 8000
    keep_alive_seconds: float = 75.0
    bank: str = "bank:8001"
    shutdown: Shutdown = Shutdown.WITHDRAW
    shutdown_wait_seconds: float = 3.0
    shutdown_limit_seconds: float = 15.0
    shutdown_at_limit: AtLimit = AtLimit.RESET
    shutdown_hold_seconds: float = 5.0
    drain_extra_seconds: float = 0.0
    keep_alive_on_drain: bool = False
    http2_goaway: bool = True
    warm_up_seconds: float = 1.0
    listen_after_seconds: float = 0.0
    ready_lies: bool = False
    never_healthy: bool = False
    health_asks_bank: bool = False
    ready_asks_bank: bool = False
    most_at_once: int = 0
    log_probes: bool = False
    websockets_on_drain: OnDrain = OnDrain.CLOSE
    events_on_drain: OnDrain = OnDrain.CLOSE
    replay: bool = True
    slow_at_first: int = 0
    store: str = "/tmp/stored"
    acknowledge_early: bool = False
    store_seconds: float = 0.0

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read what is set; a value that can't be read stops the start with its name.

        Raises:
            SystemExit: for a value of the wrong kind.
        """
        types = get_type_hints(cls)
        values: dict[str, Any] = {"instance_id": socket.gethostname()}
        for field in fields(cls):
            text = environment.get(field.name.upper(), "")
            if text:
                values[field.name] = _read(field.name.upper(), text, types[field.name])
        return cls(**values)


def _read(name: str, text: str, kind: type) -> Any:
    try:
        return text in ("1", "true", "yes") if kind is bool else kind(text)
    except ValueError:
        allowed = ", ".join(kind) if issubclass(kind, StrEnum) else f"a number ({kind.__name__})"
        raise SystemExit(f"{name}={text!r} can't be used; it must be: {allowed}") from None
