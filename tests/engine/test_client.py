"""Finding the engine, speaking its version, and saying plainly what's wrong with it."""

from __future__ import annotations

import gc
import hashlib
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmtest.engine.client import Client, NoAnswer, NotThere, Refused, parse_time, version_conflict
from swarmtest.errors import EngineError, UsageError
from tests.engine.fake_engine import FakeEngine

Connect = Callable[[FakeEngine], Client]


@pytest.mark.parametrize(("least", "most"), [("1.44", "1.52"), ("1.24", "1.41"), ("1.12", "1.40")])
def test_an_engine_of_any_age_is_spoken_to_in_its_own_version(connect: Connect, least: str, most: str) -> None:
    # swarmpit/agent #13, HariSekhon/Nagios-Plugins #434
    engine = FakeEngine(least=least, most=most)
    try:
        info = connect(engine).info()
    finally:
        engine.close()
    assert (info.version, info.api, info.least_api) == ("fake", most, least)


@pytest.mark.parametrize(
    ("least", "most", "wanted", "said"),
    [
        ("1.44", "1.52", "1.41", "1.44 to 1.52"),
        ("1.24", "1.41", "1.44", "up to 1.41"),
        ("1.24", "1.41", "1.41", None),
        ("1.44", "1.52", None, None),
        ("1.9", "1.41", "1.10", None),
    ],
)
def test_a_pinned_api_version_that_cannot_work_is_named(
    connect: Connect, least: str, most: str, wanted: str | None, said: str | None
) -> None:
    # swarmpit/swarmpit PR #721
    engine = FakeEngine(least=least, most=most)
    try:
        problem = version_conflict(connect(engine).info(), wanted)
    finally:
        engine.close()
    if said is None:
        assert problem is None
    else:
        assert problem is not None
        assert f"DOCKER_API_VERSION={wanted}" in problem
        assert said in problem


def test_a_pinned_api_version_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_API_VERSION", "newest")
    with pytest.raises(UsageError, match="DOCKER_API_VERSION=newest"):
        Client()


def test_what_kind_of_engine_it_is_comes_from_the_engine(client: Client, engine: FakeEngine) -> None:
    info = client.info()
    assert (info.host, info.local, info.swarm, info.manager, info.nodes) == ("127.0.0.1", False, "active", True, 1)
    assert (info.node, info.ipvs) == ("node1", None)
    assert info.offset_error_seconds >= 0
    engine.swarm = {"LocalNodeState": "inactive"}
    info = client.info()
    assert (info.swarm, info.manager, info.node) == ("inactive", False, "")


def _context(name: str, host: str) -> None:
    folder = Path(os.environ["DOCKER_CONFIG"]) / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest()
    folder.mkdir(parents=True)
    meta = {"Name": name, "Metadata": {}, "Endpoints": {"docker": {"Host": host, "SkipTLSVerify": False}}}
    (folder / "meta.json").write_text(json.dumps(meta))


def _current(name: str) -> None:
    (Path(os.environ["DOCKER_CONFIG"]) / "config.json").write_text(json.dumps({"currentContext": name}))


def test_the_current_context_of_the_cli_is_honoured(engine: FakeEngine) -> None:
    _context("far", engine.address)
    _current("far")
    client = Client()
    assert client.info().version == "fake"
    assert client.info().host == "127.0.0.1"
    client.api.close()


