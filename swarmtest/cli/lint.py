"""``swarmtest lint``: what the files alone can tell."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from swarmtest.errors import StackError, UsageError

if TYPE_CHECKING:
    from swarmtest.lint import Finding
    from swarmtest.lint.fixing import Fixed
    from swarmtest.lint.output import Report

STDIN = Path("-")


@click.command(short_help="Says what's wrong with stack files; no engine needed.")
@click.argument("stack", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-c", "--compose-file", "several", multiple=True, type=click.Path(path_type=Path),
    help="One of several files of one stack, in Docker's order; repeatable.",
)  # fmt: skip
@click.option(
    "--target", type=click.Choice(["swarm", "compose"]), default="swarm", show_default=True,
    help="What the files are for: `docker stack deploy` or `docker compose up`.",
)  # fmt: skip
@click.option("--env-file", type=click.Path(path_type=Path), help="Variables to put in, under those of the shell.")
@click.option(
    "--before", multiple=True, type=click.Path(path_type=Path),
    help="An older version of the stack, to look at the update itself; repeatable as -c is.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "sarif", "github"]), default="text", show_default=True,
    help="For a person, programs, code scanning, or the log of a GitHub workflow.",
)  # fmt: skip
@click.option(
    "--fail-on", type=click.Choice(["error", "warning", "info"]), default="error", show_default=True,
    help="The least severity that ends with 1.",
)  # fmt: skip
@click.option("--fix", is_flag=True, help="Make the edits that are safe, then look again.")
@click.option("--diff", is_flag=True, help="Show those edits as a patch, and write nothing.")
@click.option("--explain", metavar="RULE", help="Print the page of a rule.")
def lint(
    stack: tuple[Path, ...],
    several: tuple[Path, ...],
    target: str,
    env_file: Path | None,
    before: tuple[Path, ...],
    form: str,
    fail_on: str,
    fix: bool,
    diff: bool,
    explain: str | None,
) -> int:
    """Reads stack files, and says what will go wrong; needs no engine.

    Each STACK is a stack of its own, `-` is standard input; the files of -c are one stack together.

    \b
    Exit codes: 0 nothing as bad as --fail-on · 1 something is
                2 a file can't be read, or wrong usage · 4 swarmtest itself broke
    """
    from swarmtest.cli.findings import echo, show
    from swarmtest.lint import Severity, Target
    from swarmtest.lint.linting import Linted, all_rules, try_to_lint
    from swarmtest.lint.output import Format, Report

    rules = all_rules()
    if explain is not None:
        return _explain(explain, [rule.name for rule in rules])
    stacks = [[path] for path in dict.fromkeys(stack)] + [list(several)] * bool(several)
    _refuse(stacks, before, writing=fix and not diff, alone=several if stack and len(several) == 1 else ())
    if diff and form != "text":
        raise UsageError(f"lint: --diff prints a patch and no {form}; leave one of them out")
    texts = _standard_input([*stacks, before])
    environment = _environment(env_file)

    def look() -> tuple[Linted, ...]:
        with _uncollected():
            return tuple(try_to_lint(paths, Target(target), environment, texts, before) for paths in stacks)

    report = Report(look(), Target(target), Severity(fail_on))
    if diff or fix:
        fixed = _fix(report, texts, write_them=not diff)
        if diff:
            echo("".join(each.diff for each in fixed).removesuffix("\n"))
            return report.exit_code
        report = replace(report, stacks=look())
    show(report, Format(form))
    return report.exit_code


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collector of cycles: files hold none, and walking them over and over is a fifth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _explain(rule: str, known: list[str]) -> int:
    from swarmtest.cli.findings import echo
    from swarmtest.lint.pages import explain

    echo(explain(rule, known).rstrip())
    return 0


def _refuse(stacks: list[list[Path]], before: tuple[Path, ...], *, writing: bool, alone: tuple[Path, ...]) -> None:
    """Raises for words that make no sense together."""
    if not stacks:
        raise UsageError(
            "lint: name a stack file, several (each a stack of its own), or -c A.yml -c B.yml for one stack"
        )
    if alone:
        raise UsageError(
            f"lint: -c {alone[0]} beside other files would be a stack of its own; write -c before each file of one"
            " stack, or before none"
        )
    if before and len(stacks) > 1:
        raise UsageError("lint: --before is an older version of one stack; name one, or the files of one by -c")
    if writing and any(STDIN in paths for paths in stacks):
        raise UsageError("lint: --fix writes files, and - is none; --diff shows what it would change")


def _standard_input(stacks: Sequence[Sequence[Path]]) -> dict[Path, str]:
    """What's read from standard input, where a file is ``-``."""
    if not any(STDIN in paths for paths in stacks):
        return {}
    try:
        return {STDIN: sys.stdin.buffer.read().decode()}
    except UnicodeDecodeError as error:
        raise UsageError(f"lint: standard input isn't UTF-8 text (byte {error.start})") from error


def _fix(report: Report, texts: Mapping[Path, str], *, write_them: bool) -> list[Fixed]:
    """Makes the edits, and says on standard error which ones; what's refused has its reason."""
    from swarmtest.lint.fixing import fix, write

    fixed = fix(report.stacks, texts)
    if write_them:
        write(fixed)
    done = "fixed" if write_them else "would fix"
    for each in fixed:
        for finding in each.done:
            click.echo(f"{done} {_where(finding)}", err=True)
        for finding, reason in each.refused:
            click.echo(f"not fixed: {_where(finding)}: {reason}", err=True)
    for problem in [stack.problem for stack in report.stacks if stack.problem is not None and not write_them]:
        click.echo(f"swarmtest: error: {problem}", err=True)
    return fixed


def _where(finding: Finding) -> str:
    key = ".".join(finding.edit.key if finding.edit else finding.place.key)
    return f"{finding.place.file}:{finding.place.line}: {key} [{finding.rule}]"


def _environment(file: Path | None) -> Mapping[str, str]:
    """The shell's variables, over those of a file."""
    if file is None:
        return os.environ
    from swarmtest.stack.syntax.dotenv import parse_dotenv
    from swarmtest.stack.syntax.yamlfile import read_text

    found = parse_dotenv(read_text(file, "a file of variables"), file, os.environ)
    if found.refused_line is not None:
        raise StackError("expected NAME=value", file=file, line=found.refused_line)
    return {**found.values, **os.environ}
