"""A run of which some requests are lost, and more only lack their proof."""

from __future__ import annotations

import msgspec

from swarmtest.reports import Document, LossGroup, LossRow


def doubtful(document: Document) -> Document:
    """The run with 20 requests, none of them ok: 15 without a proof, 3 unknown otherwise, 2 refused."""
    return msgspec.structs.replace(
        document,
        losses=dict.fromkeys(document.losses, 0) | {"sent": 20, "unknown": 18, "refused": 2},
        loss_rows=[LossRow("short", "fresh", 20, {"unknown": 18, "refused": 2}, unproved=15)],
        loss_groups=[
            LossGroup("unknown", "unplaced", True, "200", 15),
            LossGroup("unknown", "front_door", False, "closed_unanswered", 3),
            LossGroup("refused", "front_door", False, "no_connection", 2),
        ],
        proof={"sent": 20, "lost": 20, "unproved": 15, "stops": 1, "stops_with_loss": 1},
    )
