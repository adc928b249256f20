"""swarmtest's own client, but for one thing: it keeps no records."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))

import locust  # noqa: F401 - patches the sockets before anything of ours loads them

from swarmtest.traffic.records import RecordFile

RecordFile.write = lambda self, record: None  # type: ignore[method-assign]

__file__ = str(ROOT / "swarmtest" / "locustfile.py")
exec(Path(__file__).read_text(), globals())
