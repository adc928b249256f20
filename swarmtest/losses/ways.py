"""The ways in which requests are lost, by name; advice is given for a way, not for a loss."""

from __future__ import annotations

from enum import StrEnum


class Mechanism(StrEnum):
    """Ways in which requests are lost."""

    DRAIN_MISSING = "drain missing"
    OWN_LIMIT = "the app's own shutdown limit"
    SIGNAL_IGNORED = "signal not handled"
    SIGNAL_OR_GRACE = "grace ran out, and nothing tells whether the signal was handled"
    KEEP_ALIVE = "keep-alive not wound down"
    GRACE_TOO_SHORT = "grace too short"
    SOCKETS_DESTROYED = "sockets destroyed while handlers run"
    CLOSED_TOO_EARLY = "closed before the front door let go"
    NOBODY_ACCEPTING = "listener open, nobody accepting"
    FRONT_DOOR_STALE = "front door sends to an instance that it should have let go"
    COLD_START = "traffic before the instance was ready"
    NO_INSTANCE = "no instance left to serve"
    HEALTH_KILL = "killed by its health check"
    OUT_OF_MEMORY = "out of memory"
    KILLED = "killed"
    STOPPED = "stopped by somebody else"
    CRASHED = "crashed"
    STREAMS_HELD = "open streams held the shutdown"
    HANGS = "nothing left to do, and yet it didn't exit"
    FRONT_DOOR_CUTS = "cut before the instance was told to stop"
    DETECTION = "sent before the front door could notice"
    ON_PURPOSE = "killed on purpose"
    FROZEN = "stood still with its instance"
    FROZEN_UNNOTICED = "front door sends to an instance that stands still"
    DEPENDENCY_OFF = "a service that it depends on was off"
    OVERLOADED = "those that were left had no room"
    INGRESS_BROKEN = "ingress broken, tasks healthy"
    FRONT_DOOR_GIVES_UP = "the front door gave up waiting"
    RELOAD_CUTS = "lost to the front door's reload"
    GOAWAY_MISSING = "HTTP/2 connection ended without GOAWAY"
    GOAWAY_AT_ONCE = "GOAWAY named its last stream at once"
    STORED_LATE = "acknowledged before it was stored"
    CONTENT_CHANGED = "another content than was sent"
