"""The child as the runner meets it: a process that is started, told go and stop, and read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from swarmtest.errors import TrafficError
from swarmtest.traffic import process as traffic_process
from swarmtest.traffic.process import TrafficProcess, write_targets
from swarmtest.traffic.settings import Kind, TrafficSettings

ROOT = Path(__file__).resolve().parents[2]
Start = Callable[..., TrafficProcess]


def answering(visit: Any) -> None:
    """Takes as long as it's asked to, then answers whole."""
    while head := visit.read_request():
        path, request_id = head.split()[1], head.split(b"X-Request-ID: ")[1].split(b"\r\n")[0]
        time.sleep(int(path.rpartition(b"=")[2]) / 1000)
        visit.say(b"HTTP/1.1 200 OK\r\nX-Instance-ID: a1\r\nX-Request-ID: " + request_id + b"\r\n")
        visit.say(b"Content-Length: 4\r\n\r\nfour")
        if b"Connection: close" in head:
            return


def silent(visit: Any) -> None:
    visit.wait_for_the_client_to_close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[TrafficProcess] = []

    def begin(*, on_message: Callable[[Any], None] | None = None, **changed: Any) -> TrafficProcess:
        kind = Kind(name="short", method="POST", path="/work?ms={ms}", milliseconds=(0, 40), rate=60.0)
        settings: dict[str, Any] = {"run": "r1", "out": str(tmp_path / "requests"), "kinds": [kind]}
        child = TrafficProcess(
            TrafficSettings(**settings | changed), tmp_path / "traffic.json", tmp_path / "traffic.log", on_message
        )
        started.append(child)
        return child

    yield begin
    for child in started:
        child.kill()


def records_of(child: TrafficProcess) -> list[dict[str, Any]]:
    lines = []
    for path in Path(child.settings.out).glob("requests-*.jsonl"):
        assert path.name == f"requests-{child.pid}.jsonl"
        lines += [json.loads(line) for line in path.read_text().splitlines()]
    return lines


