from collections.abc import Callable, Iterator

import pytest

from swarmtest.engine.client import Client
from tests.engine.fake_engine import FakeEngine


@pytest.fixture(autouse=True)
def _no_engine_but_ours(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_API_VERSION", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path_factory.mktemp("docker")))


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    made = FakeEngine()
    yield made
    made.close()


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[FakeEngine], Client]]:
    clients: list[Client] = []

    def connected(engine: FakeEngine) -> Client:
        monkeypatch.setenv("DOCKER_HOST", engine.address)
        clients.append(Client())
        return clients[-1]

    yield connected
    for client in clients:
        client.api.close()


@pytest.fixture
def client(engine: FakeEngine, connect: Callable[[FakeEngine], Client]) -> Client:
    return connect(engine)
