"""What can't be run is said in one message, with what to do, and nothing is left on the engine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.live.conftest import ROOT, Live, docker, ours, spoil, swarmtest_command

pytestmark = pytest.mark.live


def refused(
    stack: Path | str, *flags: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    name = f"live-{os.getpid()}-refused"
    command = swarmtest_command("run", str(stack), "--name", name, "--out", "/tmp/swarmtest-refused", *flags)
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    shutil.rmtree("/tmp/swarmtest-refused", ignore_errors=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def message(done: subprocess.CompletedProcess[str]) -> str:
    return done.stderr[done.stderr.index("swarmtest: error:") :]


def test_a_taken_port_is_named_before_anything_is_deployed(live: Live) -> None:
    with socket.socket() as owner:
        owner.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        owner.bind(("0.0.0.0", 8080))
        owner.listen()
        done = refused("stacks/api.yml")
    assert done.returncode == 2
    assert "8080" in message(done)
    assert "edge" in message(done)


def test_a_port_of_another_service_is_named_with_its_owner(live: Live) -> None:
    docker(
        *("run", "--detach", "--rm", "--name", f"live-{os.getpid()}-owner", "--publish", "8080:1"),
        *("--entrypoint", "sleep", "swarmtest-api:1", "60"),
    )
    try:
        done = refused("stacks/api.yml")
    finally:
        docker("rm", "--force", f"live-{os.getpid()}-owner")
    assert done.returncode == 2
    assert f"live-{os.getpid()}-owner" in message(done)


def test_an_image_that_is_neither_here_nor_buildable_is_named_with_its_line(live: Live, stack: Path) -> None:
    spoil(
        stack,
        "    image: swarmtest-edge:1\n    build:\n      context: edge\n",
        "    image: swarmtest-nowhere:1\n    x-was:\n",
    )
    done = refused(stack)
    assert done.returncode == 2
    assert "swarmtest-nowhere:1" in message(done)
    assert "api.yml:" in message(done)


def test_a_stack_that_never_gets_healthy_is_given_up_with_its_probes_last_word(live: Live, stack: Path) -> None:
    spoil(stack, "      SHUTDOWN: withdraw\n", '      SHUTDOWN: withdraw\n      NEVER_HEALTHY: "1"\n')
    spoil(stack, "  baseline:", "  ready_within: 12s\n  baseline:")
    done = refused(stack)
    assert done.returncode == 2
    assert "didn't get healthy within 12 s" in message(done)
    assert "health:" in message(done)
    assert ours() == []


def test_an_ingress_port_without_ipvs_is_refused_before_it_is_deployed(live: Live) -> None:
    if Path("/proc/sys/net/ipv4/vs").exists():
        assert live.once("stacks/api-mesh.yml").exit_code == 0
        return
    done = refused("stacks/api-mesh.yml")
    assert done.returncode == 2
    assert "IPVS" in message(done)


def test_a_header_that_is_never_seen_proves_nothing_and_says_what_to_add(live: Live) -> None:
    words = ("--scenario", "baseline", "--baseline", "3s", "--instance-header", "X-Nobody")
    run = live.once("stacks/api.yml", *words)
    assert run.exit_code == 3, run.explain()
    assert run.failed() == set()
    assert "answered_every_request" in run.not_proved()
    assert any("X-Nobody" in note for note in run.document.notes + run.document.advice), run.explain()


class Relay(threading.Thread):
    """Forwards a socket of its own to the engine's, until it's cut."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(64)
        self._open: list[socket.socket] = []
        self._pumps: list[threading.Thread] = []

    def run(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect("/var/run/docker.sock")
            self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                self._pumps.append(threading.Thread(target=self._pump, args=(source, sink), daemon=True))
                self._pumps[-1].start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def cut(self) -> None:
        """The engine is gone, as far as anybody on the other side can tell."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.join(5)
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for pump in self._pumps:
            pump.join(5)
        for end in self._open:
            end.close()


def test_an_engine_that_is_lost_in_mid_run_ends_it_with_4_and_says_what_may_be_left(live: Live, tmp_path: Path) -> None:
    relay, name = Relay(tmp_path / "engine.sock"), f"live-{os.getpid()}-lost"
    relay.start()
    process = subprocess.Popen(
        swarmtest_command("run", "stacks/api.yml", "--name", name, "--out", str(tmp_path / "runs")),
        cwd=ROOT,
        env={**os.environ, "DOCKER_HOST": f"unix://{tmp_path / 'engine.sock'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        time.sleep(12)
        relay.cut()
        _, errors = process.communicate(timeout=150)
    finally:
        process.kill()
        docker("stack", "rm", name)
        for _ in range(300):
            if not ours():
                break
            time.sleep(0.2)
    assert process.returncode == 4, errors
    assert "Traceback" not in errors
    folders = list((tmp_path / "runs").iterdir())
    assert f"the stack {name} may still be on the engine" in errors
    assert f"swarmtest recover {folders[0]}" in errors
    judged = subprocess.run(swarmtest_command("judge", str(folders[0])), capture_output=True, text=True, check=False)
    assert judged.returncode in (1, 3), judged.stderr
