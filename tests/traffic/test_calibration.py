"""The shot lets a client that can count pass, and finds out each way of not being able to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swarmtest.traffic.answers import Expectation
from swarmtest.traffic.calibration import Calibration, Shot, calibrate
from swarmtest.traffic.http1 import Client, Request
from swarmtest.traffic.records import Record
from swarmtest.traffic.targets import Targets


class Resending(Client):
    """As geventhttpclient does: what was cut before its first byte goes out once more, silently."""

    def send(self, request: Request, record: Record) -> None:
        super().send(request, record)
        if record.client_outcome == "closed_unanswered" and record.reused:
            super().send(request, record)


class CountingOnlyFailures(Client):
    """Sends a cut request again and reports the first outcome: the counts look right."""

    def send(self, request: Request, record: Record) -> None:
        super().send(request, record)
        if record.client_outcome == "closed_unanswered":
            again = Record(id=record.id, kind="", method="", path="", planned=0.0)
            super().send(request, again)


class TakingCutsForSuccess(Client):
    """As http.client does: the end of the stream inside the headers is the end of the headers."""

    def send(self, request: Request, record: Record) -> None:
        super().send(request, record)
        if record.client_outcome == "closed_in_headers":
            record.client_outcome = "complete"


class NotLookingBeforeReuse(Client):
    """Takes an idle close for a loss."""

    def _kept(self, record: Record):  # type: ignore[no-untyped-def]
        record.reused = self._connection is not None
        return self._connection


class SwappingTwo(Client):
    """Two mistakes that cancel out in the sums."""

    def send(self, request: Request, record: Record) -> None:
        super().send(request, record)
        swapped = {"/10/malformed": "closed_in_headers", "/3/cut_in_headers": "malformed"}
        record.client_outcome = swapped.get(request.path, record.client_outcome)  # type: ignore[assignment]


def shoot(client: type[Client]) -> Calibration:
    def make(targets: Targets, shot: Shot, expectation: Expectation, numbers: Iterator[int]) -> Client:
        return client(targets, shot.limits, expectation, keeps=shot.keeps, numbers=numbers)

    return calibrate("X-Instance-ID", "X-Request-ID", make)


def test_the_client_counts_every_known_request() -> None:
    shot = shoot(Client)
    assert shot.ok, shot.wrong
    assert shot.expected == shot.counted
    assert {"no_connection", "closed_unanswered", "closed_in_headers", "closed_in_body", "complete"} < set(shot.counted)


def test_the_shot_uses_the_headers_that_the_run_will_use() -> None:
    assert calibrate("X-Served-By", "X-Correlation").ok


@pytest.mark.parametrize(
    ("client", "found"),
    [
        (Resending, "second_unanswered"),
        (CountingOnlyFailures, "2 times"),
        (TakingCutsForSuccess, "cut_in_headers"),
        (NotLookingBeforeReuse, "closed_when_idle"),
        (SwappingTwo, "malformed"),
    ],
)
def test_a_client_that_can_not_count_is_found_out(client: type[Client], found: str) -> None:
    shot = shoot(client)
    assert not shot.ok
    assert any(found in line for line in shot.wrong), shot.wrong
