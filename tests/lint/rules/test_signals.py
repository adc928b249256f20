"""Whether the stop signal gets to the program."""

from __future__ import annotations

import pytest

from tests.lint.looking import look, told


def started(command: str, image: str = "demo/web:1", more: str = "") -> str:
    return f"""\
    services:
      web:
        image: {image}
        command: {command}
        {more}
    """


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ('["sh", "-c", "migrate && node server.js"]', "error certain"),
        ('["sh", "-c", "migrate; node server.js"]', "error certain"),
        ('["sh", "-ec", "migrate\\nnode server.js"]', "error certain"),
        ('["bash", "-c", "node server.js | tee /log"]', "error certain"),
        ('["sh", "-c", "exec node server.js | tee /log"]', "error certain"),
        ('["tini", "--", "sh", "-c", "migrate && node server.js"]', "error certain"),
        ('["sh", "-c", "while true; do job; sleep 60; done"]', "warning certain"),
        ('["sh", "-c", "while :; do sleep 6h & wait; nginx -s reload; done & nginx"]', "warning certain"),
        ('["sh", "-c", "node server.js"]', "warning likely"),
        ('["sh", "-c", "PORT=80 node server.js > /log"]', "warning likely"),
        ('["bash", "-c", "migrate && node server.js"]', "warning likely"),
        ('["sh", "-c", "if [ -f /a ]; then a; else b; fi"]', "warning likely"),
    ],
)
def test_a_shell_stays_in_front(command: str, said: str) -> None:
    assert told("signal-stops-at-shell", started(command)) == [f"web {said} 4"]


@pytest.mark.parametrize(
    "command",
    [
        '["sh", "-c", "exec node server.js"]',
        '["sh", "-c", "migrate && exec node server.js"]',
        '["sh", "-c", "until nc -z db 5432; do sleep 1; done; exec node server.js"]',
        '["sh", "-c", "if [ -f /a ]; then exec a; else exec b; fi"]',
        '["sh", "-c", "trap \'kill $$!\' TERM; node server.js & wait"]',
        '["bash", "-c", "node server.js"]',
        '["node", "server.js"]',
        '["ash", "-c", "node server.js"]',
        '["sh", "-c", "rm -rf /tmp/a; echo done"]',
        '["/entrypoint.sh", "serve"]',
        "node server.js",
    ],
)
def test_no_shell_stays_in_front_or_it_sees_to_the_signal(command: str) -> None:
    assert look("signal-stops-at-shell", started(command)) == []


def test_busybox_gives_way_to_the_last_command() -> None:
    assert look("signal-stops-at-shell", started('["sh", "-c", "node server.js"]', "demo/web:1-alpine")) == []
    several = started('["sh", "-c", "migrate && node server.js"]', "demo/web:1-alpine")
    assert told("signal-stops-at-shell", several) == ["web warning likely 4"]


def test_jobs_and_what_runs_once_is_not_told_to_stop() -> None:
    command = '["sh", "-c", "migrate && seed"]'
    for more in ("deploy: {mode: replicated-job}", "deploy: {restart_policy: {condition: none}}"):
        assert look("signal-stops-at-shell", started(command, more=more)) == []


def test_a_loop_has_no_program_of_its_own_to_name() -> None:
    (found,) = look("signal-stops-at-shell", started('["sh", "-c", "while true; do job; sleep 60; done"]'))
    assert "doesn't get to what runs in the loop" in found.effect


def test_with_an_init_it_ends_at_once_and_without_one_after_the_grace() -> None:
    command = '["sh", "-c", "migrate && node server.js"]'
    (without,) = look("signal-stops-at-shell", started(command))
    (with_init,) = look("signal-stops-at-shell", started(command, more="init: true"))
    assert "the whole 10 s of grace, and ends in SIGKILL" in without.effect
    assert "killed in that moment" in with_init.effect
    assert "10 s" not in with_init.effect


@pytest.mark.parametrize(
    "command",
    [
        "npm start",
        '["npm", "run", "start"]',
        "yarn start",
        "pnpm start",
        "npx next start",
        "dotnet watch",
        "go run .",
        "make serve",
        "php artisan serve",
        '["tini", "--", "npm", "start"]',
        '["sh", "-c", "exec npm start"]',
    ],
)
def test_a_wrapper_stays_in_front(command: str) -> None:
    assert told("signal-stops-at-wrapper", started(command)) == ["web warning likely 4"]


@pytest.mark.parametrize(
    ("grace", "said"), [("12s", "the whole 12 s of grace and"), ("${GRACE}", "the whole grace and")]
)
def test_a_grace_that_is_not_known_is_no_number(grace: str, said: str) -> None:
    text = f"services:\n  web:\n    image: demo/web:1\n    command: npm start\n    stop_grace_period: {grace}\n"
    (found,) = look("signal-stops-at-wrapper", text)
    assert f"each stop lasts {said} ends in SIGKILL, and where" in found.effect


