"""Traffic out of an OpenAPI description, on a real stack: what may be sent is sent, and answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.conftest import Live

pytestmark = pytest.mark.live

DESCRIPTION = """\
openapi: 3.1.0
info: {title: Sample, version: "1"}
paths:
  /work:
    get: {parameters: [{name: ms, in: query, required: true, schema: {enum: [120, 4000]}}]}
    post: {parameters: [{name: ms, in: query, required: true, schema: {default: 120}}]}
"""


@pytest.mark.repeats
def test_the_safe_requests_of_a_description_are_sent(live: Live, stack: Path) -> None:
    (stack.parent / "openapi.yaml").write_text(DESCRIPTION)
    before, _, rest = stack.read_text().partition("  traffic:\n")
    _, _, after = rest.partition("  baseline:")
    stack.write_text(f"{before}  traffic: {{openapi: openapi.yaml, rate: 30/s}}\n  baseline:{after}")
    run = live.once(str(stack), "--scenario", "baseline")
    assert [kind.name for kind in run.document.figures.kinds] == ["get-work"], run.explain()
    assert {row["path"] for row in run.folder.read_requests()} == {"/work?ms=120"}
    assert any("1 left out, since POST isn't among the methods" in note for note in run.document.notes), run.explain()
    assert run.exit_code == 0, run.explain()
