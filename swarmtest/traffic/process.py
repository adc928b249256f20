"""The parent's side of the traffic: starts the child, hears its messages, tells it go and stop.

Loads neither Locust nor gevent. Locust patches ``threading`` and ``subprocess`` of the process that
imports it, so it's a child in a session of its own; Ctrl-C in a terminal doesn't reach it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from swarmtest.errors import TrafficError
from swarmtest.traffic.settings import ENVIRONMENT_VARIABLE, TrafficSettings
from swarmtest.traffic.settings_file import mask_settings, write_settings
from swarmtest.traffic.targets import write_targets

__all__ = ["TrafficProcess", "command_line", "write_targets"]

Message = Mapping[str, Any]
WORKERS_SECONDS = 300.0
"""So long workers on other machines may take to come."""
LOCUSTFILE = Path(__file__).resolve().parent.parent / "locustfile.py"


def command_line(settings: TrafficSettings) -> list[str]:
    """The child's command: a user in each process, no statistics files, and never a kill of a user.

    What Locust takes from its settings files and variables could change a run behind our back;
    flags win over them.
    """
    command = [
        sys.executable, "-m", "locust", "--locustfile", str(LOCUSTFILE), "--headless", "--only-summary",
        "--users", "1", "--spawn-rate", "1", "--stop-timeout", "3600",
        "--exit-code-on-error", "0", "--loglevel", "WARNING",
    ]  # fmt: skip
    if settings.workers:
        host, _, port = settings.listen.rpartition(":")
        bound = ["--master-bind-host", host or "*", "--master-bind-port", port]
        return [*command, "--master", "--expect-workers", str(settings.workers), *bound]
    if settings.processes == 1:
        return command
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    return [
        *command, "--processes", str(settings.processes), "--master-bind-host", "127.0.0.1", "--master-bind-port", port,
        "--master-host", "127.0.0.1", "--master-port", port,
    ]  # fmt: skip


def worker_command(host: str, port: int, processes: int = 1) -> list[str]:
    """The command of workers on another machine, which are told all else by the master there."""
    command = [
        sys.executable, "-m", "locust", "--locustfile", str(LOCUSTFILE), "--worker",
        "--exit-code-on-error", "0", "--loglevel", "WARNING",
    ]  # fmt: skip
    several = ["--processes", str(processes)] if processes > 1 else []
    return [*command, "--master-host", host, "--master-port", str(port), *several]


def _environment(settings_file: Path, folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LOCUST_")}
    # Locust reads settings from the home and the working folder; neither is to have any.
    return kept | {ENVIRONMENT_VARIABLE: str(settings_file), "HOME": str(folder)}


def _keep_urgency(pid: int) -> None:
    """Gives a child the niceness that we were started with.

    Linux weighs sessions against each other (autogroups), and a new one begins as urgent as any: a client that was to
    come first would wait its turn behind everything else.
    """
    if (urgency := os.nice(0)) != 0:
        with contextlib.suppress(OSError):
            Path(f"/proc/{pid}/autogroup").write_text(str(urgency))


class TrafficProcess:
    """One traffic child, from its start to its exit.

    Arguments:
        settings: what it's told; ``out`` is made if it's missing.
        settings_file: where that is written, as part of the run's folder.
        log_file: takes the child's stderr; a file, so that a full pipe can't stall the traffic.
        on_message: called with each message, in a thread of its own.
    """

    def __init__(
        self,
        settings: TrafficSettings,
        settings_file: Path,
        log_file: Path,
        on_message: Callable[[Message], None] | None = None,
    ) -> None:
        folder = Path(settings.out).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            write_settings(settings, settings_file)
        except ValueError as error:
            raise TrafficError(f"traffic can't be sent as planned: {error}") from error
        self.settings = settings
        self._settings_file = settings_file
        self.log_file = log_file
        self._on_message = on_message
        self._heard: dict[str, Message] = {}
        self._changed = threading.Condition()
        self._ended = False
        with log_file.open("ab") as log:
            self._child = subprocess.Popen(
                command_line(settings),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env=_environment(settings_file.resolve(), folder),
                start_new_session=True,
            )
        _keep_urgency(self._child.pid)
        self._reader = threading.Thread(target=self._hear, name="traffic messages", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The child's process ID, which is also that of its session."""
        return self._child.pid

    @property
    def exit_code(self) -> int | None:
        """What it ended with (minus the signal's number for a signal), ``None`` while it runs."""
        return self._child.poll()

    def last(self, event: str) -> Message | None:
        """The last message of this kind: calibrated, started, tick, stopped or failed."""
        with self._changed:
            return self._heard.get(event)

    def wait_for(self, event: str, timeout_seconds: float) -> Message:
        """The first message of this kind; raises ``TrafficError`` when it can't come or doesn't."""
        with self._changed:
            self._changed.wait_for(lambda: event in self._heard or self._ended, timeout_seconds)
            if event in self._heard:
                return self._heard[event]
        raise TrafficError(
            f"the traffic child didn't say {event!r} within {timeout_seconds:g} s "
            f"(exit code {self.exit_code}): {self._last_words()}"
        )

    def wait_until_calibrated(self, timeout_seconds: float = 60.0) -> Message:
        """Returns when the client has proved that it can count; raises ``TrafficError`` if it can't."""
        shot = self.wait_for("calibrated", WORKERS_SECONDS if self.settings.workers else timeout_seconds)
        if not shot["ok"]:
            raise TrafficError(
                f"the calibration shot miscounted, so no request was sent: {'; '.join(shot.get('wrong', []))}"
            )
        return shot

    def go(self) -> None:
        """Lets the traffic begin; raises ``TrafficError`` when the child is gone."""
        if not self._say(b"go\n"):
            raise TrafficError(f"the traffic child is gone (exit code {self.exit_code}): {self._last_words()}")

    def stop(self) -> None:
        """Asks for the end: nothing new is sent, what's open is answered or times out. Doesn't wait."""
        self._say(b"stop\n")

    def wait(self, timeout_seconds: float) -> int:
        """The exit code, once all messages are heard; raises ``TrafficError`` when it takes too long."""
        try:
            code = self._child.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            raise TrafficError(f"the traffic child didn't end within {timeout_seconds:g} s") from None
        self._close()
        return code

    def hurry(self) -> None:
        """Ends the traffic without waiting for open requests; they're recorded as still open."""
        self._say(b"hurry\n")

    def kill(self) -> None:
        """Ends the child at once, whatever it's doing, and waits until it's gone."""
        # The whole session, as its workers would outlive a master that's killed.
        if self._child.poll() is None or self.settings.processes > 1:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        self._close()

    def _close(self) -> None:
        self._reader.join(5.0)
        with contextlib.suppress(OSError):
            mask_settings(self.settings, self._settings_file)
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):  # what a dead child didn't read is of no use to it
            self._child.stdin.close()

    def _say(self, line: bytes) -> bool:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(line)
            self._child.stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def _hear(self) -> None:
        assert self._child.stdout is not None
        with self._child.stdout as messages:
            for line in messages:
                self._note(line)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _note(self, line: bytes) -> None:
        try:
            message = msgspec.json.decode(line, type=dict[str, Any])
            event = str(message["event"])
        except (msgspec.DecodeError, KeyError):
            return
        with self._changed:
            self._heard[event] = message
            self._changed.notify_all()
        if self._on_message is not None:
            self._on_message(message)

    def _last_words(self) -> str:
        try:
            return " | ".join(self.log_file.read_text(errors="replace").strip().splitlines()[-5:]) or "no log"
        except OSError as error:
            return f"no log ({error})"
