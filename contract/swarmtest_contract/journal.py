"""Writes an instance's lines so that a missing one is noticed.

A loss is called *unserved* because no start line of it exists. That only holds if no line can get lost unseen,
so each goes straight to the file descriptor, and all of an instance's lines share one gapless count.
"""

import json
import os
import socket
import threading
import time
from typing import Callable, Mapping, Optional, Union

Value = Union[str, int, float, bool, None]
Write = Callable[[bytes], None]

STANDARD_OUTPUT = 1
VERSION = 1


def write_to_standard_output(line: bytes) -> None:
    """Write past every buffer of Python's: what `print` still held would be gone after a SIGKILL."""
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(STANDARD_OUTPUT, rest) :]


def name_of_this_instance(environment: Mapping[str, str]) -> str:
    """The task's ID if the stack file passes it on, else the container's host name, which is its short ID."""
    return environment.get("INSTANCE_ID") or socket.gethostname()


class Journal:
    """The lines of one instance, numbered 1, 2, 3, …; safe to use from any thread.

    A class, because the count is shared by everything that writes a line.
    """

    def __init__(
        self,
        instance: Optional[str] = None,
        write: Write = write_to_standard_output,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.instance = instance or name_of_this_instance(os.environ)
        self._write = write
        self._clock = clock
        self._seq = 0
        self._lock = threading.Lock()

    def record(self, event: str, request_id: Optional[str], **fields: Value) -> None:
        """Note a step of a request: start, intent, commit or finish."""
        self._line(event, {"request_id": request_id, **fields})

    def lifecycle(self, event: str, **fields: Value) -> None:
        """Note a change of the instance's own state."""
        self._line(event, fields)

    def _line(self, event: str, fields: Mapping[str, Value]) -> None:
        with self._lock:  # counted and written in one go: the order of the lines is the order of the count
            line = {
                "v": VERSION,
                "event": event,
                **fields,
                "instance": self.instance,
                "seq": self._seq + 1,
                "t": round(self._clock(), 6),
            }
            self._write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self._seq += 1