def wait_until(holds: Callable[[], object], seconds: float = 10.0) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture
def foreign_locust_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the person's own Locust, each of which would write files into the run's folder."""
    monkeypatch.setenv("LOCUST_CSV", "from_a_variable")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".locust.conf").write_text("json-file = from_a_file\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.mark.usefixtures("foreign_locust_settings")
def test_a_run_from_go_to_stop_records_every_request_once(serve: Any, start: Start) -> None:
    server = serve(answering)
    messages: list[Any] = []
    child = start(url=f"http://{server.address}", on_message=messages.append)
    child.wait_until_calibrated()
    assert not server.requests
    child.go()
    child.wait_for("tick", 10)
    assert os.getsid(child.pid) == child.pid
    child.stop()
    assert child.wait(10) == 0
    records = records_of(child)
    stopped = child.last("stopped")
    assert stopped is not None
    assert {message["event"] for message in messages} == {"calibrated", "started", "tick", "stopped"}
    assert stopped["sent"] == len(records) == len({record["id"] for record in records}) == len(server.requests)
    assert stopped["outcomes"] == Counter(record["client_outcome"] for record in records) == {"complete": len(records)}
    assert stopped["sent"] == pytest.approx(stopped["planned"], abs=1) == pytest.approx(60, abs=25)
    assert stopped["open"] == 0
    assert {record["echoed"] for record in records} == {True}
    # Ticks say how busy and how late the client was; it's neither with 60 requests a second.
    assert 0 < stopped["cpu_share_max"] < 1
    assert 0 <= stopped["late_ms_p99"] <= stopped["late_ms_max"] + 0.1
    assert [path.name for path in Path(child.settings.out).iterdir()] == [f"requests-{child.pid}.jsonl"]
    # Half of the users keep their connections, half open one for each request.
    assert len({record["connection"] for record in records if not record["reused"]}) == server.connections
    assert all(record["sent"] >= record["planned"] - 0.001 for record in records)
    assert not child.log_file.read_text().count("Traceback")


def test_headers_are_sent_and_not_kept(serve: Any, start: Start) -> None:
    server = serve(answering)
    kind = Kind(name="get", path="/work?ms=5", rate=20.0, headers={"Authorization": "Bearer s3cret"})
    child = start(url=f"http://{server.address}", kinds=[kind])
    child.wait_until_calibrated()
    child.go()
    child.wait_for("tick", 10)
    child.stop()
    assert child.wait(10) == 0
    assert all(b"Authorization: Bearer s3cret" in request for request in server.requests)
    for file in Path(child.settings.out).parent.rglob("*"):
        assert not file.is_file() or b"s3cret" not in file.read_bytes(), file


def test_a_kind_with_a_number_sends_just_so_many_and_the_child_waits_to_be_told_to_stop(
    serve: Any, start: Start
) -> None:
    server = serve(answering)
    kinds = [Kind(name=name, path="/work?ms=5", rate=200.0, count=number) for name, number in (("a", 30), ("b", 7))]
    child = start(url=f"http://{server.address}", kinds=kinds)
    child.wait_until_calibrated()
    child.go()
    wait_until(lambda: (child.last("tick") or {}).get("sent") == 37)
    assert child.exit_code is None
    child.stop()
    assert child.wait(10) == 0
    stopped = child.last("stopped")
    assert stopped is not None
    assert (stopped["sent"], stopped["planned"], stopped["missed"]) == (37, 37, 0)
    assert Counter(record["kind"] for record in records_of(child)) == {"a": 30, "b": 7}


def test_stop_lets_open_requests_be_answered_and_starts_no_new_one(serve: Any, start: Start) -> None:
    server = serve(answering)
    kind = Kind(name="slow", path="/work?ms={ms}", milliseconds=(600, 600), rate=40.0)
    child = start(url=f"http://{server.address}", kinds=[kind])
    child.wait_until_calibrated()
    child.go()
    wait_until(lambda: len(server.requests) >= 5)
    child.stop()
    asked = time.time()
    assert child.wait(10) == 0
    records = records_of(child)
    assert {record["client_outcome"] for record in records} == {"complete"}
    assert len(records) == len(server.requests)
    assert max(record["sent"] for record in records) < asked + 0.1
    assert max(record["done"] for record in records) > asked + 0.3


@pytest.mark.parametrize("how", ["terminate", "orphan"])
def test_a_signal_or_the_parents_death_is_a_stop_and_open_requests_meet_their_time_out(
    serve: Any, start: Start, how: str
) -> None:
    server = serve(silent)
    child = start(url=f"http://{server.address}", timeout_seconds=0.4)
    child.wait_until_calibrated()
    child.go()
    wait_until(lambda: server.connections >= 3)
    if how == "terminate":
        os.kill(child.pid, signal.SIGTERM)
    else:
        assert child._child.stdin is not None
        child._child.stdin.close()
    assert child.wait(10) == 0
    records = records_of(child)
    assert len(records) >= 3
    assert {record["client_outcome"] for record in records} == {"timed_out"}


def ended(child: TrafficProcess, *, again: bool) -> int:
    """Its exit code, well before its requests would time out; ``again`` sends the signal again where it's slow."""
    for _ in range(5):
        with suppress(TrafficError):
            return child.wait(6)
        if again:
            os.kill(child.pid, signal.SIGTERM)
    raise AssertionError("it didn't end")


@pytest.mark.parametrize("how", ["asked", "two signals"])
def test_a_child_in_a_hurry_records_what_is_still_open(serve: Any, start: Start, how: str) -> None:
    server = serve(silent)
    child = start(url=f"http://{server.address}", timeout_seconds=60.0)
    child.wait_until_calibrated()
    child.go()
    wait_until(lambda: server.connections >= 3)
    if how == "asked":
        child.hurry()
    else:
        os.kill(child.pid, signal.SIGTERM)
        time.sleep(0.2)  # two signals at once are one, on a busy machine even then
        os.kill(child.pid, signal.SIGTERM)
    assert ended(child, again=how == "two signals") == 0
    records, stopped = records_of(child), child.last("stopped")
    assert stopped is not None
    assert {record["client_outcome"] for record in records} == {"still_open"}
    assert len(records) == stopped["sent"] >= 3


def test_a_killed_child_leaves_a_line_for_each_request_that_was_over(serve: Any, start: Start) -> None:
    server = serve(answering)
    child = start(url=f"http://{server.address}")
    child.wait_until_calibrated()
    child.go()
    wait_until(lambda: len(server.requests) >= 20)
    child.kill()
    assert child.exit_code == -signal.SIGKILL
    # Those whose answer was on its way are the only ones without a line.
    assert len(records_of(child)) >= 20 - 6


def test_the_client_follows_the_listed_targets(serve: Any, start: Start, tmp_path: Path) -> None:
    first, second = serve(answering), serve(answering)
    targets = tmp_path / "targets.json"
    write_targets(targets, [])
    child = start(targets_file=str(targets))
    child.wait_until_calibrated()
    child.go()
    wait_until(lambda: "no target listed" in str(records_of(child)))
    write_targets(targets, [first.address, second.address])
    wait_until(lambda: first.requests and second.requests)
    write_targets(targets, [second.address])
    time.sleep(0.2)
    connections = first.connections
    second_before = second.connections
    wait_until(lambda: second.connections >= second_before + 3)
    assert first.connections == connections
    child.stop()
    assert child.wait(10) == 0
    assert {record["target"] for record in records_of(child)} == {"", first.address, second.address}


