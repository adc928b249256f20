"""The user that Locust runs in each process: the clients of ``swarmtest.traffic``.

Loaded by Locust in a process of its own (``traffic.process`` starts it), which puts this file's
folder on ``sys.path``: no module beside it may bear the name of a standard or third-party module
that's loaded here. Imports nothing of ours that acts or judges.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from locust import User, events, task
from locust.exception import StopUser

# A checkout that isn't installed; at the end, so that it hides nothing.
sys.path.append(str(Path(__file__).resolve().parents[1]))

from swarmtest.traffic.frame import Frame
from swarmtest.traffic.settings import ENVIRONMENT_VARIABLE
from swarmtest.traffic.settings_file import read_settings

told = os.environ.get(ENVIRONMENT_VARIABLE)
frame = Frame(read_settings(Path(told)) if told else None)
events.init.add_listener(frame.prepare)  # type: ignore[no-untyped-call]
events.quitting.add_listener(frame.finish)  # type: ignore[no-untyped-call]


class Client(User):
    """A user that lives for one task: all that its process sends."""

    @task
    def live(self) -> None:
        """Sends requests until the traffic ends, then leaves."""
        frame.live()
        raise StopUser
