"""The docker CLI, for the two things that exist nowhere else: ``stack deploy`` and ``build``.

Each command runs in a session of its own, so that Ctrl-C in a terminal reaches swarmtest alone, and
is ended when we are interrupted while it runs.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from swarmtest.errors import EngineError, TimedOut, UsageError
from swarmtest.interrupts import deferred
from swarmtest.stack import Build


def docker_program() -> str:
    """Path of the docker CLI.

    Raises:
        EngineError: there's none.
    """
    program = shutil.which("docker")
    if program is None:
        raise EngineError("no docker CLI on the path, and stacks can be deployed only with it; install docker-cli")
    return program


def run_docker(
    words: Sequence[str], *, timeout_seconds: float, extra: Mapping[str, str] | None = None, log: Path | None = None
) -> str:
    """Runs ``docker …`` and gives its output.

    Raises:
        EngineError: it failed; the message ends with its last lines.
        TimedOut: it took too long, and was ended.
    """
    command = [docker_program(), *words]
    environment = {**os.environ, **(extra or {})}
    with ExitStack() as over:
        with deferred():
            child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                encoding="utf-8",
                errors="replace",
                env=environment,
                start_new_session=True,
            )
            over.callback(_end, child)
        try:
            output, _ = child.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired as error:
            raise TimedOut(f"`docker {' '.join(words[:2])}` didn't end within {timeout_seconds:.0f} s") from error
    if log is not None:
        with log.open("a") as out:
            out.write(f"$ docker {' '.join(_shown(words))}\n{output}\n")
    if child.returncode != 0:
        tail = "\n  ".join(output.strip().splitlines()[-8:])
        raise EngineError(f"`docker {' '.join(words[:2])}` failed ({child.returncode}):\n  {tail}")
    return output


def _shown(words: Sequence[str]) -> list[str]:
    """The words as they may be kept: a build argument without its value, which may be a password."""
    after = ["", *words]
    return [word.partition("=")[0] if last == "--build-arg" else word for last, word in zip(after, words, strict=False)]


def _end(child: subprocess.Popen[str]) -> None:
    """Ends a child and its children, if they're still there, and lets go of it."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdout is not None:
        child.stdout.close()


def build_image(tag: str, build: Build, *, log: Path | None = None) -> None:
    """Builds a missing image from a service's ``build`` section."""
    words = ["build", "--tag", tag, "--file", str(build.dockerfile)]
    for key, value in build.args.items():
        words += ["--build-arg", f"{key}={value}"]
    buildx = subprocess.run([docker_program(), "buildx", "version"], capture_output=True, check=False).returncode == 0
    extra = {} if buildx else {"DOCKER_BUILDKIT": "0"}
    run_docker([*words, str(build.context)], timeout_seconds=900, extra=extra, log=log)


_ENGINE_TROUBLE = ("cannot connect", "error during connect", "unavailable", "deadline", "timed out", "unexpected eof")


def deploy_stack(name: str, files: Sequence[Path], *, resolve_image: str, log: Path | None = None) -> None:
    """``docker stack deploy``; relative paths in the files count from the first file's folder.

    Raises:
        UsageError: the CLI or the engine refuses something in the file.
        EngineError: it failed for another reason, or took too long.
    """
    words = ["stack", "deploy", "--resolve-image", resolve_image]
    if resolve_image != "never":
        words.append("--with-registry-auth")
    for file in files:
        words += ["--compose-file", str(file)]
    try:
        run_docker([*words, name], timeout_seconds=180, log=log)
    except TimedOut:
        raise
    except EngineError as error:
        if any(sign in str(error).lower() for sign in _ENGINE_TROUBLE):
            raise
        raise UsageError(f"{files[0]}: Docker refuses to deploy it: {error}") from error
