from __future__ import annotations

import pytest

from tests.lint.looking import look, told

SERVICE = "services:\n  a:\n    image: demo/a:1\n    deploy:\n      mode: %s\n      %s\n"


@pytest.mark.parametrize("mode", ["global", "global-job"])
def test_one_on_each_node_has_no_number(mode: str) -> None:
    assert told("replicas-in-global-mode", SERVICE % (mode, "replicas: 3")) == ["a error certain 6"]


@pytest.mark.parametrize(("mode", "more"), [("replicated", "replicas: 3"), ("global", "labels: {}")])
def test_a_mode_that_goes_with_it_is_silent(mode: str, more: str) -> None:
    assert look("replicas-in-global-mode", SERVICE % (mode, more)) == []
    assert look("replicas-in-global-mode", SERVICE % ("global", "replicas: 3"), "compose") == []


@pytest.mark.parametrize("mode", ["replicated-job", "global-job"])
def test_a_job_has_no_updates(mode: str) -> None:
    text = SERVICE % (mode, "update_config: {parallelism: 1}")
    assert told("job-with-update-config", text) == ["a error certain 6"]
    assert look("job-with-update-config", text, "compose") == []


@pytest.mark.parametrize(
    ("mode", "more"), [("replicated-job", "replicas: 3"), ("global", "update_config: {parallelism: 1}")]
)
def test_a_plain_job_and_a_service_are_silent(mode: str, more: str) -> None:
    assert look("job-with-update-config", SERVICE % (mode, more)) == []


@pytest.mark.parametrize(
    "part", ["update_config: {delay: -1s}", "update_config: {monitor: -5s}", "restart_policy: {window: -1m}"]
)
def test_times_below_zero_are_refused(part: str) -> None:
    text = SERVICE % ("replicated", part)
    assert told("times-below-zero", text) == ["a error certain 6"]
    assert look("times-below-zero", text, "compose") == []


@pytest.mark.parametrize(
    "part", ["update_config: {delay: 0s, monitor: 5s}", "rollback_config: {delay: -1s}", "update_config: {delay: x}"]
)
def test_other_times_are_silent(part: str) -> None:
    assert look("times-below-zero", SERVICE % ("replicated", part)) == []
