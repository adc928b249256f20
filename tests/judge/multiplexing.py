"""A rollout whose clients speak HTTP/2: each old instance carries two connections, and says goodbye at its signal."""

from __future__ import annotations

from typing import Any

from tests.judge.builder import T0, Life, Rollout, Sent

CHECK = "http2_told_to_go_away"


class Multiplexing(Rollout):
    """Two connections on each old instance, each told at the signal and closed by the client a little later."""

    def __init__(self, *, front_door: str = "direct", **how: Any) -> None:
        super().__init__(front_door=front_door, **how)
        self.plan["traffic"]["kinds"].append({"name": "streams", "rate": 0.0, "protocol": "h2"})
        self.plan["checks"].append(CHECK)
        for life in self.old:
            for n in range(2):
                at = life.signalled if life.signalled is not None else self.ends
                told = {"goaway": 31, "goaway_at": T0 + at + 0.01, "goaways": 2, "code": "NO_ERROR"}
                self.connection(f"h{life.slot}{n}", life, at + 1.0, **told if life.signalled is not None else {})

    def connection(self, name: str, life: Life, until: float, **fields: Any) -> dict[str, Any]:
        """Adds a connection, which its client closed unless ``fields`` say otherwise."""
        target = f"10.9.9.9:{life.port}" if self.front_door == "direct" else "127.0.0.1:8080"
        base = {
            "connection": name,
            "kind": "streams",
            "target": target,
            "opened": T0 - 7.0,
            "ended": T0 + until,
            "streams": 16,
            "instance": life.task,
            "ended_by": "client",
        }
        self.connections.append({**base, **fields})
        return self.connections[-1]

    def untold(self, name: str, open_streams: int) -> None:
        """Has a connection ended by its peer without a word."""
        one = next(one for one in self.connections if one["connection"] == name)
        for key in ("goaway", "goaway_at", "goaways", "code"):
            one.pop(key, None)
        one.update(ended_by="peer", open=open_streams)

    def lost(self, name: str, life: Life, at: float, until: float, **fields: Any) -> Sent:
        """Adds a request by HTTP/2 that went with its connection."""
        error = "closed without GOAWAY, with 4 streams open"
        return self.unanswered(
            name, at, until, life, **{"protocol": "h2", "reused": True, "stream": 7, "error": error, **fields}
        )
