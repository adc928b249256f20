"""What the README and the guide show of the output is what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from swarmtest.lint import Severity, Target
from swarmtest.lint.linting import lint
from swarmtest.lint.output import Report
from swarmtest.lint.output.text import Text

ROOT = Path(__file__).resolve().parents[2]
SHOWN = re.compile(r"^```text\n\$ swarmtest lint (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^`([\w.]+\.yml)`:\n\n```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/lint.md"])
def test_an_example_is_what_comes_out(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (ROOT / page).read_text()
    files = {Path(name): body for name, body in FILE.findall(text)}
    examples = SHOWN.findall(text)
    assert examples
    for name, shown in examples:
        report = Report((lint([Path(name)], Target.SWARM, {}, files),), Target.SWARM, Severity.ERROR)
        printed = "".join(f"{line}\n" for line in Text(100, lambda text, _: text).lines(report))
        parts = (re.escape(part) for part in shown.split("…\n"))
        assert re.fullmatch(r"(?s:.*?)".join(parts), printed), printed