@pytest.mark.parametrize(
    "command", ["node server.js", "dotnet app.dll", "go-app run", "bundle exec puma", "php artisan queue:work"]
)
def test_programs_that_are_no_wrappers(command: str) -> None:
    assert look("signal-stops-at-wrapper", started(command)) == []


def test_words_behind_the_script_are_not_run() -> None:
    (found,) = look("shell-drops-words", started("sh -c node server.js"))
    assert told("shell-drops-words", started("sh -c node server.js")) == ["web error certain 4"]
    assert "exec node server.js" in found.fix
    assert told("shell-drops-words", started("sh -c exec node server.js")) == ["web error certain 4"]
    assert look("shell-drops-words", started('sh -c "node server.js"')) == []
    assert look("shell-drops-words", started("""["sh", "-c", "node $$0", "server.js"]""")) == []


def test_what_only_the_image_knows_is_told_once_for_all() -> None:
    text = """\
    services:
      a: {image: demo/web:1}
      b: {image: demo/web:1, command: ["/start.sh"]}
      c: {image: demo/web:1, command: ["node", "server.js"]}
      d: {image: "postgres:16"}
      e: {image: demo/web:1, deploy: {mode: replicated-job}}
    """
    (found,) = look("main-process-unknown", text)
    assert told("main-process-unknown", text) == ["a info unknown 2"]
    assert "in a and b is" in found.effect
    only = "services: {c: {image: demo/web:1, command: [node, server.js]}, d: {image: 'postgres:16'}}"
    assert look("main-process-unknown", only) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("worker --detach; tail -f /log", "error certain"),
        ("service cron start && tail -F /var/log/cron.log", "error certain"),
        ("celery multi start w1; exec tail -f /dev/null", "error certain"),
        ("worker & tail -f /dev/null", "error certain"),
        ("worker & sleep infinity", "error certain"),
        ("a & b & wait", "error certain"),
        ("worker & exec api", "warning likely"),
        ("cron && tail -f /var/log/cron.log", "warning likely"),
    ],
)
def test_work_beside_the_main_process(command: str, said: str) -> None:
    text = started(f'["sh", "-c", "{command}"]')
    assert told("work-detached-from-main", text) == [f"web {said} 4"]


@pytest.mark.parametrize(
    "command",
    [
        "tail -f /dev/null",
        "mkdir -p /a; tail -f /dev/null",
        "trap 'kill 0' TERM; worker & wait",
        "migrate && exec api",
        "echo start; exec api",
        "tail -n 5 /log; exec api",
    ],
)
def test_nothing_that_works_is_beside_it(command: str) -> None:
    assert look("work-detached-from-main", started(f'["sh", "-c", "{command}"]')) == []


@pytest.mark.parametrize(
    ("command", "said", "after"),
    [
        ("supervisord -n", "likely", "10 s"),
        ("pm2-runtime start app.js", "likely", "1.6 s"),
        ("pm2-runtime app.js --kill-timeout 5000", "certain", "5 s"),
        ("foreman start -t 8", "certain", "8 s"),
        ("su app -c serve", "likely", "2 s"),
    ],
)
def test_a_supervisor_ends_the_drain_before_the_grace_does(command: str, said: str, after: str) -> None:
    text = started(command, more="stop_grace_period: 30s")
    (found,) = look("supervisor-ends-drain", text)
    assert told("supervisor-ends-drain", text) == [f"web warning {said} 4"]
    assert f"{after} after its signal" in found.effect


@pytest.mark.parametrize(
    ("command", "grace"),
    [("supervisord -n", "10s"), ("pm2-runtime app.js --kill-timeout 30000", "30s"), ("node app.js", "30s")],
)
def test_a_supervisor_that_waits_as_long_as_the_grace(command: str, grace: str) -> None:
    assert look("supervisor-ends-drain", started(command, more=f"stop_grace_period: {grace}")) == []


def test_s6_where_its_limit_is_written() -> None:
    text = """\
    services:
      web:
        image: demo/web:1
        stop_grace_period: 30s
        environment: {S6_SERVICES_GRACETIME: "3000"}
    """
    assert told("supervisor-ends-drain", text) == ["web warning certain 5"]
    assert look("supervisor-ends-drain", text.replace("3000", "30000")) == []
    assert look("supervisor-ends-drain", text + "    deploy: {mode: replicated-job}\n") == []


def test_the_jvm_without_its_signals() -> None:
    assert told("jvm-ignores-signals", started("java -Xrs -jar app.jar")) == ["web error certain 4"]
    by_variable = started("serve", more="environment: {JAVA_OPTS: -Xmx1g -Xrs}")
    assert told("jvm-ignores-signals", by_variable) == ["web error certain 5"]
    assert look("jvm-ignores-signals", started("java -Xms1g -jar app.jar")) == []
