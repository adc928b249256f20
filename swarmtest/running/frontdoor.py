"""Waits until the front door answers from all instances, before anything is counted."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from swarmtest.errors import UsageError

STEADY_ANSWERS = 12
"""So many answers in a row must be good before the door counts as open."""

TELL_SECONDS = 1.0
"""So often at most it's told what was answered."""


@dataclass(frozen=True, slots=True)
class Door:
    """Where to knock.

    Attributes:
        path: a path that may be asked with GET, without harm.
        header: the answer header that names the instance.
        instances: how many instances should show.
        headers: those of the traffic, since a proxy may choose by them, and an app may ask for them.
    """

    url: str
    path: str
    header: str
    instances: int
    headers: Mapping[str, str] = field(default_factory=dict)


def wait_until_open(
    door: Door,
    *,
    timeout_seconds: float,
    tick: Callable[[], None] = lambda: None,
    tell: Callable[[str, float], None] = lambda _last, _spent: None,
) -> set[str]:
    """Asks until answers come steadily and from all instances; gives the instance names seen.

    Any answer below 500 is good, and so is any that names an instance. Where fewer instances show
    than there are (a sticky balancer), waiting ends after a third of the time.

    Arguments:
        tick: called between tries; may raise to end the waiting.
        tell: called about once a second while it isn't open, with the last answer and the seconds that were waited.

    Raises:
        UsageError: no steady answers in time; the message has the last one.
    """
    began, good, seen, last = time.monotonic(), 0, set[str](), "no answer"
    told = 0.0
    while (spent := time.monotonic() - began) < timeout_seconds:
        tick()
        status, instance, last = _ask(door)
        good = good + 1 if status is not None and (status < 500 or instance) else 0
        if good and instance:
            seen.add(instance)
        if good >= STEADY_ANSWERS and (not seen or len(seen) >= door.instances or spent > timeout_seconds / 3):
            return seen
        if spent - told >= TELL_SECONDS:
            told = spent
            tell(f"{last}, from {len(seen)} of {door.instances} instances" if seen else last, spent)
        time.sleep(0.01 if good else 0.1)
    raise UsageError(
        f"the stack runs, but {door.url} gave no steady answers within {timeout_seconds:.0f} s (last: {last});"
        " is it the right address, and is the proxy's health check satisfied? (`x-swarmtest: {url: …}` or --url)"
    )


def _ask(door: Door) -> tuple[int | None, str | None, str]:
    parts = urlsplit(door.url)
    connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port or 80, timeout=5)
    try:
        connection.request("GET", parts.path.rstrip("/") + door.path, headers=dict(door.headers))
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException) as error:
        return None, None, f"{type(error).__name__}: {error}"
    else:
        return answer.status, answer.headers.get(door.header), f"{answer.status} {answer.reason}"
    finally:
        connection.close()
