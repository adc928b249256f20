"""Images that are here, that aren't, and names that can't be."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmtest.engine import images
from swarmtest.engine.client import Client
from swarmtest.engine.images import image_facts, local_only, make_missing, missing_images, pull_released
from swarmtest.errors import EngineError, StackError
from swarmtest.stack import Build, Stack
from swarmtest.stack.services import read_stack
from tests.engine.fake_engine import FakeEngine


def stack_of(folder: Path, image: str, more: str = "") -> Stack:
    file = folder / "stack.yml"
    file.write_text(f"services:\n  web:\n    image: '{image}'\n    ports: ['8080:80']\n{more}")
    return read_stack(file, {})


def test_an_image_is_here_or_missing(client: Client, engine: FakeEngine, tmp_path: Path) -> None:
    engine.objects["images"] = [{"Name": "reg.example/team/demo:1", "Id": "i1", "RepoDigests": []}]
    assert missing_images(client, stack_of(tmp_path, "reg.example/team/demo:1")) == []
    assert missing_images(client, stack_of(tmp_path, "demo:2")) == ["web"]
    assert missing_images(client, stack_of(tmp_path, "demo?x=1#y")) == ["web"]


def test_a_name_that_cannot_be_one_is_a_mistake_in_the_file(client: Client, engine: FakeEngine, tmp_path: Path) -> None:
    engine.before = lambda _verb, _path: (400, {"message": "invalid reference format"})
    with pytest.raises(StackError, match="can't be the name of an image") as caught:
        missing_images(client, stack_of(tmp_path, "Demo:"))
    assert (caught.value.line, caught.value.key) == (3, "services.web.image")


def test_an_image_without_a_digest_is_on_this_engine_alone(client: Client, engine: FakeEngine, tmp_path: Path) -> None:
    engine.objects["images"] = [{"Name": "a", "RepoDigests": []}, {"Name": "b", "RepoDigests": ["b@sha256:1"]}]
    assert local_only(client, stack_of(tmp_path, "a"))
    assert not local_only(client, stack_of(tmp_path, "b"))
    assert not local_only(client, stack_of(tmp_path, "c"))


def test_what_is_missing_is_built_or_pulled(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def build(tag: str, _build: Build, *, log: Path) -> None:
        done.append(f"build {tag}")

    monkeypatch.setattr(images, "build_image", build)
    monkeypatch.setattr(images, "run_docker", lambda words, **_more: done.append(" ".join(words)))
    log = tmp_path / "log"
    assert make_missing(client, stack_of(tmp_path, "a", "    build: .\n"), log) == ["a"]
    assert make_missing(client, stack_of(tmp_path, "b"), log) == ["b"]
    assert done == ["build a", "pull b"]


def test_what_can_be_neither_pulled_nor_built_is_named_with_its_line(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_words: list[str], **_more: object) -> None:
        raise EngineError("`docker pull` failed (1):\n  Error: no route to host")

    monkeypatch.setattr(images, "run_docker", refused)
    with pytest.raises(StackError, match="no route to host") as caught:
        make_missing(client, stack_of(tmp_path, "b"), tmp_path / "log")
    assert (caught.value.line, caught.value.key) == (3, "services.web.image")


def test_what_is_to_be_released_is_pulled_first_and_what_is_nowhere_is_no_reason_not_to_run(
    client: Client, engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An expired login on a node is what pauses a rollout half way: moby/moby #34245."""
    done: list[str] = []
    monkeypatch.setattr(images, "run_docker", lambda words, **_more: done.append(" ".join(words)))
    engine.objects["images"] = [{"Name": "a", "Id": "i1"}, {"Name": "a:2", "Id": "i2"}]
    assert pull_released(client, ["a:2", "a:3"], tmp_path / "log") == {"a:3": None}
    assert done == ["pull a:3"]

    def refused(_words: list[str], **_more: object) -> None:
        raise EngineError("`docker pull` failed (1):\n  Error: no route to host")

    monkeypatch.setattr(images, "run_docker", refused)
    assert pull_released(client, ["a:2", "a:3"], tmp_path / "log") == {"a:3": "Error: no route to host"}


def test_facts_of_images_go_into_the_plan(client: Client, engine: FakeEngine, tmp_path: Path) -> None:
    config = {"StopSignal": "SIGQUIT", "Healthcheck": {"Test": ["CMD", "x"]}}
    engine.objects["images"] = [{"Name": "a", "Id": "i1", "RepoDigests": None, "Config": config}]
    expected = {"image": "a", "id": "i1", "digests": [], "stop_signal": "SIGQUIT", "health": True}
    assert image_facts(client, stack_of(tmp_path, "a")) == {"web": expected}
    assert image_facts(client, stack_of(tmp_path, "gone")) == {"web": {"image": "gone"}}
