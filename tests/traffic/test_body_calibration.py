"""The calibration shot of large bodies: it passes with the client as it is, and catches one that can't count."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from swarmtest.traffic.body_calibration import LENGTH, WAYS, calibrate_bodies, with_bodies
from swarmtest.traffic.calibration import Calibration
from swarmtest.traffic.content import Content
from swarmtest.traffic.http1 import Request
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.upload import Upload, UploadClient


def test_the_client_counts_every_way_rightly() -> None:
    shot = calibrate_bodies("X-Instance-ID", {"upload", "download"})
    assert shot.ok, shot.wrong
    assert shot.counted["hits"] == 2 * len(WAYS)
    assert shot.counted["complete, not matched"] == 8


class Believing(UploadClient):
    """Takes each success for one."""

    def send(self, request: Request, record: Record) -> None:
        super().send(request, record)
        record.matched = True if record.status == 200 else None


class Repeating(UploadClient):
    """Sends once more what was cut."""

    def send(self, request: Request, record: Record) -> None:
        super().send(request, record)
        if record.client_outcome == "closed_unanswered":
            assert isinstance(request, Upload)
            super().send(replace(request, content=Content(b"x" * 65536, record.id, LENGTH)), record)


@pytest.mark.parametrize(
    ("client", "wrong"), [(Believing, "stored_less: complete, matched"), (Repeating, "cut_in_upload: 4 requests")]
)
def test_a_client_that_cannot_count_is_caught(client: Any, wrong: str) -> None:
    shot = calibrate_bodies("X-Instance-ID", {"upload"}, lambda _: client)
    assert not shot.ok
    assert any(wrong in line for line in shot.wrong)


@pytest.mark.parametrize(("protocol", "more"), [("http1", 0), ("upload", 12), ("download", 6)])
def test_it_is_fired_only_where_such_kinds_are_in_the_mix(protocol: str, more: int) -> None:
    kind = Kind(name="a", path="/", rate=1.0, protocol=protocol, bytes=10)
    settings = TrafficSettings(run="r", out="", url="http://x", kinds=[kind])
    shot = with_bodies(Calibration({"hits": 1}, {"hits": 1}), settings)
    assert shot.ok, shot.wrong
    assert shot.counted["hits"] == 1 + more
