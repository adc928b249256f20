"""How far an answer came, from its bytes alone."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.traffic.answers import Answer, Expectation

PLAIN = Expectation(b"x-instance-id", b"x-request-id")
OK = b"HTTP/1.1 200 OK\r\nX-Instance-ID: a1\r\nX-Request-ID: r-1\r\n"
LENGTH = OK + b"Content-Length: 4\r\n\r\nfour"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n3\r\nsix\r\n0\r\nX-Trailer: 1\r\n\r\n"


def answer_of(data: bytes, expectation: Expectation = PLAIN, *, is_head: bool = False) -> Answer:
    answer = Answer(expectation, is_head)
    answer.feed(data)
    return answer


@pytest.mark.parametrize("whole", [LENGTH, CHUNKED], ids=["length", "chunked"])
def test_no_beginning_of_an_answer_passes_for_the_whole(whole: bytes) -> None:
    for end in range(len(whole)):
        answer = answer_of(whole[:end])
        assert not answer.complete
        assert answer.broken is None
        assert not answer.end_of_stream()
    assert answer_of(whole).complete


@given(st.sampled_from([LENGTH, CHUNKED]), st.lists(st.integers(0, 150), max_size=6))
def test_it_does_not_matter_how_the_bytes_are_cut_into_pieces(whole: bytes, cuts: list[int]) -> None:
    answer = Answer(PLAIN, False)
    edges = [0, *sorted(cuts), len(whole)]
    for start, end in itertools.pairwise(edges):
        answer.feed(whole[start:end])
    assert answer.complete
    assert answer.broken is None
    assert (answer.status, answer.instance, answer.echo) == (200, "a1", b"r-1")
    assert answer.body_bytes == (4 if whole is LENGTH else 7)
    assert answer.framing == ("length" if whole is LENGTH else "chunked")


def test_header_names_are_read_in_any_case() -> None:
    answer = answer_of(b"HTTP/1.1 200 OK\r\nx-INSTANCE-id: a1\r\nX-REQUEST-ID: r-1\r\nRETRY-after: 1\r\n\r\n")
    assert (answer.instance, answer.echo, answer.retry_after) == ("a1", b"r-1", True)


@pytest.mark.parametrize("interim", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early\r\nRetry-After: 1\r\n\r\n"])
def test_an_interim_answer_is_no_answer(interim: bytes) -> None:
    answer = answer_of(interim)
    assert not answer.begun
    assert not answer.complete
    answer.feed(LENGTH)
    assert answer.complete
    assert (answer.status, answer.retry_after) == (200, False)


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_some_statuses_have_no_body(status: bytes) -> None:
    answer = answer_of(b"HTTP/1.1 " + status + b"\r\nX-Instance-ID: a1\r\n\r\n")
    assert answer.complete
    assert answer.framing is None
    assert answer.keep_alive


def test_the_answer_to_head_has_no_body_whatever_its_length_says() -> None:
    answer = answer_of(OK + b"Content-Length: 400\r\n\r\n", is_head=True)
    assert answer.complete
    assert answer.body_bytes == 0
    assert answer.broken is None
    assert answer_of(OK + b"Content-Length: 4\r\n\r\nfour", is_head=True).broken


@pytest.mark.parametrize(
    ("head", "keeps"),
    [
        (b"HTTP/1.1 200 OK\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n", False),
        (b"HTTP/1.0 200 OK\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", True),
    ],
)
def test_a_connection_is_kept_only_where_the_answer_allows_it(head: bytes, keeps: bool) -> None:
    answer = answer_of(head + b"Content-Length: 0\r\n\r\n")
    assert answer.complete
    assert answer.keep_alive is keeps


@pytest.mark.parametrize(
    "data",
    [
        b"220 mail.example ESMTP\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    ],
)
def test_what_is_not_an_answer_is_malformed(data: bytes) -> None:
    assert answer_of(data).broken


@pytest.mark.parametrize("extra", [b"X", LENGTH, b"HTTP/1.1 200 OK\r\n"])
def test_bytes_beyond_the_answer_make_it_malformed(extra: bytes) -> None:
    assert answer_of(LENGTH + extra).broken
    assert answer_of(OK + b"Connection: close\r\nContent-Length: 4\r\n\r\nfour" + extra).broken


def test_a_second_answer_does_not_overwrite_the_first() -> None:
    answer = answer_of(LENGTH + b"HTTP/1.1 500 No\r\nX-Instance-ID: b2\r\nContent-Length: 3\r\n\r\nbad")
    assert (answer.status, answer.instance, answer.body_bytes) == (200, "a1", 4)


def test_a_body_without_length_is_not_believed() -> None:
    """locustio/locust #1472, #2236: a truncated answer that looks like success."""
    answer = answer_of(OK + b"Connection: close\r\n\r\nfour")
    assert not answer.end_of_stream()
    assert answer.framing == "close"


@pytest.mark.parametrize(
    ("body", "whole"), [(b"all of it.END", True), (b".END", True), (b"all of it.EN", False), (b"", False)]
)
def test_a_body_without_length_is_proved_by_its_end_marker(body: bytes, whole: bool) -> None:
    answer = Answer(Expectation(b"i", b"r", end_marker=b".END"), False)
    answer.feed(OK + b"\r\n")
    for place in range(len(body)):
        answer.feed(body[place : place + 1])
    assert answer.end_of_stream() is whole
    assert answer.framing == ("marker" if whole else "close")


def test_a_body_without_length_is_proved_by_the_expected_number_of_bytes() -> None:
    expectation = Expectation(b"i", b"r", expect_bytes=4)
    assert answer_of(OK + b"\r\nfour", expectation).end_of_stream()
    assert not answer_of(OK + b"\r\nfou", expectation).end_of_stream()


def test_a_whole_answer_that_lacks_what_was_expected_is_found_short() -> None:
    assert answer_of(LENGTH, Expectation(b"i", b"r", expect_bytes=100)).shortfall()
    assert answer_of(LENGTH, Expectation(b"i", b"r", end_marker=b"END")).shortfall()
    assert answer_of(LENGTH, Expectation(b"i", b"r", b"our", 4)).shortfall() is None


def test_an_error_page_need_not_look_like_the_expected_body() -> None:
    page = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno"
    assert answer_of(page, Expectation(b"i", b"r", b"END", 100)).shortfall() is None
