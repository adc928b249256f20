"""What the client says of its own load, and of the machine's."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.traffic.processor import ProcessorUse, busy_ticks, processors

LINE = "cpu  {user} 0 100 {idle} 50 0 10 40 0 0\ncpu0 1 2 3\n"


def test_the_machine_is_busy_by_what_it_did_not_idle_and_did_not_wait_for_disks(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text(LINE.format(user=100, idle=1000))
    use = ProcessorUse(stat)
    stat.write_text(LINE.format(user=190, idle=1010))
    assert use.machine_since_last() == 0.9
    stat.write_text(LINE.format(user=190, idle=1110))
    assert use.machine_since_last() == 0.0
    assert use.machine_since_start() == 0.45
    assert use.machine_since_last() is None, "no tick has passed"


@pytest.mark.parametrize("text", ["", "cpu\n", "cpu a b c d e f g h\n", None])
def test_where_nobody_counts_nothing_is_said_of_the_machine(tmp_path: Path, text: str | None) -> None:
    stat = tmp_path / "stat"
    if text is not None:
        stat.write_text(text)
    assert busy_ticks(stat) is None
    assert ProcessorUse(stat).machine_since_start() is None


def test_a_process_s_share_is_of_one_processor() -> None:
    use = ProcessorUse()
    assert use.since_last() >= 0.0
    assert use.since_start() >= 0.0
    assert use.largest == 0.0, "a short stretch says nothing"
    assert processors() >= 1
