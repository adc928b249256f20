"""The one connection to the engine, and what kind of engine it is.

``DOCKER_HOST`` is honoured, else the CLI's current context, which the Docker SDK reads but doesn't
choose by itself. The API version is negotiated, so that an engine of 2021 and one that refuses
everything below 1.44 both answer.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import docker
import requests
from docker.errors import APIError, DockerException
from docker.tls import TLSConfig
from urllib3.exceptions import HTTPError

from swarmtest.engine import EngineInfo
from swarmtest.errors import EngineError, UsageError

POOL = 100
"""Connections kept to the engine: one per followed container, and some."""


class Refused(EngineError):
    """The engine answered, and said no: what was asked for didn't happen.

    Arguments:
        status: of the HTTP answer.
    """

    def __init__(self, text: str, status: int) -> None:
        self.status = status
        super().__init__(text)


class NotThere(Refused):
    """The object asked for doesn't exist, or no longer."""


class NoAnswer(EngineError):
    """The engine didn't answer, so that what was asked of it may or may not have happened."""


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turns the exceptions of the SDK and of what it's built on into :class:`EngineError`, once.

    ``urllib3``'s are among them: ``requests`` lets them through where an answer is read as it comes.
    """
    try:
        yield
    except APIError as error:
        text = str(error.explanation or error)
        raise Refused(f"{doing}: the engine answered {error.status_code}: {text}", error.status_code or 500) from error
    except (DockerException, requests.RequestException, HTTPError, OSError) as error:
        raise NoAnswer(
            f"{doing}: no engine answers ({_short(error)}); start it, or point DOCKER_HOST or `docker context` at one"
        ) from error


def _short(error: BaseException) -> str:
    while error.__cause__ is not None or error.__context__ is not None:
        error = cast(BaseException, error.__cause__ or error.__context__)
    return f"{type(error).__name__}: {error}"


class Client:
    """A thin layer over the SDK: raw objects in, raw objects out, errors translated."""

    def __init__(self, timeout_seconds: float = 30.0) -> None:
        self.base_url, tls = _where()
        _check_version_override()
        with translated("connecting to the engine"):
            self.api = docker.APIClient(
                base_url=self.base_url,
                tls=tls or False,
                version="auto",
                timeout=int(timeout_seconds),
                max_pool_size=POOL,
            )

    def get(self, path: str, **params: Any) -> Any:
        """The JSON answer of a GET on the API."""
        return self._call("GET", path, params, None)

    def post(self, path: str, body: Any = None, **params: Any) -> Any:
        """The JSON answer of a POST on the API."""
        return self._call("POST", path, params, body)

    def delete(self, path: str, **params: Any) -> Any:
        """The answer of a DELETE on the API."""
        return self._call("DELETE", path, params, None)

    def _call(self, verb: str, path: str, params: dict[str, Any], body: Any) -> Any:
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in params.items()}
        with translated(f"{verb} {path}"):
            answer = self.api.request(
                verb, f"{self.api.base_url}/v{self.api.api_version}{path}", params=texts, json=body, timeout=30
            )
            refuse_errors(answer, f"{verb} {path}")
            return answer.json() if answer.content else None

    def info(self) -> EngineInfo:
        """What kind of engine this is; measures its clock against ours."""
        sent = time.time()
        info = self.get("/info")
        answered = time.time()
        version = self.get("/version")
        swarm = info.get("Swarm") or {}
        engine_time = parse_time(info.get("SystemTime"))
        local = self.base_url.startswith(("unix:", "http+unix:"))
        error = (answered - sent) / 2
        return EngineInfo(
            version=str(version.get("Version", "")),
            api=str(version.get("ApiVersion", "")),
            least_api=str(version.get("MinAPIVersion", "")),
            host="127.0.0.1" if local else urlsplit(self.base_url).hostname or "127.0.0.1",
            local=local,
            swarm=str(swarm.get("LocalNodeState", "inactive")),
            manager=bool(swarm.get("ControlAvailable")),
            node=str(swarm.get("NodeID") or ""),
            nodes=int(swarm.get("Nodes") or 1),
            ipvs=_ipvs() if local else None,
            kernel=str(info.get("KernelVersion", "")),
            cli=cli_version(),
            offset_seconds=(engine_time - (sent + error)) if engine_time else 0.0,
            offset_error_seconds=error,
            identity=str(info.get("ID") or ""),
            cluster=str((swarm.get("Cluster") or {}).get("ID") or ""),
        )


def refuse_errors(answer: requests.Response, doing: str) -> None:
    """Raises :class:`NotThere` or :class:`Refused` for an answer that says no."""
    if answer.status_code == 404:
        raise NotThere(f"{doing}: not there (any more): {_message(answer)}", 404)
    if answer.status_code >= 400:
        raise Refused(f"{doing}: the engine answered {answer.status_code}: {_message(answer)}", answer.status_code)


def _message(answer: requests.Response) -> str:
    try:
        return str(answer.json().get("message", "")).strip()
    except ValueError:
        return answer.text.strip()[:300]


def _where() -> tuple[str, TLSConfig | None]:
    """Address and TLS of the engine, in the CLI's order: DOCKER_HOST, DOCKER_CONTEXT, the current context."""
    if host := os.environ.get("DOCKER_HOST"):
        _check_address("DOCKER_HOST", host)
        tls = _tls_of_environment() if os.environ.get("DOCKER_TLS_VERIFY") else None
        return host.replace("tcp://", "https://" if tls else "http://", 1), tls
    name = os.environ.get("DOCKER_CONTEXT") or None
    try:
        context = cast("Any", docker.ContextAPI.get_context(name))
    except Exception as error:  # not less: the SDK raises just that for a broken file
        raise UsageError(f"the docker context can't be read: {error}; see `docker context ls`") from error
    if context is None:
        named = f"the docker context {name!r}" if name else "the current docker context"
        raise UsageError(f"{named} doesn't exist; see `docker context ls`")
    host = str(context.Host or "unix:///var/run/docker.sock")
    _check_address(f"the docker context {context.name}", host)
    return host, context.TLSConfig


