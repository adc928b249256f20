"""What's counted by number, when a session comes back, and what's kept of each stream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swarmtest.traffic.streams import Numbers, StreamBook, StreamOutcome, StreamRecord, delay_seconds, drawn_from


def record(outcome: StreamOutcome = "still_open") -> StreamRecord:
    return StreamRecord(id="a", kind="chat", protocol="websocket", session="s", client_outcome=outcome)


@pytest.mark.parametrize(
    ("numbers", "received", "lost", "repeated"),
    [
        ([], 0, 0, 0),
        ([7, 8, 9], 3, 0, 0),  # where it starts is the service's own matter
        ([1, 4], 2, 2, 0),
        ([1, 2, 2, 1, 3], 5, 0, 2),
        ([5, 6, 4, 9], 4, 2, 1),
    ],
)
def test_a_gap_is_a_loss_and_a_number_seen_before_a_repetition(
    numbers: list[int], received: int, lost: int, repeated: int
) -> None:
    stream, seen = record(), Numbers()
    for number in numbers:
        seen.see(number, stream)
    assert (stream.received, stream.lost, stream.repeated) == (received, lost, repeated)


def test_a_gap_is_found_over_a_reconnect() -> None:
    numbers, first, second = Numbers(), record(), record()
    numbers.see(10, first)
    numbers.see(13, second)
    assert (first.lost, second.lost) == (0, 2)


def test_what_a_close_frame_tells_of_goes_out_again_and_is_not_lost() -> None:
    numbers, stream = Numbers(waiting={3: "m3"}), record("closed_by_server")
    numbers.end(stream)
    assert (stream.lost, numbers.waiting, numbers.again) == (0, {}, {3: "m3"})


@pytest.mark.parametrize("outcome", ["cut", "timed_out", "malformed", "closed_by_client", "local_error"])
def test_what_had_no_answer_when_a_stream_was_cut_is_lost_and_not_sent_again(outcome: StreamOutcome) -> None:
    numbers, stream = Numbers(waiting={3: "m3", 4: "m4"}), record(outcome)
    numbers.end(stream)
    assert (stream.lost, numbers.waiting, numbers.again) == (2, {}, {})


def test_what_waits_to_be_sent_again_outlives_tries_that_got_no_stream() -> None:
    numbers = Numbers(waiting={3: "m3"})
    numbers.end(record("closed_by_server"))
    numbers.end(record("no_connection"))
    numbers.end(record("closed_by_server"))
    assert numbers.again == {3: "m3"}


def test_an_answer_that_comes_twice_is_a_repetition_and_one_to_nothing_is_none() -> None:
    numbers, stream = Numbers(waiting={1: "m1"}), record()
    for number in (1, 1, 9):
        numbers.answer(number, stream)
    assert (stream.answered, stream.repeated) == (1, 1)


@pytest.mark.parametrize(
    ("failures", "drawn", "seconds"), [(0, 0.5, 0.1), (0, 0.0, 0.05), (1, 0.5, 0.2), (3, 0.5, 0.8), (50, 1.0, 3.0)]
)
def test_a_session_waits_twice_as_long_each_time_up_to_a_limit(failures: int, drawn: float, seconds: float) -> None:
    assert delay_seconds(failures, drawn) == pytest.approx(seconds)


def test_the_same_seed_draws_the_same_delays_and_sessions_differ() -> None:
    assert drawn_from(42, "chat", 1).random() == drawn_from(42, "chat", 1).random()
    assert drawn_from(42, "chat", 1).random() != drawn_from(42, "chat", 2).random()


def test_a_book_is_a_file_of_a_line_each_and_none_without_a_stream(tmp_path: Path) -> None:
    book = StreamBook(tmp_path / "requests")
    assert not (tmp_path / "requests").exists()
    book.write(record("cut"))
    book.write(record("closed_by_client"))
    lines = [json.loads(line) for line in book.path.read_text().splitlines()]
    assert [line["client_outcome"] for line in lines] == ["cut", "closed_by_client"]
