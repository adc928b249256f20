from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.errors import RunFolderError
from swarmtest.judge import judged_folder
from swarmtest.judge.seconds import SECONDS_FILE, count_seconds, read_seconds, ready_spans, write_seconds
from swarmtest.losses.seconds import Seconds
from swarmtest.store import open_run_folder
from tests.judge.builder import Rollout
from tests.judge.test_judge import folder_of


def test_a_folders_seconds_add_up_to_its_balance(tmp_path: Path) -> None:
    run = Rollout()
    run.request("lost", 3.0, 3.4, run.old[0], client_outcome="closed_unanswered", status=None, instance=None)
    folder = open_run_folder(folder_of(run, tmp_path / "run"))
    for state in ("lines", "sealed"):
        with judged_folder(folder.path) as (document, requests):
            seconds = count_seconds(requests, document)
        assert sum(seconds.all.sent) == document.losses["sent"], state
        assert sum(seconds.all.ok) == document.losses["ok"], state
        assert {name: sum(counts) for name, counts in seconds.all.lost.items()} == {
            name: count for name, count in document.losses.items() if count and name not in ("sent", "ok")
        }
        folder.seal()


def test_who_is_ready_is_what_the_capacity_check_says(tmp_path: Path) -> None:
    run = Rollout()
    run.new[1].warm = (run.old[1].announced or 0) + 2.0
    folder = open_run_folder(folder_of(run, tmp_path / "run"))
    with judged_folder(folder.path) as (document, requests):
        seconds = count_seconds(requests, document)
    before = int((document.start or 0) - seconds.start)
    assert min(seconds.ready[before:-3]) == document.figures.lowest_ready == 2


def test_one_that_never_passed_its_health_check_is_never_ready() -> None:
    run = Rollout()
    run.plan["stack"]["healthcheck"] = {"test": ["CMD", "true"]}
    run.new[0].healthy = None
    assert len(ready_spans(run.document())) == 5


def test_seconds_are_read_as_they_were_written(tmp_path: Path) -> None:
    folder = open_run_folder(folder_of(Rollout(), tmp_path / "run"))
    with judged_folder(folder.path) as (document, requests):
        seconds = count_seconds(requests, document)
    write_seconds(seconds, folder.path)
    assert read_seconds(folder.path) == seconds


def test_a_folder_without_requests_has_no_seconds(tmp_path: Path) -> None:
    run = Rollout()
    folder = open_run_folder(folder_of(run, tmp_path / "run"))
    (folder.requests / "requests-1.jsonl").unlink()
    with judged_folder(folder.path) as (document, requests):
        assert count_seconds(requests, document) == Seconds()


@pytest.mark.parametrize(
    ("text", "said"), [(None, "swarmtest judge"), ("[]", "not a run's seconds"), ('{"version":9}', "reads up to 1")]
)
def test_seconds_that_are_no_seconds_are_refused(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / SECONDS_FILE).write_text(text)
    with pytest.raises(RunFolderError, match=said):
        read_seconds(tmp_path)
