"""A rollout whose clients hold streams: each instance has some, and who loses one comes back to another."""

from __future__ import annotations

from typing import Any

from tests.judge.builder import T0, Life, Rollout

KINDS = (
    {"name": "chat", "rate": 1.0, "protocol": "websocket", "sessions": 6, "reconnect_seconds": 5.0},
    {"name": "feed", "rate": 0.0, "protocol": "sse", "sessions": 6, "reconnect_seconds": 5.0},
)
STREAM_CHECKS = ("streams_closed_in_order", "clients_reconnected_in_time", "no_message_lost")


class Holding(Rollout):
    """Two sessions of each kind on each old instance; each is told at the close, and back 0.2 s later."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.plan["traffic"]["kinds"] += [dict(kind) for kind in KINDS]
        self.plan["checks"] += STREAM_CHECKS
        for life in self.old:
            for kind in KINDS:
                for n in range(2):
                    session = f"{kind['name']}-s{life.slot}{n}"
                    if life.closed is None:
                        self.stream(session, 1, life, -7.0, self.ends, client_outcome="closed_by_client")
                        continue
                    self.stream(session, 1, life, -7.0, life.closed)
                    back = next(one for one in self.lives if one.takes(life.closed + 0.2) and one is not life)
                    self.stays(session, 2, back, life.closed + 0.2)

    def stays(self, session: str, attempt: int, life: Life, at: float) -> None:
        """A stream that lasts as long as its instance, and what follows it."""
        if life.closed is None or life.closed <= at:
            self.stream(session, attempt, life, at, self.ends, client_outcome="closed_by_client")
            return
        self.stream(session, attempt, life, at, life.closed)
        back = next(one for one in self.lives if one.takes(life.closed + 0.2) and one is not life)
        self.stays(session, attempt + 1, back, life.closed + 0.2)

    def stream(self, session: str, attempt: int, life: Life | None, at: float, until: float, **fields: Any) -> None:
        """Adds a stream, in seconds from T0; told by its service unless ``fields`` say otherwise."""
        websocket = session.startswith("chat")
        self.streams.append(
            {
                "id": f"{session}-{attempt}",
                "kind": session.split("-", maxsplit=1)[0],
                "protocol": "websocket" if websocket else "sse",
                "session": session,
                "attempt": attempt,
                "instance": life.task if life is not None else None,
                "began": T0 + at - 0.01,
                "opened": T0 + at,
                "closed": T0 + until,
                "code": 1012 if websocket else None,
                "framing": None if websocket else "chunked",
                "client_outcome": "closed_by_server",
                "sent": 5 if websocket else 0,
                "answered": 5 if websocket else 0,
                "received": 10,
                **fields,
            }
        )

    def change(self, session: str, attempt: int, **fields: Any) -> None:
        """Changes a stream."""
        next(one for one in self.streams if (one["session"], one["attempt"]) == (session, attempt)).update(fields)

    def of(self, life: Life) -> list[dict[str, Any]]:
        """Streams that an instance held."""
        return [one for one in self.streams if one["instance"] == life.task]
