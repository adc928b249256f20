from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from swarmtest.traffic.answers import NO_LENGTH
from swarmtest.traffic.ledger import Lateness, Ledger, is_lost
from swarmtest.traffic.records import MOST_WAITING, Record, RecordFile


def record_of(name: str) -> Record:
    return Record(id=name, kind="k", method="GET", path="/", planned=1.0, sent=1.0)


def test_every_request_is_written_exactly_once_though_the_client_gave_up_on_it() -> None:
    written: list[tuple[str, str]] = []
    ledger = Ledger(lambda record: written.append((record.id, record.client_outcome)))
    records = [record_of(name) for name in ("a", "b", "c")]
    for record in records:
        ledger.begin(record, 0.0)
    records[0].client_outcome = "complete"
    ledger.end(records[0])
    assert ledger.give_up() == 2
    assert ledger.give_up() == 0
    records[1].client_outcome = "complete"
    ledger.end(records[1])  # its answer came after all, too late to be counted
    assert written == [("a", "complete"), ("b", "still_open"), ("c", "still_open")]


def test_sent_is_the_sum_of_open_and_all_outcomes_at_any_moment() -> None:
    ledger = Ledger(lambda record: None)
    for n in range(5):
        record = record_of(str(n))
        ledger.begin(record, 0.0)
        if n % 2:
            record.client_outcome = "timed_out"
            ledger.end(record)
        counts = ledger.counts()
        assert counts["sent"] == n + 1 == ledger.counts()["open"] + counts["done"]
    assert counts["outcomes"] == {"timed_out": 2}


@pytest.mark.parametrize(
    ("fields", "lost"),
    [
        ({"client_outcome": "complete", "status": 200}, False),
        ({"client_outcome": "complete", "status": 204}, False),
        ({"client_outcome": "complete", "status": 302}, True),
        ({"client_outcome": "complete", "status": 404}, True),
        ({"client_outcome": "complete", "status": 500}, True),
        ({"client_outcome": "complete", "status": 502, "retry_after": True}, True),
        ({"client_outcome": "complete", "status": 503}, True),
        ({"client_outcome": "complete", "status": 503, "retry_after": True}, False),
        ({"client_outcome": "complete", "status": 429}, False),
        ({"client_outcome": "no_connection"}, True),
        ({"client_outcome": "closed_in_body", "status": 200, "error": "ConnectionResetError: reset"}, True),
        ({"client_outcome": "timed_out"}, True),
        ({"client_outcome": "still_open"}, True),
        # an answer that nothing proves to be whole is nothing that's known to be lost
        ({"client_outcome": "closed_in_body", "status": 200, "error": NO_LENGTH}, False),
        ({"client_outcome": "closed_in_body", "status": 500, "error": NO_LENGTH}, True),
    ],
)
def test_lost_is_what_got_no_good_answer_and_was_not_turned_away(fields: dict[str, Any], lost: bool) -> None:
    record = record_of("a")
    for name, value in fields.items():
        setattr(record, name, value)
    assert is_lost(record) is lost
    ledger = Ledger(lambda record: None)
    ledger.begin(record, 0.0)
    assert ledger.counts()["lost"] == 0
    ledger.end(record)
    ledger.end(record)
    assert ledger.counts()["lost"] == lost


@pytest.mark.parametrize(
    ("seconds", "share", "milliseconds"),
    [
        ([], 0.99, 0.0),
        ([-1.0], 0.99, 0.0),
        ([0.001] * 99 + [1.0], 0.99, 1.0),
        ([0.001] * 98 + [1.0, 1.0], 0.99, 1000.0),
        ([0.00101], 0.5, 1.1),
    ],
)
def test_a_percentile_of_lateness_is_rounded_up_and_never_flattered(
    seconds: list[float], share: float, milliseconds: float
) -> None:
    lateness = Lateness()
    for one in seconds:
        lateness.add(one)
    assert lateness.percentile_ms(share) == pytest.approx(milliseconds)


def test_lateness_is_told_of_the_last_second_and_of_the_whole_run() -> None:
    ledger = Ledger(lambda record: None)
    ledger.begin(record_of("a"), 0.5)
    assert ledger.recent_lateness().percentile_ms(0.99) == 500
    ledger.begin(record_of("b"), 0.001)
    assert ledger.recent_lateness().percentile_ms(0.99) == 1
    assert ledger.recent_lateness().percentile_ms(0.99) == 0
    assert ledger.whole_lateness().percentile_ms(0.99) == 500
    assert ledger.whole_lateness().largest_seconds == 0.5


def test_a_record_is_in_the_file_as_soon_as_that_is_flushed(tmp_path: Path) -> None:
    file = RecordFile(tmp_path / "requests")
    file.write(record_of("a"))
    file.flush()
    assert file.path.name == f"requests-{os.getpid()}.jsonl"
    line = json.loads(file.path.read_text())
    file.close()
    assert list(line) == list(Record.__struct_fields__)
    assert (line["id"], line["attempt"], line["first_byte"], line["client_outcome"]) == ("a", 1, None, "still_open")


def test_many_records_do_not_wait_for_a_flush_and_the_rest_is_written_at_the_end(tmp_path: Path) -> None:
    file = RecordFile(tmp_path)
    for n in range(MOST_WAITING + 3):
        file.write(record_of(str(n)))
    assert len(file.path.read_text().splitlines()) == MOST_WAITING
    file.close()
    assert [json.loads(line)["id"] for line in file.path.read_text().splitlines()][-1] == str(MOST_WAITING + 2)


def test_lines_are_finished_though_the_system_takes_them_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole_write = os.write
    file = RecordFile(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda descriptor, data: whole_write(descriptor, data[:7]))
        file.write(record_of("a"))
        file.write(record_of("b"))
        file.close()
    assert [json.loads(line)["id"] for line in file.path.read_text().splitlines()] == ["a", "b"]


def test_there_is_room_until_so_many_are_open() -> None:
    ledger = Ledger(lambda record: None, room=1)
    assert ledger.has_room
    record = record_of("a")
    ledger.begin(record, 0.0)
    assert not ledger.has_room
    ledger.end(record)
    assert ledger.has_room
