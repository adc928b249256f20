"""Each mistake of a person is answered with one message that says where it is and what to do, and exit code 2."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from swarmtest import cli
from swarmtest.errors import EngineError, TimedOut, UsageError
from swarmtest.interrupts import Interrupts
from tests.calling import Call, Ended, end
from tests.engine.fake_engine import FakeEngine

GOOD = "services:\n  web:\n    image: demo\n    ports: ['8080:80']\n"


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Call:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("DOCKER_API_VERSION", "DOCKER_TLS_VERIFY", "TAG"):
        monkeypatch.delenv(name, raising=False)

    def called(*words: str) -> Ended:
        before = set(tmp_path.rglob("*"))
        ended = end(monkeypatch, capsys, *words)
        if ended.code:
            assert set(tmp_path.rglob("*")) == before, "something was left behind"
        return ended

    return called


def write(text: str | bytes, name: str = "stack.yml") -> str:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def refused(ended: Ended) -> str:
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("swarmtest: error: ")
    assert ended.err.count("\n") == 1
    return ended.err.removeprefix("swarmtest: error: ").strip()


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("services:\n  web: {\n", ":3", "not valid YAML"),
        ("services:\n\tweb: {}\n", ":2", "not valid YAML"),
        ("", ":1", "an empty file"),
        ("- web\n", ":1", "a list"),
        (b"\xff\xfe\x00", "", "UTF-8"),
        ("a: &a [*a]\n", ":1", "holds itself"),
        ("version: '3.8'\n", ": services", "found none"),
        (
            "services:\n  web:\n    image: demo:${TAG:?which one}\n",
            ":3: services.web.image",
            "TAG must be set: which one",
        ),
        ("services:\n  web:\n    ports: ['1-99999999:80']\n", ":3: services.web.ports", '"8080:80"'),
        ("services:\n  web:\n    ports: ['x:80']\n", ":3: services.web.ports", '"8080:80"'),
        ("services:\n  web:\n    stop_grace_period: 90\n", ":3: services.web.stop_grace_period", '"30s"'),
        ("services:\n  web:\n    deploy: {replicas: three}\n", ":3: services.web.deploy.replicas", "whole number"),
        ("services: {web: {image: demo}}\n", "", "--service NAME"),
        (GOOD + "x-swarmtest: {servise: web}\n", ":5: x-swarmtest.servise", "did you mean service?"),
        (GOOD + "x-swarmtest: {service: wed}\n", ":5: x-swarmtest.service", "it has web"),
        (GOOD + "x-swarmtest: {baseline: 8}\n", ":5: x-swarmtest.baseline", '"30s"'),
        (GOOD + "x-swarmtest: {traffic: {rate: fast}}\n", ":5: x-swarmtest.traffic.rate", '"40/s"'),
        (GOOD + "x-swarmtest: {traffic: {ms: [300, 20]}}\n", ":5: x-swarmtest.traffic.ms", "[20, 300]"),
        (GOOD + "x-swarmtest: {front_door: {within: soon}}\n", ":5: x-swarmtest.front_door.within", '"30s"'),
        (GOOD + "x-swarmtest: {url: 'web:80'}\n", ":5: x-swarmtest.url", "http://127.0.0.1:8080"),
        ("services: {web: {image: demo, ports: [80]}}\n", ":1: services.web.ports", "no published port"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_file_line_and_key(
    call: Call, text: str | bytes, place: str, said: str
) -> None:
    for verb in ("run", "doctor"):
        message = refused(call(verb, write(text)))
        assert message.startswith(f"stack.yml{place}: ")
        assert said in message


def test_a_file_that_is_not_there_or_a_folder_is_said(call: Call) -> None:
    assert "no such file" in refused(call("run", "nowhere.yml"))
    assert "is a folder" in refused(call("run", "."))


def test_a_bom_and_windows_lines_are_no_mistake(call: Call) -> None:
    assert call("run", write(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())).code == 4


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--scenario", "roling"], "did you mean rolling?"),
        (["--scenario", "zzz"], "there are: baseline"),
        (["--service", "wed"], "no service 'wed' in stack.yml; it has web"),
        (["--url", "web:80"], "--url: expected an address"),
        (["--url", "https://web"], "--url: only plain http"),
        (["--rate", "fast"], "--rate: expected a rate"),
        (["--rate", "0"], "--rate: expected a rate"),
        (["--rate", ""], "--rate: expected a rate"),
        (["--listen", "0.0.0.0:5557"], "say --workers, too"),
        (["--workers", "2", "--listen", "here:there"], "expected host:port such as"),
        (["--baseline", "8"], "--baseline: expected a duration"),
        (["--baseline=-8s"], "--baseline: expected a duration of zero or more"),
        (["--baseline", ""], "--baseline: expected a duration"),
        (["--instance-header", "X Y"], "--instance-header: expected one word"),
        (["--name", "no good"], "--name: expected up to"),
        (["--name", ""], "--name: expected up to"),
    ],
)
def test_a_wrong_flag_is_told_by_its_name(call: Call, flags: list[str], said: str) -> None:
    assert said in refused(call("run", write(GOOD), *flags))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "Missing argument 'STACK'"),
        (["run", "stack.yml", "--seed", "many"], "'many' is not a valid integer"),
        (["run", "stack.yml", "--speed", "5"], "No such option"),
        (["rum"], "No such command 'rum'"),
        (["judge"], "Missing argument 'FOLDER'"),
    ],
)
def test_words_that_make_no_sense_get_the_usage(call: Call, words: list[str], said: str) -> None:
    ended = call(*words)
    assert ended.code == 2
    assert said in ended.err
    assert ended.err.startswith("Usage: ")


def test_a_folder_that_is_no_run_cannot_be_judged(call: Call, tmp_path: Path) -> None:
    assert "no such folder" in refused(call("judge", "nowhere"))
    assert "is a file; give the run's folder, here ." in refused(call("judge", write("{}", "plan.json")))
    (tmp_path / "empty").mkdir()
    assert "not a run's folder" in refused(call("judge", "empty"))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "plan.json").write_text("{")
    assert "broken" in refused(call("judge", "broken"))
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "plan.json").write_text('{"version": 99}')
    assert "expected version 1" in refused(call("judge", "new"))


def test_an_engine_that_cannot_be_reached_is_one_message(call: Call) -> None:
    ended = call("run", write(GOOD))
    assert ended.code == 4
    assert re.fullmatch(
        r"swarmtest: error: connecting to the engine: no engine answers \(.*\); start it, .*\n", ended.err
    )


def test_the_doctor_says_all_it_can_without_an_engine(call: Call) -> None:
    ended = call("doctor", write(GOOD))
    assert ended.code == 2
    first, advice, *rest = ended.out.splitlines()
    assert first.startswith("MISSING  engine: connecting to the engine: no engine answers")
    assert "DOCKER_HOST" in advice
    assert any("docker CLI" in line for line in rest)
    assert any("warning  health check" in line for line in rest)
    assert call("doctor").code == 2


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch, call: Call) -> Iterator[FakeEngine]:
    made = FakeEngine()
    made.objects["images"] = [{"Name": "demo"}]
    monkeypatch.setenv("DOCKER_HOST", made.address)
    monkeypatch.setattr("swarmtest.engine.client.cli_version", lambda: "20.10.24")
    yield made
    made.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the process ends, its sockets with it
class TestWithAnEngine:
    def test_the_doctor_finds_a_good_machine_good(self, call: Call, engine: FakeEngine) -> None:
        ended = call("doctor", write(GOOD))
        assert ended.code == 0
        assert "ok       swarm mode" in ended.out
        assert "MISSING" not in ended.out

    def test_a_swarm_that_is_inactive_is_told_with_the_way_out(self, call: Call, engine: FakeEngine) -> None:
        engine.swarm = {"LocalNodeState": "inactive"}
        assert "--init-swarm" in refused(call("run", write(GOOD)))

    def test_a_port_that_is_taken_is_told_with_its_owner(self, call: Call, engine: FakeEngine) -> None:
        container = {"Id": "x", "Names": ["/other"], "Ports": [{"PublicPort": 8080, "Type": "tcp"}]}
        engine.objects["containers"] = [container]
        message = refused(call("run", write(GOOD)))
        assert "8080/tcp, which web publishes, is taken by the container other" in message

    def test_an_image_that_cannot_be_built_is_told(self, call: Call, engine: FakeEngine) -> None:
        text = "services: {web: {image: gone, build: nowhere, ports: ['8080:80']}}\n"
        assert "its build has no" in refused(call("run", write(text)))

    def test_a_name_that_is_taken_is_told_and_left_alone(self, call: Call, engine: FakeEngine) -> None:
        engine.add_service("shop", "web")
        message = refused(call("run", write(GOOD), "--name", "shop"))
        assert "a stack named shop is on the engine already, and isn't touched" in message
        assert {verb for verb, _ in engine.asked} == {"GET"}

    def test_an_out_that_cannot_be_written_is_told_before_anything_is_deployed(
        self, call: Call, engine: FakeEngine
    ) -> None:
        assert "choose another place with --out" in refused(call("run", write(GOOD), "--out", write("", "file")))
        assert {verb for verb, _ in engine.asked} == {"GET"}

    def test_a_pinned_api_version_that_cannot_work_is_told(
        self, call: Call, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DOCKER_API_VERSION", "1.99")
        assert "DOCKER_API_VERSION=1.99" in refused(call("run", write(GOOD)))


def test_what_there_is_is_listed_without_an_engine(call: Call) -> None:
    ended = call("list")
    assert ended.code == 0
    for name in ("rolling", "baseline", "answered_every_request", "handled_each_request_once", "start-first-host-port"):
        assert re.search(rf"^  {name} +\S", ended.out, re.M)


def test_the_help_says_each_verb_in_a_whole_sentence_in_the_order_of_use(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = call("--help").out.splitlines()
    verbs = lines[lines.index("Commands:") + 1 :]
    assert [line.split()[0] for line in verbs][:3] == ["lint", "doctor", "run"]
    assert len(verbs) == len(cli.VERBS)
    assert all(line.endswith(".") and not line.endswith("...") for line in verbs), verbs
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["run", "--help"], ["--version"]])
def test_help_and_version_are_given(call: Call, words: list[str]) -> None:
    ended = call(*words)
    assert ended.code == 0
    assert ended.out


def ending(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def ends(**_more: object) -> None:
        raise error

    monkeypatch.setattr(cli.commands, "main", ends)


def test_each_kind_of_error_has_its_exit_code(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for error, code in (
        (UsageError("u"), 2),
        (EngineError("e"), 4),
        (TimedOut("t"), 4),
        (PermissionError(13, "Permission denied", "verdicts.json"), 4),
        (KeyboardInterrupt(), 130),
    ):
        ending(monkeypatch, error)
        assert call("x").code == code


def test_notes_of_an_error_are_told_with_it(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    error = EngineError("first")
    error.add_note("and then")
    ending(monkeypatch, error)
    assert call("x").err == "swarmtest: error: first\nand then\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("inner", [True, False])
def test_a_signal_at_any_moment_ends_with_130_and_one_line(
    call: Call, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, inner: bool
) -> None:
    def interrupted(**_more: object) -> None:
        if inner:
            with Interrupts():
                os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)

    monkeypatch.setattr(cli.commands, "main", interrupted)
    ended = call("x")
    assert ended == Ended(130, "", f"swarmtest: interrupted by {number.name}\n")


def test_a_process_that_is_ended_while_it_waits_for_the_engine_exits_with_130(tmp_path: Path) -> None:
    engine, waits, done = FakeEngine(), threading.Event(), threading.Event()

    def before(_verb: str, _path: str) -> None:
        waits.set()
        done.wait(10)

    engine.before = before
    (tmp_path / "stack.yml").write_text(GOOD)
    environment = {**os.environ, "DOCKER_HOST": engine.address, "NO_PROXY": "127.0.0.1"}
    environment["PYTHONPATH"] = str(Path(cli.__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-m", "swarmtest", "run", "stack.yml"],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert waits.wait(20)
        child.send_signal(signal.SIGTERM)
        out, err = child.communicate(timeout=10)
    done.set()
    engine.close()
    assert (child.returncode, out, err) == (130, "", "swarmtest: interrupted by SIGTERM\n")
    assert [path.name for path in tmp_path.iterdir()] == ["stack.yml"]


def test_a_bug_of_ours_ends_with_4_and_never_with_the_code_of_a_failed_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_path: Path) -> int:
        raise RuntimeError("not what it thought")

    monkeypatch.setattr(cli.judge, "judge_and_report", broken)
    monkeypatch.setattr(sys, "argv", ["swarmtest", "judge", "runs/one"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 4
    assert "swarmtest itself broke (RuntimeError: not what it thought)" in capsys.readouterr().err
