"""What can go wrong with swarmtest itself, as one small tree.

    SwarmtestError
    ├── UsageError          wrong words on the command line, a stack or plan that can't be run     exit 2
    │   └── StackError      something in a stack file, with file, line and key where known
    ├── EngineError         the engine can't be reached, refuses, or went away                     exit 4
    │   └── TimedOut        a condition that didn't come true in time
    ├── TrafficError        the load client failed, or its calibration shot miscounted             exit 4
    └── RunFolderError      a run's folder can't be read or written                                exit 2
        └── StillWritten    a run that goes on writes it
    Interrupted             Ctrl-C, SIGTERM or SIGHUP; healed and saved before it gets to the top           exit 130

What a stack does wrong is never an exception: it is an event in the trace and a verdict.
Each message says what was expected, what was found and what to do.
"""

from __future__ import annotations

from pathlib import Path


class SwarmtestError(Exception):
    """Base of all that stops swarmtest; ``exit_code`` is what the process ends with."""

    exit_code = 4


class UsageError(SwarmtestError):
    """The person can mend it: an unknown scenario, a missing file, a port that's taken."""

    exit_code = 2


class StackError(UsageError):
    """A stack file that can't be read or run.

    Arguments:
        problem: what was found, what's expected and what to do, in a sentence or two.
        file: the stack file, as the person named it.
        line: one-based line, where known.
        key: dotted path of the key, such as ``services.api.deploy.replicas``.
    """

    def __init__(
        self, problem: str, *, file: Path | str | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        self.problem, self.file, self.line, self.key = problem, file, line, key
        place = str(file) if file is not None else ""
        if line is not None:
            place += f":{line}"
        parts = [part for part in (place, key) if part]
        super().__init__(": ".join([*parts, problem]))


def in_a_line(error: BaseException) -> str:
    """What another library's exception says, without the statement that it points into below."""
    return str(error).strip().partition("\n")[0]


class EngineError(SwarmtestError):
    """The engine broke, refused or can't be reached."""


class TimedOut(EngineError):
    """A condition didn't come true before its deadline; the message carries the last state seen."""


class TrafficError(SwarmtestError):
    """The load client didn't start, died, or can't count."""


class RunFolderError(UsageError):
    """A run's folder is missing, unreadable or of a version that isn't known."""


class StillWritten(RunFolderError):
    """A run that goes on writes the folder, so that nobody else may."""


class Interrupted(BaseException):
    """Ctrl-C, SIGTERM or SIGHUP. Not an ``Exception``, so that no handler for errors swallows it.

    Arguments:
        signal_name: ``SIGINT``, ``SIGTERM`` or ``SIGHUP``.
    """

    exit_code = 130

    def __init__(self, signal_name: str) -> None:
        self.signal_name = signal_name
        super().__init__(f"interrupted by {signal_name}")
