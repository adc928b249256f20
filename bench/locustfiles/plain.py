"""Locust's own two users, with the listener that people write: a line of JSON for each request."""

from __future__ import annotations

import itertools
import json
import os
import time
from pathlib import Path

from locust import FastHttpUser, HttpUser, constant, events, task

told = Path(os.environ["BENCH_TOLD"])
lines = told.with_suffix(".jsonl").open("w")
numbers = itertools.count()
began: list[float] = []
counted = 0


@events.request.add_listener
def record(request_type, name, response_time, response_length, response, exception, start_time, **_):
    global counted  # noqa: PLW0603 - a locustfile has nowhere else to put it
    counted += 1
    line = {
        "id": response.request.headers["X-Request-ID"] if hasattr(response, "request") and response.request else None,
        "method": request_type,
        "path": name,
        "sent": start_time,
        "done": start_time + response_time / 1000,
        "status": getattr(response, "status_code", None),
        "instance": response.headers.get("X-Instance-ID"),
        "bytes": response_length,
        "error": str(exception) if exception else None,
    }
    lines.write(json.dumps(line) + "\n")


@events.spawning_complete.add_listener
def begin(**_):
    global counted  # noqa: PLW0603 - as above
    counted = 0
    began[:] = [time.monotonic(), time.process_time()]


@events.test_stop.add_listener
def end(**_):
    seconds, cpu = time.monotonic() - began[0], time.process_time() - began[1]
    told.write_text(json.dumps({"requests": counted, "seconds": seconds, "cpu_seconds": cpu}))


class Fast(FastHttpUser):
    """On geventhttpclient."""

    wait_time = constant(0)

    @task
    def work(self) -> None:
        """One request."""
        self.client.get("/work", headers={"X-Request-ID": f"bench-{next(numbers)}"}, name="work")


class Plain(HttpUser):
    """On requests."""

    wait_time = constant(0)

    @task
    def work(self) -> None:
        """One request."""
        self.client.get("/work", headers={"X-Request-ID": f"bench-{next(numbers)}"}, name="work")
