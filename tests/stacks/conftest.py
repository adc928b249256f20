"""Makes the sample service importable: it isn't part of the package, and lives where its image is built from."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

for folder in ("contract", "stacks/api", "stacks/bank"):
    sys.path.insert(0, str(ROOT / folder))
