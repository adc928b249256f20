"""What a service starts."""

from __future__ import annotations

import pytest

from swarmtest.lint.programs.commands import flag, started, started_as, unwrapped
from tests.lint.looking import stack


@pytest.mark.parametrize(
    ("argv", "main"),
    [
        ("node server.js", "node server.js"),
        ("tini -- node server.js", "node server.js"),
        ("tini -g -s -- node server.js", "node server.js"),
        ("dumb-init node server.js", "node server.js"),
        ("env A=1 B=2 node server.js", "node server.js"),
        ("gosu app:app node server.js", "node server.js"),
        ("bundle exec sidekiq -t 25", "sidekiq -t 25"),
        ("poetry run gunicorn app", "gunicorn app"),
        ("python3 -m celery -A app worker", "celery -A app worker"),
        ("nice -n 10 poetry run celery worker", "celery worker"),
        ("wait-for-it.sh db:5432 -t 30 -- node server.js", "node server.js"),
        ("ddtrace-run gunicorn app", "gunicorn app"),
        ("tini --", ""),
        ("env", ""),
    ],
)
def test_what_becomes_the_program_is_taken_away(argv: str, main: str) -> None:
    assert " ".join(started_as(tuple(argv.split()), init=False).main) == main


@pytest.mark.parametrize(
    ("argv", "shell", "text", "extra"),
    [
        (("sh", "-c", "a; b"), "sh", "a; b", ()),
        (("/bin/bash", "-lc", "a"), "bash", "a", ()),
        (("bash", "-e", "-c", "a"), "bash", "a", ()),
        (("sh", "-c", "a", "b", "c"), "sh", "a", ("b", "c")),
        (("sh", "start.sh"), None, "", ()),
        (("sh", "-e", "start.sh", "-c"), None, "", ()),
        (("bash", "--norc", "start.sh"), None, "", ()),
        (("node", "-c", "a"), None, "", ()),
    ],
)
def test_the_script_of_a_shell(argv: tuple[str, ...], shell: str | None, text: str, extra: tuple[str, ...]) -> None:
    begun = started_as(argv, init=False)
    assert (begun.shell, begun.text, begun.extra) == (shell, text, extra)


def test_an_init_is_the_files_or_the_engines() -> None:
    assert started_as(("tini", "--", "a"), init=False).init == "tini"
    assert started_as(("a",), init=True).init == "docker-init"
    assert started_as(("a",), init=False).init is None


def test_without_a_command_only_the_image_knows() -> None:
    services = {
        each.name: started(each)
        for each in stack("""\
            services:
              a: {image: x}
              b: {image: x, entrypoint: [sh, -c], command: exec serve}
              c: {image: x, command: []}
            """).services
    }
    assert services["a"] is None
    assert services["c"] is None
    begun = services["b"]
    assert begun
    assert (begun.text, begun.extra) == ("exec", ("serve",))


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("a -t 25", "25"),
        ("a -t25", "25"),
        ("a --timeout 25", "25"),
        ("a --timeout=25", "25"),
        ("a -t 1 --timeout=25", "25"),
        ("a --timeouts=25", None),
        ("a -t", None),
        ("a -tty", None),
        ("a", None),
    ],
)
def test_the_value_of_a_flag(words: str, value: str | None) -> None:
    assert flag(tuple(words.split()), "-t", "--timeout") == value


def test_unwrapping_ends_whatever_is_written() -> None:
    assert unwrapped(("exec", "exec", "exec")) == ()
    assert unwrapped(("wait-for-it.sh", "db:1")) == ("wait-for-it.sh", "db:1")
