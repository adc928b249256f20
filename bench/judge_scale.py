"""Sealing and judging runs of one and of ten million requests: seconds, and memory.

Each in a process of its own, from the lines that the client wrote to the document. What instances wrote of each
request is read and reconciled, too, where there is any; that takes most of the time, as it's JSON.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import Figure, Place, at_most
from bench.tools.runs import make_run

MILLION = 1_000_000

# The high-water mark of this program's own memory: ru_maxrss also has that of the process which started it.
_JUDGE = """
import json, sys, time
from pathlib import Path
from swarmtest.judge import judge_folder
from swarmtest.store import RunFolder
folder, began = Path(sys.argv[1]), time.perf_counter()
RunFolder(folder).seal()
sealed, used = time.perf_counter(), time.process_time()
document = judge_folder(folder)
print(json.dumps({
    "seal": sealed - began, "judge": time.perf_counter() - sealed, "outcome": document.outcome,
    "cpu": time.process_time(), "sent": document.losses["sent"], "lost": document.proof["lost"],
    "memory": int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024,
}))
"""


def measure(place: Place) -> list[Figure]:
    """Makes each run, seals it and judges it."""
    one, recorded = _judged(place.folder / "one", MILLION), _judged(place.folder / "two", MILLION, recorded=True)
    ten = _judged(place.folder / "ten", 10 * MILLION)
    return [
        at_most("a million requests, sealed and judged", _seconds(one), 3.0, "s"),
        Figure("… of it processor time", f"{one['cpu']:.2f} s"),
        Figure("… with a start and a finish line of each", f"{_seconds(recorded):.2f} s"),
        Figure("… of it processor time", f"{recorded['cpu']:.2f} s"),
        Figure("… memory of the process", f"{recorded['memory']:.0f} MB"),
        at_most("ten million requests, sealed and judged", _seconds(ten), 20.0, "s"),
        Figure("… of it processor time", f"{ten['cpu']:.2f} s"),
        at_most("… memory of the process", ten["memory"], 1000.0, "MB"),
        at_most("time per request, of ten million beside one", ten["cpu"] / one["cpu"] / 10, 1.1, "×"),
    ]


def _seconds(found: dict[str, Any]) -> float:
    return float(found["seal"]) + float(found["judge"])


def _judged(folder: Path, requests: int, *, recorded: bool = False) -> dict[str, Any]:
    make_run(folder, requests, recorded=recorded)
    try:
        command = [sys.executable, "-c", _JUDGE, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        shutil.rmtree(folder)
    found: dict[str, Any] = json.loads(done.stdout)
    if found["sent"] != requests or found["lost"]:
        raise RuntimeError(f"expected {requests} requests without a loss, found {found}")
    return found
