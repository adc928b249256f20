"""The docker CLI as a child: a script on the path stands in for it."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from swarmtest.engine.client import cli_version
from swarmtest.engine.commands import build_image, deploy_stack, run_docker
from swarmtest.errors import EngineError, Interrupted, TimedOut, UsageError
from swarmtest.interrupts import Interrupts
from swarmtest.stack import Build


@pytest.fixture
def said(tmp_path: Path) -> Path:
    return tmp_path / "said"


@pytest.fixture
def docker(tmp_path: Path, said: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "docker"
    program.parent.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SAID", str(said))
    write(program, "exit 0")
    return program


def write(program: Path, script: str) -> None:
    program.write_text(f'#!/bin/sh\necho "$DOCKER_BUILDKIT $*" >> "$SAID"\n{script}\n')
    program.chmod(0o755)


def test_output_is_given_and_kept(docker: Path, tmp_path: Path) -> None:
    write(docker, "printf 'hi \\377\\n'; echo err >&2")
    log = tmp_path / "docker.log"
    assert run_docker(["info"], timeout_seconds=5, log=log) == "hi \ufffd\nerr\n"
    assert log.read_text().startswith("$ docker info\nhi ")


def test_a_failure_is_told_with_its_last_lines(docker: Path) -> None:
    write(docker, "seq 20; exit 3")
    with pytest.raises(EngineError, match=r"`docker stack deploy` failed \(3\)") as caught:
        run_docker(["stack", "deploy", "x"], timeout_seconds=5)
    assert str(caught.value).endswith("19\n  20")
    assert "\n  12\n" not in str(caught.value)


def test_no_cli_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="install docker-cli"):
        run_docker(["info"], timeout_seconds=5)
    assert cli_version() is None


@pytest.mark.parametrize(
    ("script", "version"),
    [
        ("echo 'Docker version 20.10.24+dfsg1, build 297e128'", "20.10.24+dfsg1"),
        ("echo Docker version 28.2.2, build e6534b4", "28.2.2"),
        ("echo what", None),
        ("exit 1", None),
    ],
)
def test_the_version_of_the_cli_is_read(docker: Path, script: str, version: str | None) -> None:
    write(docker, script)
    assert cli_version() == version


def _gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False


def test_a_child_that_takes_too_long_is_ended_with_its_own_children(docker: Path, tmp_path: Path) -> None:
    write(docker, f"sleep 60 & echo $! > {tmp_path}/pid; wait")
    with pytest.raises(TimedOut, match="didn't end within 0 s"):
        run_docker(["stack", "deploy"], timeout_seconds=0.3)
    assert _gone(int((tmp_path / "pid").read_text()))


def test_a_child_is_ended_when_we_are_interrupted_and_hears_no_ctrl_c_itself(docker: Path, tmp_path: Path) -> None:
    write(docker, f"echo $$ > {tmp_path}/pid; kill -INT {os.getpid()}; exec sleep 60")
    with Interrupts(), pytest.raises(Interrupted):
        run_docker(["stack", "deploy"], timeout_seconds=30)
    child = int((tmp_path / "pid").read_text())
    assert _gone(child)
    assert child != os.getpgid(os.getpid())
    assert signal.getsignal(signal.SIGINT) is not None


def test_a_stack_is_deployed_from_both_files(docker: Path, said: Path) -> None:
    deploy_stack("ours", [Path("a.yml"), Path("b.json")], resolve_image="never")
    deploy_stack("ours", [Path("a.yml")], resolve_image="always")
    first, second = said.read_text().splitlines()
    assert first.strip() == "stack deploy --resolve-image never --compose-file a.yml --compose-file b.json ours"
    assert "--with-registry-auth" in second


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("services.web.ports.0.published must be a integer", UsageError),
        ("unsupported Compose file version: 2.4", UsageError),
        ("failed to create service x: Error response from daemon: network y not found", UsageError),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock", EngineError),
        ("error during connect: Get http://x: EOF", EngineError),
        ("rpc error: code = Unavailable desc = connection error", EngineError),
    ],
)
def test_what_docker_refuses_in_a_file_is_told_from_an_engine_in_trouble(
    docker: Path, output: str, kind: type[Exception]
) -> None:
    # docker/cli #1073, docker/compose #9424
    write(docker, f"echo '{output}'; exit 1")
    with pytest.raises(kind, match=output.split(maxsplit=1)[0]) as caught:
        deploy_stack("ours", [Path("a.yml")], resolve_image="never")
    assert isinstance(caught.value, UsageError) == (kind is UsageError)


def test_an_image_is_built_with_its_arguments_and_without_buildx_by_the_classic_builder(
    docker: Path, said: Path, tmp_path: Path
) -> None:
    build = Build(tmp_path, tmp_path / "D", {"A": "1", "B": "x y"})
    build_image("demo:1", build)
    words = f"build --tag demo:1 --file {tmp_path}/D --build-arg A=1 --build-arg B=x y {tmp_path}"
    assert said.read_text().splitlines() == [" buildx version", f" {words}"]
    said.unlink()
    write(docker, '[ "$1" != buildx ]')
    build_image("demo:1", build)
    assert said.read_text().splitlines()[1] == f"0 {words}"


def test_the_value_of_a_build_argument_is_not_kept(docker: Path, said: Path, tmp_path: Path) -> None:
    build_image("demo:1", Build(tmp_path, tmp_path / "D", {"TOKEN": "s3cret"}), log=tmp_path / "docker.log")
    assert "TOKEN=s3cret" in said.read_text()
    assert "--build-arg TOKEN " in (kept := (tmp_path / "docker.log").read_text())
    assert "s3cret" not in kept