def _check_address(whose: str, host: str) -> None:
    """Case of an address that can't be used, for which the SDK or ``urllib`` would raise something odd."""
    expected = "expected unix:///PATH or tcp://HOST:PORT"
    if host.startswith("ssh://"):
        raise UsageError(
            f"{whose} is {host}, and ssh isn't spoken here; let ssh hand the socket on"
            " (ssh -L /PATH:/var/run/docker.sock HOST), and set DOCKER_HOST=unix:///PATH"
        )
    if not host.startswith(("unix://", "http+unix://", "npipe://", "tcp://", "http://", "https://")):
        raise UsageError(f"{whose} is {host}; {expected}")
    try:
        urlsplit(host).port  # noqa: B018 - it raises for what's none
    except ValueError as error:
        raise UsageError(f"{whose} is {host}: {error}; {expected}") from error


def _tls_of_environment() -> TLSConfig:
    folder = Path(os.environ.get("DOCKER_CERT_PATH") or Path.home() / ".docker")
    certificate = (str(folder / "cert.pem"), str(folder / "key.pem"))
    try:
        return TLSConfig(client_cert=certificate, ca_cert=str(folder / "ca.pem"), verify=True)
    except DockerException as error:
        raise UsageError(f"DOCKER_TLS_VERIFY is set, but the keys in {folder} can't be used: {error}") from error


def _check_version_override() -> None:
    """Case of a pinned ``DOCKER_API_VERSION``: the CLI obeys it, so a wrong one is named before it's felt."""
    wanted = os.environ.get("DOCKER_API_VERSION")
    if wanted and not all(part.isdigit() for part in wanted.split(".")):
        raise UsageError(f"DOCKER_API_VERSION={wanted} isn't a version such as 1.41; unset it")


def version_conflict(info: EngineInfo, wanted: str | None) -> str | None:
    """Why a ``DOCKER_API_VERSION`` can't work with this engine, or None."""

    def number(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.split(".")) if text else ()

    if not wanted:
        return None
    if info.least_api and number(wanted) < number(info.least_api):
        return f"DOCKER_API_VERSION={wanted}, but this engine speaks {info.least_api} to {info.api}; unset it"
    if info.api and number(wanted) > number(info.api):
        return f"DOCKER_API_VERSION={wanted}, but this engine speaks up to {info.api}; unset it"
    return None


def _ipvs() -> bool:
    """IPVS is there once ``/proc/sys/net/ipv4/vs`` is; a module that loads on demand counts too."""
    if Path("/proc/sys/net/ipv4/vs").exists() or Path("/proc/net/ip_vs").exists():
        return True
    modules = Path("/lib/modules") / os.uname().release
    return any(modules.glob("kernel/net/netfilter/ipvs/ip_vs.ko*"))


def cli_version() -> str | None:
    """Version of the docker CLI on the path, None where there's none that answers."""
    if (program := shutil.which("docker")) is None:
        return None
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (subprocess.SubprocessError, OSError):
        return None
    words = done.stdout.split()
    return words[2].rstrip(",") if len(words) > 2 else None


def parse_time(text: str | None) -> float:
    """Epoch seconds of the engine's time stamps, whose nanoseconds Python doesn't read; 0 for none."""
    if not text or text.startswith("0001-"):
        return 0.0
    body, zone = text.rstrip("Z"), UTC
    for sign in ("+", "-"):
        head, found, offset = body.rpartition(sign)
        if found and "T" in head:
            moment = datetime.fromisoformat(head.partition(".")[0] + found + offset)
            return moment.timestamp() + _fraction(head)
    return datetime.fromisoformat(body.partition(".")[0]).replace(tzinfo=zone).timestamp() + _fraction(body)


def _fraction(text: str) -> float:
    return float("0." + (text.partition(".")[2] or "0"))