def test_the_context_of_the_environment_wins_over_the_current_one(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _context("near", "tcp://127.0.0.1:1")
    _context("far", engine.address)
    _current("near")
    monkeypatch.setenv("DOCKER_CONTEXT", "far")
    client = Client()
    assert client.info().version == "fake"
    client.api.close()


def test_docker_host_wins_over_the_contexts(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    _current("nowhere")
    monkeypatch.setenv("DOCKER_CONTEXT", "nowhere")
    again = Client()
    assert again.info().version == "fake"
    again.api.close()


def test_a_context_that_is_not_there_is_a_mistake_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_CONTEXT", "nowhere")
    (Path(os.environ["DOCKER_CONFIG"]) / "config.json").write_text("{}")
    with pytest.raises(UsageError, match="context 'nowhere' doesn't exist"):
        Client()


def test_a_broken_context_file_is_a_mistake_to_mend() -> None:
    _context("far", "x")
    _current("far")
    (meta,) = Path(os.environ["DOCKER_CONFIG"]).glob("contexts/meta/*/meta.json")
    meta.write_text("{")
    with pytest.raises(UsageError, match="docker context can't be read"):
        Client()


def test_tls_without_keys_is_a_mistake_to_mend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path))
    with pytest.raises(UsageError, match="DOCKER_TLS_VERIFY"):
        Client()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the SDK leaves its socket open
@pytest.mark.parametrize("host", ["tcp://127.0.0.1:1", "unix:///nowhere/docker.sock"])
def test_an_engine_that_cannot_be_reached_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    with pytest.raises(NoAnswer, match="no engine answers") as caught:
        Client()
    assert "DOCKER_HOST" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 4
    del caught
    gc.collect()


def test_answers_that_say_no_are_told_apart(client: Client, engine: FakeEngine) -> None:
    with pytest.raises(NotThere, match="services gone not found"):
        client.get("/services/gone")
    engine.before = lambda _verb, path: (409, {"message": "in use"}) if path == "/networks/n" else None
    with pytest.raises(Refused, match="answered 409: in use") as caught:
        client.delete("/networks/n")
    assert caught.value.status == 409


def test_an_engine_that_goes_away_gives_no_answer(client: Client, engine: FakeEngine) -> None:
    def lost(_verb: str, _path: str) -> tuple[int, object] | None:
        raise ConnectionAbortedError

    engine.before = lost
    engine._server.handle_error = lambda *_args: None  # type: ignore[method-assign]
    with pytest.raises(NoAnswer, match="no engine answers"):
        client.get("/services")


@given(
    st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1)),  # noqa: DTZ001 - the zone is drawn apart
    st.integers(0, 999),
    st.sampled_from(["Z", "+00:00", "+02:00", "-05:30", ""]),
)
def test_each_time_stamp_of_an_engine_is_read_to_the_microsecond(moment: datetime, nanos: int, zone: str) -> None:
    digits = f"{moment.microsecond:06d}{nanos:03d}".rstrip("0")
    text = moment.strftime("%Y-%m-%dT%H:%M:%S") + (f".{digits}" if digits else "") + zone
    shift = {"+02:00": timedelta(hours=2), "-05:30": -timedelta(hours=5, minutes=30)}.get(zone, timedelta())
    expected = moment.replace(tzinfo=timezone(shift) if shift else UTC).timestamp()
    assert parse_time(text) == pytest.approx(expected, abs=2e-6, rel=0)


@pytest.mark.parametrize("text", [None, "", "0001-01-01T00:00:00Z"])
def test_no_time_is_zero(text: str | None) -> None:
    assert parse_time(text) == 0


def test_refusals_and_silence_are_both_engine_errors() -> None:
    assert issubclass(NotThere, Refused)
    assert issubclass(Refused, EngineError)
    assert issubclass(NoAnswer, EngineError)


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        ("ssh://nobody@127.0.0.1:1", "ssh isn't spoken here"),
        ("??", "expected unix:///PATH or tcp://HOST:PORT"),
        ("tcp://127.0.0.1:99999", "Port out of range 0-65535; expected"),
    ],
)
def test_an_address_that_can_not_be_used_is_a_mistake_to_mend(
    monkeypatch: pytest.MonkeyPatch, host: str, problem: str
) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)
    with pytest.raises(UsageError, match=problem) as caught:
        Client()
    assert str(caught.value).startswith(f"DOCKER_HOST is {host}")


def test_a_context_by_ssh_is_named_as_what_can_not_be_used() -> None:
    _context("far", "ssh://nobody@127.0.0.1:1")
    _current("far")
    with pytest.raises(UsageError, match="the docker context far is ssh://"):
        Client()
