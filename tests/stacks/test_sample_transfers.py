"""Large bodies of the sample service: what it says that it stored is what can be read back."""

from __future__ import annotations

import asyncio
import hashlib
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from sample.app import App, Manners
from sample.state import State
from sample.transfers import Storing
from swarmtest_contract import Journal

BODY = b"a large body" * 10_000
SUM = hashlib.sha256(BODY).hexdigest()


class NoBank:
    async def commit(self, request_id: str) -> None: ...

    async def commit_once(self, key: str) -> bool:
        return True

    async def alive(self) -> bool:
        return True


class Instance:
    """An app whose uploads go to a folder of the test's own."""

    def __init__(self, folder: Path, **storing: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        journal = Journal("task-1", lambda line: self.lines.append(json.loads(line)))
        self.state = State(journal)
        self.state.warm = True
        self.app = App(self.state, journal, NoBank(), Manners(storing=Storing(folder, **storing)))

    async def ask(
        self, path: str, query: str = "", messages: tuple[dict[str, Any], ...] = (), name: str = "r/1"
    ) -> dict[str, Any]:
        sent: list[dict[str, Any]] = []
        waiting = list(messages or ({"type": "http.request", "body": b"", "more_body": False},))

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(0)
            return waiting.pop(0)

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "path": path,
            "query_string": query.encode(),
            "headers": [(b"X-Request-ID", name.encode())],
            "http_version": "1.1",
        }
        await self.app(scope, receive, send)
        if not sent:
            return {}
        body = b"".join(message.get("body", b"") for message in sent[1:])
        return {"status": sent[0]["status"], "headers": dict(sent[0]["headers"]), "body": body}

    def of(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]


def upload(body: bytes = BODY) -> tuple[dict[str, Any], ...]:
    pieces = [body[at : at + 5000] for at in range(0, len(body), 5000)]
    return tuple({"type": "http.request", "body": piece, "more_body": piece is not pieces[-1]} for piece in pieces)


async def wait_for(instance: Instance, event: str) -> None:
    while not instance.of(event):
        await asyncio.sleep(0)


def test_an_upload_is_stored_before_it_is_answered_and_can_be_read_back(tmp_path: Path) -> None:
    async def run() -> None:
        instance = Instance(tmp_path)
        answer = await instance.ask("/upload", messages=upload())
        word = json.loads(answer["body"])
        assert (answer["status"], word["stored"], word["sha256"]) == (200, len(BODY), SUM)
        assert [(line["stored"], line["sha256"]) for line in instance.of("commit")] == [(len(BODY), SUM)]
        back = json.loads((await instance.ask("/stored/r/1"))["body"])
        assert (back["stored"], back["sha256"]) == (len(BODY), SUM)

    asyncio.run(run())


def test_uploads_at_the_same_time_do_not_meet_though_their_ids_differ_only_behind_a_dot(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    half = {"type": "http.request", "body": BODY, "more_body": True}

    async def both() -> list[dict[str, Any]]:
        uploads = [instance.ask("/upload", "", (half, {**half, "more_body": False}), f"run.burst1-{n}") for n in (1, 2)]
        return await asyncio.gather(*uploads)

    assert [answer["status"] for answer in asyncio.run(both())] == [200, 200]


def test_an_upload_that_is_cut_leaves_a_line_of_what_came_and_nothing_to_read(tmp_path: Path) -> None:
    async def run() -> None:
        instance = Instance(tmp_path)
        answer = await instance.ask("/upload", messages=(*upload()[:3], {"type": "http.disconnect"}))
        assert answer == {}
        assert [line["stored"] for line in instance.of("stored")] == [15_000]
        assert instance.of("commit") == []
        assert (await instance.ask("/stored/r/1"))["status"] == 404

    asyncio.run(run())


def test_one_that_is_acknowledged_early_is_promised_before_it_is_stored(tmp_path: Path) -> None:
    async def run() -> None:
        instance = Instance(tmp_path, early=True)
        word = json.loads((await instance.ask("/upload", messages=upload()))["body"])
        assert (word["stored"], word["sha256"]) == (len(BODY), SUM)
        assert instance.of("commit") == []
        assert instance.app.running == set()  # so no drain waits for it
        await asyncio.wait_for(wait_for(instance, "commit"), 5)
        assert (await instance.ask("/stored/r/1"))["status"] == 200

    asyncio.run(run())


@pytest.mark.parametrize("size", [0, 1, 65536, 200_000])
def test_a_download_says_its_checksum_and_is_always_the_same(tmp_path: Path, size: int) -> None:
    async def run() -> None:
        instance = Instance(tmp_path)
        first, second = [await instance.ask("/download", f"bytes={size}") for _ in range(2)]
        assert first["body"] == second["body"]
        assert len(first["body"]) == size
        digest = b64encode(hashlib.sha256(first["body"]).digest())
        assert first["headers"][b"repr-digest"] == b"sha-256=:" + digest + b":"

    asyncio.run(run())


@pytest.mark.parametrize("query", ["bytes=many", "bytes=-1", "ms=-1", "bytes=9999999999"])
def test_a_download_of_nonsense_is_refused(tmp_path: Path, query: str) -> None:
    assert asyncio.run(Instance(tmp_path).ask("/download", query))["status"] == 400


def test_nothing_is_served_before_it_is_warm(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    instance.state.warm = False
    assert asyncio.run(instance.ask("/upload", messages=upload()))["status"] == 503


def test_a_draining_instance_ends_the_connection_of_an_upload(tmp_path: Path) -> None:
    instance = Instance(tmp_path)
    instance.state.ends_connections = True
    assert asyncio.run(instance.ask("/upload", messages=upload()))["headers"][b"connection"] == b"close"