def test_a_stop_before_go_ends_without_a_request(serve: Any, start: Start) -> None:
    server = serve(answering)
    child = start(url=f"http://{server.address}")
    child.wait_until_calibrated()
    child.stop()
    assert child.wait(10) == 0
    stopped = child.last("stopped")
    assert stopped is not None
    assert stopped["sent"] == stopped["missed"] == server.connections == 0
    assert child.last("started") is None
    with pytest.raises(TrafficError, match="gone"):
        child.go()


BROKEN = """
import sys
sys.path.append({root!r})
import locust  # patches the sockets before anything of ours loads them
from swarmtest.traffic.http1 import Client
once = Client.send
def twice(self, request, record):
    once(self, request, record)
    if record.client_outcome == "closed_unanswered":
        once(self, request, record)
Client.send = twice
__file__ = {locustfile!r}
exec(open(__file__).read(), globals())
print('{{"event": "started"}}', flush=True)  # as a library might; only the child's own messages count
"""


def test_a_client_that_can_not_count_sends_nothing_and_exits_3(
    serve: Any, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken_client.py"
    broken.write_text(BROKEN.format(root=str(ROOT), locustfile=str(traffic_process.LOCUSTFILE)))
    monkeypatch.setattr(traffic_process, "LOCUSTFILE", broken)
    server = serve(answering)
    child = start(url=f"http://{server.address}")
    with pytest.raises(TrafficError, match=r"calibration shot miscounted.*2 times"):
        child.wait_until_calibrated()
    assert child.wait(10) == 3
    assert child.last("started") is None
    assert server.connections == 0


FULL = """
import sys
sys.path.append({root!r})
import locust  # patches the sockets before anything of ours loads them
from swarmtest.traffic.records import RecordFile
def full(self):
    if self._waiting:
        raise OSError(28, "No space left on device")
RecordFile.flush = full
__file__ = {locustfile!r}
exec(open(__file__).read(), globals())
"""


def test_traffic_whose_records_can_not_be_written_ends_at_once_and_says_why(
    serve: Any, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = tmp_path / "full_disk.py"
    full.write_text(FULL.format(root=str(ROOT), locustfile=str(traffic_process.LOCUSTFILE)))
    monkeypatch.setattr(traffic_process, "LOCUSTFILE", full)
    child = start(url=f"http://{serve(answering).address}")
    child.wait_until_calibrated()
    child.go()
    assert "No space left on device" in child.wait_for("failed", 20)["error"]
    assert child.wait(20) == 1


def test_a_child_that_does_not_start_is_reported_with_its_last_words(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tmp_path / "nothing_here.py"
    monkeypatch.setattr(traffic_process, "LOCUSTFILE", missing)
    child = start(url="http://127.0.0.1:1")
    with pytest.raises(TrafficError, match="nothing_here"):
        child.wait_until_calibrated(20)


def test_traffic_that_can_not_be_sent_is_refused_before_a_process_is_started(start: Start) -> None:
    with pytest.raises(TrafficError, match="exactly one of url"):
        start()


def test_the_parent_side_loads_neither_locust_nor_gevent() -> None:
    code = "import sys, swarmtest.traffic.process; print([m for m in ('locust', 'gevent') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_the_child_loads_nothing_that_acts_or_judges_and_nothing_is_hidden(tmp_path: Path) -> None:
    """Locust puts the locustfile's folder on sys.path, so a module there can hide one of the same name."""
    listing = tmp_path / "listing.py"
    listing.write_text("""
import json, os, sys
sys.path.append(sys.argv[1])
import locust, swarmtest.traffic.child
json.dump(sorted(sys.modules), sys.stdout)
""")
    shown = subprocess.run([sys.executable, listing, ROOT], capture_output=True, text=True, check=True)
    loaded = json.loads(shown.stdout)
    ours = {name for name in loaded if name.split(".")[0] == "swarmtest"}
    assert {name for name in ours if not name.startswith("swarmtest.traffic")} == {"swarmtest"}
    beside = {path.stem for path in (ROOT / "swarmtest").iterdir() if path.suffix == ".py" or path.is_dir()}
    top = {name.split(".")[0] for name in loaded} | set(sys.stdlib_module_names)
    assert beside & (top - {"swarmtest", "locustfile", "__main__"}) == set()


def test_nothing_of_gevent_leaks_into_the_tests() -> None:
    assert "gevent" not in sys.modules
    assert threading.current_thread() is threading.main_thread()
