"""An engine that is a small HTTP server on loopback: it holds objects, and does what a test tells it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.ports import free_port

LABEL = "com.docker.stack.namespace"
Chunks = list[bytes | Callable[[], object]]


class FakeEngine:
    """The state of the engine, and all that it was asked.

    Attributes:
        objects: by kind (``services``, ``tasks``, ``containers``, ``networks`` …), each a list of API objects.
        streams: by path, what a stream sends: bytes, or a callable that's called in between. A stream whose last
            element is ``b""`` ends properly; others are cut in mid-answer. The lists of a path are used one by one.
        before: called with verb and path before each answer; an answer of its own (status, body) goes out instead.
        gone_after: seconds until an object is gone, by its ID, from when it could go; on the fake clock.
        asked: verb and path of each request, without the API version.
    """

    def __init__(self, *, least: str = "1.24", most: str = "1.41") -> None:
        self.least, self.most = least, most
        self.objects: dict[str, list[dict[str, Any]]] = {}
        self.streams: dict[str, list[Chunks]] = {}
        self.before: Callable[[str, str], tuple[int, Any] | None] = lambda _verb, _path: None
        self.gone_after: dict[str, float] = {}
        self.asked: list[tuple[str, str]] = []
        self.queries: list[dict[str, str]] = []
        self.updates: list[tuple[str, dict[str, Any]]] = []
        self.time = 1000.0
        self.swarm = {"LocalNodeState": "active", "ControlAvailable": True, "Nodes": 1, "NodeID": "node1"}
        self._lock = threading.Lock()
        engine = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def log_message(self, *_args: object) -> None:
                pass

            def _answer(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or b"null")
                url = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(url.query).items()}
                version, path = _without_version(url.path)
                with engine._lock:
                    engine.asked.append((self.command, path))
                    engine.queries.append(query)
                if engine.streams.get(path):
                    self._stream(engine.streams[path].pop(0))
                    return
                with engine._lock:
                    status, answer = engine.answer(self.command, version, path, query, body)
                data = b"" if answer is None else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _stream(self, chunks: Chunks) -> None:
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.flush()
                self.close_connection = True
                for chunk in chunks:
                    if callable(chunk):
                        chunk()
                    else:
                        try:
                            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                            self.wfile.flush()
                        except OSError:
                            return

            do_GET = do_POST = do_DELETE = _answer  # noqa: N815 - the standard library's names

        self._server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """For ``DOCKER_HOST``."""
        return f"tcp://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stops listening; what's open stays open."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def sleep(self, seconds: float) -> None:
        """Lets fake time pass, five times as much as asked for, so that fewer questions come."""
        self.time += 5 * seconds

    def now(self) -> float:
        """The fake clock."""
        return self.time

    def add_service(self, stack: str, name: str, **spec: Any) -> dict[str, Any]:
        """A service of a stack, at version 10."""
        service = {
            "ID": f"id-{stack}-{name}",
            "Version": {"Index": 10},
            "Spec": {"Name": f"{stack}_{name}", "Labels": {LABEL: stack}, "TaskTemplate": {"ForceUpdate": 0}, **spec},
        }
        self.objects.setdefault("services", []).append(service)
        return service

    def answer(self, verb: str, version: str | None, path: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        """Status and body for one request."""
        if version is not None and not _number(self.least) <= _number(version) <= _number(self.most):
            return 400, {"message": f"client version {version} is out of range: {self.least} to {self.most}"}
        if (own := self.before(verb, path)) is not None:
            return own
        parts = [unquote(part) for part in path.strip("/").split("/")]
        match verb, parts:
            case "GET", _:
                return self._get(parts, query)
            case "POST", ["services" | "nodes" as kind, identity, "update"]:
                return self._update(kind, identity, query, body)
            case "POST", ["containers", _, "kill" | "stop" | "pause" | "unpause"]:
                return 204, None
            case "DELETE", [kind, identity]:
                return self._delete(kind, identity)
            case _:
                return 404, {"message": f"page not found: {verb} {path}"}

    def _get(self, parts: list[str], query: dict[str, str]) -> tuple[int, Any]:
        match parts:
            case ["version"]:
                return 200, {"Version": "fake", "ApiVersion": self.most, "MinAPIVersion": self.least}
            case ["info"]:
                return 200, {"Swarm": self.swarm, "SystemTime": "2026-11-29T22:15:00.123456789Z", "KernelVersion": "6"}
            case ["containers", "json"]:
                return 200, self._listed("containers", query)
            case ["volumes"]:
                return 200, {"Volumes": self._listed("volumes", query) or None}
            case [kind]:
                return 200, self._listed(kind, query)
            case ["images", *name, "json"]:
                found = [item for item in self.objects.get("images", []) if item["Name"] == "/".join(name)]
                return (200, found[0]) if found else (404, {"message": "No such image"})
            case [kind, identity] | [kind, identity, "json"]:
                found = [item for item in self.objects.get(kind, []) if _id(item) == identity]
                return (200, found[0]) if found else (404, {"message": f"{kind} {identity} not found"})
            case _:
                return 404, {"message": f"page not found: {'/'.join(parts)}"}

    def _listed(self, kind: str, query: dict[str, str]) -> list[dict[str, Any]]:
        filters = json.loads(query.get("filters", "{}"))
        wanted = [label.partition("=") for label in filters.get("label", [])]
        self.objects[kind] = [item for item in self.objects.get(kind, []) if not self._is_gone(item)]
        return [item for item in self.objects[kind] if all(_bears(item, *label) for label in wanted)]

    def _is_gone(self, item: dict[str, Any]) -> bool:
        return self.time >= self.gone_after.get(_id(item), float("inf"))

    def _update(self, kind: str, identity: str, query: dict[str, str], body: Any) -> tuple[int, Any]:
        for service in self.objects.get(kind, []):
            if service["ID"] == identity:
                if int(query["version"]) != service["Version"]["Index"]:
                    return 500, {"message": "rpc error: code = Unknown desc = update out of sequence"}
                service["Version"]["Index"] += 1
                service["Spec"] = body
                self.updates.append((identity, body))
                return 200, {"Warnings": None}
        return 404, {"message": f"{kind} {identity} not found"}

    def _delete(self, kind: str, identity: str) -> tuple[int, Any]:
        for item in self.objects.get(kind, []):
            if _id(item) == identity:
                self.objects[kind].remove(item)
                return 204, None
        return 404, {"message": f"{kind} {identity} not found"}


def _without_version(path: str) -> tuple[str | None, str]:
    first, _, rest = path.lstrip("/").partition("/")
    return (first[1:], f"/{rest}") if first[:1] == "v" and first[1:2].isdigit() else (None, path)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _id(item: dict[str, Any]) -> str:
    return str(item.get("ID") or item.get("Id") or item.get("Name"))


def _bears(item: dict[str, Any], key: str, equals: str, value: str) -> bool:
    return _labels(item).get(key) == value if equals else key in _labels(item)


def _labels(item: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = item.get("Labels") or item.get("Spec", {}).get("Labels") or {}
    return found


def frame(text: bytes, kind: int = 1) -> bytes:
    """One frame of a log."""
    return bytes([kind, 0, 0, 0]) + len(text).to_bytes(4, "big") + text
