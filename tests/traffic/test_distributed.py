"""Several processes as one client, as the parent meets them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swarmtest.errors import TrafficError
from swarmtest.traffic import process
from swarmtest.traffic.process import TrafficProcess, worker_command
from swarmtest.traffic.settings import Kind, TrafficSettings
from tests.ports import free_port
from tests.traffic.test_child import answering, wait_until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def two(serve: Any, tmp_path: Path) -> Iterator[TrafficProcess]:
    """Two workers that send to a server of the test's."""
    kinds = [
        Kind(name="steady", method="POST", path="/work?ms=5", rate=60.0),
        Kind(name="some", path="/work?ms=5", rate=200.0, count=7),
        Kind(name="one", path="/work?ms=5", rate=200.0, count=1),
    ]
    settings = TrafficSettings(
        run="r1", out=str(tmp_path / "requests"), url=f"http://{serve(answering).address}", kinds=kinds, processes=2
    )
    child = TrafficProcess(settings, tmp_path / "traffic.json", tmp_path / "traffic.log")
    yield child
    child.kill()


def records_of(child: TrafficProcess) -> dict[str, list[dict[str, Any]]]:
    files = Path(child.settings.out).glob("requests-*.jsonl")
    return {path.stem: [json.loads(line) for line in path.read_text().splitlines()] for path in files}


def test_two_workers_are_one_client_with_a_file_each(two: TrafficProcess) -> None:
    shot = two.wait_until_calibrated()
    assert shot["processes"] == 2
    two.go()
    wait_until(lambda: (two.last("tick") or {}).get("sent", 0) >= 60, 20)
    two.stop()
    assert two.wait(20) == 0
    stopped, records = two.last("stopped"), records_of(two)
    assert stopped is not None
    whole = [record for some in records.values() for record in some]
    assert len(records) == 2
    assert all(records.values()), "each of them sent"
    one, other = ({record["connection"] for record in some} for some in records.values())
    assert not one & other, "a connection's name says which it was"
    assert stopped["sent"] == len(whole) == len({record["id"] for record in whole}) == stopped["planned"]
    assert stopped["outcomes"] == {"complete": len(whole)}
    counted = Counter(record["kind"] for record in whole)
    assert (counted["some"], counted["one"]) == (7, 1), "a number is one of all processes together"
    assert counted["steady"] == len(whole) - 8
    assert not two.log_file.read_text().count("Traceback")


def test_a_worker_that_is_killed_makes_the_traffic_fail(two: TrafficProcess) -> None:
    two.wait_until_calibrated()
    two.go()
    wait_until(lambda: len(records_of(two)) == 2, 20)
    os.kill(int(next(iter(records_of(two))).removeprefix("requests-")), signal.SIGKILL)
    failed = two.wait_for("failed", 20)
    assert failed["error"] == "a worker process was lost"
    assert two.wait(20) != 0
    assert two.last("stopped") is None, "nobody can say how many it sent"


def test_a_client_that_is_killed_takes_its_workers_with_it(two: TrafficProcess) -> None:
    two.wait_until_calibrated()
    two.go()
    wait_until(lambda: len(records_of(two)) == 2, 20)
    workers = [int(name.removeprefix("requests-")) for name in records_of(two)]
    two.kill()
    wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def test_a_stop_before_go_ends_without_a_request(two: TrafficProcess) -> None:
    two.wait_until_calibrated()
    two.stop()
    assert two.wait(20) == 0
    assert sum(map(len, records_of(two).values())) == 0
    with pytest.raises(TrafficError, match="gone"):
        two.go()


def test_a_worker_that_is_done_long_before_the_other_one_is_not_lost(serve: Any, tmp_path: Path) -> None:
    """Only one of them has a request, and that takes longer than the 3 s that a last word may be on its way."""
    server = serve(answering)
    kinds = [Kind(name="one", path="/work?ms=5500", rate=200.0, count=1)]
    settings = TrafficSettings(
        run="r1", out=str(tmp_path / "requests"), url=f"http://{server.address}", kinds=kinds, processes=2
    )
    child = TrafficProcess(settings, tmp_path / "traffic.json", tmp_path / "traffic.log")
    try:
        child.wait_until_calibrated()
        child.go()
        wait_until(lambda: server.connections >= 1, 20)
        child.stop()
        assert child.wait(20) == 0
        (record,) = [record for some in records_of(child).values() for record in some]
        assert record["client_outcome"] == "complete"
    finally:
        child.kill()


