"""`swarmtest tune` from the outside: its words, its exit codes, and what it does to a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from swarmtest.cli import commands, tuning
from swarmtest.cli.tuning import Recorder
from swarmtest.errors import Interrupted, StackError, SwarmtestError, UsageError
from swarmtest.reports.tune import TUNE_FILE, Tune
from swarmtest.tune.seeing import Seen
from swarmtest.tune.trials import Trial
from tests.tune.stand_ins import STACK, seen, stop

Answer = Callable[[Trial, int], Seen]


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    file = tmp_path / "stack.yml"
    file.write_bytes(STACK.replace("30s", "'30s'  # as the bank asks").encode())
    return file


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Callable[[Answer], None]:
    """Runs that a stand-in makes; each has a folder."""

    def stand_in(answer: Answer) -> None:
        def carry_out(self: Recorder, trial: Trial, number: int) -> Seen:
            self.folder.mkdir(parents=True, exist_ok=True)
            return answer(trial, number)

        monkeypatch.setattr(tuning.Recorder, "carry_out", carry_out)

    return stand_in


def good(trial: Trial, number: int) -> Seen:
    return seen((stop(run=number, grace_seconds=float(trial.grace_seconds)),) * trial.replicas)


def invoke(stack: Path, *words: str) -> tuple[int, str, Tune | None]:
    out = stack.parent / "runs"
    result = CliRunner().invoke(
        commands, ["tune", str(stack), "--out", str(out), *words], standalone_mode=False, catch_exceptions=True
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    documents = [*out.glob(f"*/{TUNE_FILE}")]
    tune = msgspec.json.decode(documents[0].read_bytes(), type=Tune) if documents else None
    return result.return_value, result.output, tune


def test_a_value_is_reported_with_a_patch_and_the_file_stays(stack: Path, runs: Callable[[Answer], None]) -> None:
    runs(good)
    before = stack.read_bytes()
    code, output, tune = invoke(stack)
    assert code == 0
    assert tune is not None
    assert (tune.outcome, tune.ended, tune.written) == ("passed", "finished", False)
    assert (
        "-    stop_grace_period: '30s'  # as the bank asks\n+    stop_grace_period: '12s'  # as the bank asks" in output
    )
    assert stack.read_bytes() == before
    assert [*stack.parent.glob("runs/*/report.html")]


def test_judge_tells_of_a_tune_again(stack: Path, runs: Callable[[Answer], None]) -> None:
    runs(good)
    _, first, _ = invoke(stack)
    (folder,) = stack.parent.glob("runs/*")
    (folder / "report.html").unlink()
    again = CliRunner().invoke(commands, ["judge", str(folder)], standalone_mode=False)
    assert again.return_value == 0
    assert "stop_grace_period: 12s, proved." in again.output
    assert again.output.splitlines()[-1] in first.splitlines()
    assert (folder / "report.html").is_file()


def test_write_changes_the_file_once_the_value_is_proved(stack: Path, runs: Callable[[Answer], None]) -> None:
    runs(good)
    before = stack.read_text()
    code, output, tune = invoke(stack, "--write", "--emit", "service-update")
    assert code == 0
    assert tune is not None
    assert tune.written
    wanted = before.replace("'30s'", "'12s'").replace("delay: 5s, monitor: 15s", "delay: 8s, monitor: 20s")
    assert stack.read_text() == wanted
    assert "docker service update --stop-grace-period 12s --update-delay 8s --update-monitor 20s STACK_api" in output


def test_write_leaves_a_file_alone_whose_value_isnt_proved(stack: Path, runs: Callable[[Answer], None]) -> None:
    runs(lambda trial, number: seen(lost=1) if trial.purpose == "proof" else good(trial, number))
    before = stack.read_bytes()
    code, _, tune = invoke(stack, "--write")
    assert code == 1
    assert tune is not None
    assert not tune.written
    assert tune.patch
    assert stack.read_bytes() == before


def test_write_is_refused_before_anything_runs_where_the_value_is_a_variables(stack: Path) -> None:
    stack.write_text(STACK.replace("30s", "${GRACE:-30s}"))
    with pytest.raises(StackError, match="comes from the variable GRACE"):
        invoke(stack, "--write")
    assert not (stack.parent / "runs").exists()


def test_what_was_changed_by_hand_meanwhile_is_kept(stack: Path, runs: Callable[[Answer], None]) -> None:
    def answer(trial: Trial, number: int) -> Seen:
        if number == 3:
            stack.write_text(stack.read_text() + "# a word\n")
        return good(trial, number)

    runs(answer)
    invoke(stack, "--write")
    assert stack.read_text().endswith("# a word\n")
    assert "'12s'" in stack.read_text()


@pytest.mark.parametrize(("error", "code"), [(Interrupted("SIGINT"), 130), (SwarmtestError("gone"), 4)])
def test_what_breaks_it_off_is_reported_and_passed_on(
    stack: Path, runs: Callable[[Answer], None], error: BaseException, code: int
) -> None:
    def answer(trial: Trial, number: int) -> Seen:
        if number == 2:
            raise error
        return good(trial, number)

    runs(answer)
    with pytest.raises(type(error)):
        invoke(stack)
    (document,) = stack.parent.glob(f"runs/*/{TUNE_FILE}")
    assert msgspec.json.decode(document.read_bytes(), type=Tune).exit_code == code


def test_a_dry_run_refuses_what_the_first_run_would_refuse(stack: Path) -> None:
    with pytest.raises(UsageError, match="Not A Name"):
        invoke(stack, "--dry-run", "--name", "Not A Name")


def test_a_dry_run_tells_what_lint_has_found(stack: Path) -> None:
    stack.write_text(stack.read_text().replace("'30s'", "'1s'"))
    output = invoke(stack, "--dry-run")[1]
    assert f"swarmtest lint {stack} says what to do about it" in output


def test_a_generous_grace_below_the_longest_request_is_refused(stack: Path) -> None:
    with pytest.raises(UsageError, match="--generous: 3 s kill what the longest request of 7 s holds up"):
        invoke(stack, "--dry-run", "--generous", "3s")


def test_a_dry_run_says_which_runs_it_would_make(stack: Path) -> None:
    code, output, tune = invoke(stack, "--dry-run", "--edge")
    assert (code, tune) == (0, None)
    assert "1 × signal path  3 instances, a grace of 30 s" in output
    assert "3 × measure      8 instances, a grace of 60 s" in output
    assert "22 stops for a coverage of 0.9 at a confidence of 0.9; and up to 6 runs for the edge" in output


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--coverage", "1"), "--coverage: expected a share between 0 and 1"),
        (("--coverage", "0"), "--coverage: expected a share between 0 and 1"),
        (("--confidence", "ninety"), "--confidence: expected a share"),
        (("--confidence", "100%"), "--confidence: expected a share"),
        (("--generous", "500ms"), "--generous: expected whole seconds"),
        (("--generous", "90"), "--generous: expected a duration"),
        (("--service", "web"), "no service 'web'"),
    ],
)
def test_words_that_cant_be_are_refused_in_plain_words(stack: Path, words: tuple[str, ...], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        invoke(stack, *words)


def test_a_share_may_be_said_in_percent(stack: Path) -> None:
    assert (
        "59 stops for a coverage of 0.95" in invoke(stack, "--dry-run", "--coverage", "95%", "--confidence", "95 %")[1]
    )


def test_what_of_the_patch_cant_be_made_is_said_and_the_rest_is(stack: Path, runs: Callable[[Answer], None]) -> None:
    runs(good)
    text = STACK.replace("{order: start-first, parallelism: 1, delay: 5s, monitor: 15s}", "*pace")
    stack.write_text("x-pace: &pace {order: start-first, parallelism: 1, delay: 5s, monitor: 15s}\n" + text)
    code, output, tune = invoke(stack, "--write")
    assert code == 0
    assert tune is not None
    assert tune.written
    assert "stop_grace_period: 12s" in stack.read_text()
    assert any("update_config is an alias of what's written in line 1" in line for line in tune.warnings)
    assert "is an alias" in " ".join(output.split())
