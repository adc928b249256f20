"""Ctrl-C and SIGTERM: raised once, and never in the middle of healing."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from swarmtest.errors import Interrupted
from swarmtest.interrupts import Interrupts, deferred


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_is_raised_by_its_name(number: signal.Signals) -> None:
    with Interrupts() as interrupts, pytest.raises(Interrupted, match=f"interrupted by {number.name}"):
        send(number)
    assert interrupts.caught == number.name
    assert Interrupted.exit_code == 130


def test_a_second_signal_does_not_cut_healing_short() -> None:
    healed = False
    with Interrupts():
        try:
            send(signal.SIGINT)
        except Interrupted:
            send(signal.SIGINT)
            send(signal.SIGTERM)
            healed = True
    assert healed


def test_a_held_signal_is_raised_at_the_release() -> None:
    with Interrupts() as interrupts:
        interrupts.hold()
        send(signal.SIGTERM)
        assert interrupts.caught == "SIGTERM"
        with pytest.raises(Interrupted, match="SIGTERM"):
            interrupts.release()


def test_a_release_without_a_signal_raises_nothing_and_lets_the_next_one_through() -> None:
    with Interrupts() as interrupts:
        interrupts.hold()
        interrupts.release()
        with pytest.raises(Interrupted):
            send(signal.SIGINT)


def test_an_error_handler_does_not_swallow_it() -> None:
    def careless() -> None:
        try:
            send(signal.SIGINT)
        except Exception:  # noqa: BLE001 - that's the point
            pytest.fail("swallowed")

    with Interrupts(), pytest.raises(Interrupted):
        careless()


def test_the_handlers_from_before_come_back_also_from_within_another_one() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with Interrupts() as outer:
        with Interrupts() as inner, pytest.raises(Interrupted):
            send(signal.SIGINT)
        assert (inner.caught, outer.caught) == ("SIGINT", None)
        with pytest.raises(Interrupted):
            send(signal.SIGTERM)
        assert outer.caught == "SIGTERM"
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_signal_that_is_deferred_comes_when_what_was_made_is_in_hand() -> None:
    made: list[str] = []

    def make() -> None:
        with deferred():
            signal.raise_signal(signal.SIGTERM)
            made.append("in hand")
        made.append("never")

    with Interrupts() as interrupts, pytest.raises(Interrupted):
        make()
    assert made == ["in hand"]
    assert interrupts.caught == "SIGTERM"


def test_deferring_elsewhere_than_in_the_main_thread_does_nothing() -> None:
    done: list[bool] = []

    def work() -> None:
        with deferred():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


def test_who_asked_to_outlive_the_terminal_does() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            send(signal.SIGHUP)
            with deferred():
                send(signal.SIGHUP)
        assert interrupts.caught is None
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
