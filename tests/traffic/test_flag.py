"""In a process of its own, since gevent is to be in none of the tests'."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

STORY = """
import sys
import gevent
from swarmtest.traffic.flag import Flag

event, woke = Flag(), []

def short():
    event.wait(0.0501)  # its time-out comes when the event has been set, and before anybody is woken

def late():
    gevent.sleep(0.05)
    event.set()
    event.wait(0.2)
    woke.append("late")

gevent.joinall([gevent.spawn(late), gevent.spawn(short)], timeout=2)
print(woke)
"""


def test_who_waits_for_what_was_just_set_is_not_forgotten_when_another_one_gives_up() -> None:
    """gevent/gevent #1611: with ``Event`` in the place of ``Flag`` nobody is woken, but on a busy machine."""
    shown = subprocess.run([sys.executable, "-c", STORY], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "['late']"


def test_a_flag_is_waited_for_as_an_event_is() -> None:
    code = "from swarmtest.traffic.flag import Flag; f = Flag(); print(f.wait(0.01)); f.set(); print(f.wait(9))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "True"]
