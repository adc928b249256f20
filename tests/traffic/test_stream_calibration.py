"""The client of streams counts known ends right, and one that doesn't is found out."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from swarmtest.traffic import stream_calibration
from swarmtest.traffic.calibration import Calibration
from swarmtest.traffic.sessions import Opening
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.stream_calibration import SHOTS, SPEAKERS, calibrate_streams, with_streams
from swarmtest.traffic.streams import Stop, StreamRecord

Change = Callable[[StreamRecord], None]


def settings(*kinds: Kind) -> TrafficSettings:
    return TrafficSettings(run="r", out=".", url="http://127.0.0.1", kinds=list(kinds))


def test_the_client_counts_every_known_stream() -> None:
    shot = calibrate_streams("X-Instance-ID")
    assert shot.wrong == []
    assert shot.ok
    assert shot.counted["closed_by_server"] == sum(
        fields[0] == "closed_by_server" for one in SHOTS for fields in one.expected
    )


def test_the_shot_uses_the_header_that_the_run_will_use() -> None:
    assert calibrate_streams("X-Served-By").ok


def take_cuts_for_closes(record: StreamRecord) -> None:
    if record.client_outcome == "cut":
        record.client_outcome = "closed_by_server"


def miss_a_repetition(record: StreamRecord) -> None:
    record.repeated = 0


def forget_the_code(record: StreamRecord) -> None:
    record.code = None


def take_any_instance(record: StreamRecord) -> None:
    record.instance = "somebody"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (take_cuts_for_closes, "expected client_outcome cut"),
        (miss_a_repetition, "repeated 2"),
        (forget_the_code, "code 1012"),
        (take_any_instance, "from somebody"),
    ],
)
def test_a_client_that_can_not_count_is_found_out(change: Change, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(speak: Any) -> Any:
        def hold(connected: socket.socket, opening: Opening, record: StreamRecord, stop: Stop) -> None:
            speak(connected, opening, record, stop)
            change(record)

        return hold

    spoilt = {protocol: broken(speak) for protocol, speak in SPEAKERS.items()}
    monkeypatch.setattr(stream_calibration, "SPEAKERS", spoilt)
    shot = calibrate_streams("X-Instance-ID")
    assert not shot.ok
    assert any(found in line for line in shot.wrong), shot.wrong


def test_streams_are_calibrated_only_where_they_are_in_the_mix() -> None:
    whole = Calibration({"complete": 1}, {"complete": 1})
    assert with_streams(whole, settings(Kind(name="a", path="/", rate=1.0))) is whole
    chat = Kind(name="chat", path="/ws", rate=1.0, protocol="websocket", sessions=1)
    both = with_streams(whole, settings(chat))
    assert both.ok
    assert both.counted["complete"] == 1
    assert both.counted["stream cut"] == both.expected["stream cut"] > 0


def test_a_client_that_miscounted_requests_is_not_asked_further() -> None:
    wrong = Calibration({}, {}, ["off by one"])
    chat = Kind(name="chat", path="/ws", rate=1.0, protocol="websocket", sessions=1)
    assert with_streams(wrong, settings(chat)) is wrong
