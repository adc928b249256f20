"""Programs whose shutdown has a limit: what the limit is called, and what it is where nobody writes one.

Read in each program's own documents and source. They're listed in ``docs/lint/drain-beyond-grace.md``,
``docs/lint/worker-cut-by-grace.md`` and ``docs/lint/supervisor-ends-drain.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf

from swarmtest.lint.programs.commands import base


@dataclass(frozen=True, slots=True)
class Known:
    """What a program's limit is called.

    Attributes:
        flags: those of its command line.
        variable: of its environment.
        default: in seconds.
        unit: seconds in one of what the value counts; a value with a unit of its own is read as one.
    """

    program: str
    kind: str
    default: float
    flags: tuple[str, ...] = ()
    variable: str = ""
    unit: float = 1.0


_BY_NAME = {
    "gunicorn": Known("gunicorn", "server", 30, ("--graceful-timeout",)),
    "uvicorn": Known("uvicorn", "server", inf, ("--timeout-graceful-shutdown",), "UVICORN_TIMEOUT_GRACEFUL_SHUTDOWN"),
    "hypercorn": Known("hypercorn", "server", 3, ("--graceful-timeout",)),
    "sidekiq": Known("sidekiq", "worker", 25, ("-t", "--timeout")),
    "shoryuken": Known("shoryuken", "worker", 8, ("-t", "--timeout")),
    "dramatiq": Known("dramatiq", "worker", 600, ("--worker-shutdown-timeout",), unit=0.001),
    "good_job": Known("good_job", "worker", inf, ("--shutdown-timeout",), "GOOD_JOB_SHUTDOWN_TIMEOUT"),
    "celery": Known("celery", "worker", inf, ("--time-limit", "--soft-time-limit")),
    "rq": Known("rq", "worker", inf),
    "rqworker": Known("rq", "worker", inf),
    "que": Known("que", "worker", inf),
    "delayed_job": Known("delayed_job", "worker", inf),
    "supervisord": Known("supervisord", "supervisor", 10),
    "pm2": Known("pm2", "supervisor", 1.6, ("--kill-timeout",), "PM2_KILL_TIMEOUT", 0.001),
    "foreman": Known("foreman", "supervisor", 5, ("-t", "--timeout")),
    "honcho": Known("honcho", "supervisor", 5),
    "overmind": Known("overmind", "supervisor", 5, ("-t", "--timeout"), "OVERMIND_TIMEOUT"),
    "su": Known("su", "supervisor", 2),
}
_ALIASES = {"pm2-runtime": "pm2", "pm2-docker": "pm2", "sidekiqswarm": "sidekiq", "su": "su"}


@lru_cache(maxsize=4096)
def known_program(words: tuple[str, ...]) -> Known | None:
    """What's known of a program's shutdown."""
    name = base(words)
    name = _ALIASES.get(name, name)
    if name in ("rake", "rails") and "jobs:work" in words:
        return _BY_NAME["delayed_job"]
    if name in ("php", "artisan") and "queue:work" in words:
        return Known("queue:work", "worker", 60, ("--timeout",))
    if name == "airflow" and words[1:3] == ("celery", "worker"):
        return Known("Airflow's Celery worker", "worker", inf)
    if (name == "celery" and "worker" not in words) or (name == "rq" and not {"worker", "worker-pool"} & set(words)):
        return None
    return _BY_NAME.get(name)