LOOKS = """
import sys
from types import SimpleNamespace

import gevent

from swarmtest.traffic import distributed
from swarmtest.traffic.settings import TrafficSettings

distributed.LOST_SECONDS = 0.1
looks = [look.split() for look in sys.argv[1:]]

class Workers:
    @property
    def missing(self):
        return looks.pop(0) if len(looks) > 1 else looks[0]

runner = SimpleNamespace(clients=Workers(), quit=lambda: None, send_message=lambda *_: None)
master = distributed.Master(
    SimpleNamespace(tell=lambda event, **_: print(event)),
    TrafficSettings(run="r1", out="", url="", kinds=[], processes=2),
)
master._environment = SimpleNamespace(runner=runner)
ticking = gevent.spawn(master._tick)
gevent.sleep(1.4)
master._finished.set()
ticking.join(3)
"""
"""A master that looks for its workers: each word is what Locust misses at a look, the last one at all that follow."""


@pytest.mark.parametrize(("looks", "told"), [(["w1", ""], ""), (["w1"], "failed\n")])
def test_a_worker_whose_sign_of_life_was_only_late_is_not_lost(looks: list[str], told: str) -> None:
    ended = subprocess.run([sys.executable, "-c", LOOKS, *looks], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ended.stdout == told


AHEAD = """
import sys, time
sys.path.append({root!r})
real = time.time
time.time = lambda: real() + 100.0
__file__ = {locustfile!r}
exec(open(__file__).read(), globals())
"""


@pytest.fixture
def away(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TrafficProcess]:
    """Two workers as on other machines, one of them with a clock that's 100 s ahead."""
    port = free_port()
    kinds = [Kind(name="steady", method="POST", path="/work?ms=5", rate=60.0, headers={"X-Extra": "kept"})]
    settings = TrafficSettings(
        run="r1",
        out=str(tmp_path / "requests"),
        url=f"http://{serve(answering).address}",
        kinds=kinds,
        workers=2,
        listen=f"127.0.0.1:{port}",
    )
    child = TrafficProcess(settings, tmp_path / "traffic.json", tmp_path / "traffic.log")
    commands = [worker_command("127.0.0.1", port)]
    ahead = tmp_path / "ahead.py"
    ahead.write_text(AHEAD.format(root=str(ROOT), locustfile=str(process.LOCUSTFILE)))
    monkeypatch.setattr(process, "LOCUSTFILE", ahead)
    commands.append(worker_command("127.0.0.1", port))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with (tmp_path / "workers.log").open("w") as log:
        workers = [
            subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            for command in commands
        ]
    yield child
    child.kill()
    for worker in workers:
        worker.kill()
        worker.wait()


def test_workers_elsewhere_are_told_what_to_send_and_their_records_come_home_by_one_clock(
    away: TrafficProcess,
) -> None:
    began = time.time()
    away.wait_until_calibrated()
    clock = away.last("clock")
    assert clock is not None
    away.go()
    wait_until(lambda: (away.last("tick") or {}).get("sent", 0) >= 60, 20)
    away.stop()
    assert away.wait(20) == 0
    stopped, records = away.last("stopped"), records_of(away)
    assert stopped is not None
    assert sorted(name.rpartition("-")[2] for name in records) == ["0", "1"], "a file for each part"
    whole = [record for some in records.values() for record in some]
    assert stopped["sent"] == len(whole) == len({record["id"] for record in whole})
    assert stopped["outcomes"] == {"complete": len(whole)}
    times = [record[name] for record in whole for name in ("planned", "sent", "first_byte", "done")]
    assert began - 1.0 < min(times) <= max(times) < time.time() + 1.0
    assert began - 1.0 < float(stopped["t"]) < time.time() + 1.0
