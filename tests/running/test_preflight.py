"""What's missing on a machine is said before anything is touched, with what to do."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from swarmtest.engine import EngineInfo
from swarmtest.engine.client import Client, NotThere
from swarmtest.errors import EngineError, StackError
from swarmtest.events import TraceWriter
from swarmtest.running.finding import Finding
from swarmtest.running.preflight import examine, examine_without_engine
from swarmtest.running.preflight_objects import missing_files
from swarmtest.stack import Stack
from swarmtest.stack.block.brief import read_brief
from swarmtest.stack.services import read_stack
from tests.ports import free_port

GOOD = EngineInfo("20.10", "1.41", "1.12", "127.0.0.1", True, "active", True, 1, True, "6.1", "20.10.24")


class FakeClient:
    """Answers from a table of paths; every image in ``images`` is there."""

    def __init__(self, images: tuple[str, ...] = ("demo",), **answers: Any) -> None:
        self.images = images
        self.answers = {"/containers/json": [], "/info": {}, **{f"/{key}": value for key, value in answers.items()}}

    def get(self, path: str, **_params: Any) -> Any:
        if path.startswith("/images/"):
            if path.removeprefix("/images/").removesuffix("/json") in self.images:
                return {}
            raise NotThere("no image", 404)
        return self.answers[path]


def stack_of(folder: Path, text: str) -> Stack:
    file = folder / "stack.yml"
    file.write_text(text)
    return read_stack(file, {})


def findings(info: EngineInfo, stack: Stack | None = None, client: FakeClient | None = None) -> dict[str, Finding]:
    brief = read_brief(stack) if stack is not None else None
    found = examine(cast("Client", client or FakeClient()), info, stack, brief)
    return {finding.subject: finding for finding in found}


@pytest.fixture(autouse=True)
def _no_pinned_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCKER_API_VERSION", raising=False)


def test_a_machine_that_has_all_is_all_right() -> None:
    assert {finding.state for finding in findings(GOOD).values()} == {"ok"}


@pytest.mark.parametrize(
    ("change", "subject", "advice"),
    [
        ({"swarm": "inactive", "manager": False}, "swarm mode", "--init-swarm"),
        ({"swarm": "locked"}, "swarm mode", "docker swarm init"),
        ({"manager": False}, "swarm mode", "manager node"),
        ({"cli": None}, "docker CLI", "install docker-cli"),
        ({"cli": "19.03.8"}, "docker CLI", "20.10"),
    ],
)
def test_what_is_missing_is_said_with_what_to_do(change: dict[str, Any], subject: str, advice: str) -> None:
    finding = findings(replace(GOOD, **change))[subject]
    assert finding.state == "missing"
    assert advice in finding.advice
    assert advice in str(finding.as_error())
    assert finding.as_error().exit_code == 2


@pytest.mark.parametrize("version", ["20.10.24+dfsg1", "28.2.2", "20.10"])
def test_a_cli_that_is_new_enough_is_taken(version: str) -> None:
    assert findings(replace(GOOD, cli=version))["docker CLI"].state == "ok"


def test_a_pinned_api_version_that_conflicts_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # swarmpit/swarmpit PR #721
    monkeypatch.setenv("DOCKER_API_VERSION", "1.41")
    finding = findings(replace(GOOD, api="1.52", least_api="1.44"))["API version"]
    assert finding.state == "missing"
    assert "DOCKER_API_VERSION=1.41" in finding.text


def test_clocks_that_differ_are_a_warning_only_beyond_their_error() -> None:
    assert findings(replace(GOOD, offset_seconds=3.0))["clocks"].state == "warning"
    assert findings(replace(GOOD, offset_seconds=-3.0))["clocks"].state == "warning"
    assert findings(replace(GOOD, offset_seconds=3.0, offset_error_seconds=2.5))["clocks"].state == "ok"


def test_an_ingress_port_without_ipvs_is_missing_and_a_host_port_is_not(tmp_path: Path) -> None:
    without = replace(GOOD, ipvs=False)
    port = free_port()
    ingress = stack_of(tmp_path, f"services: {{web: {{image: demo, ports: ['{port}:80']}}}}")
    assert findings(without, ingress)["IPVS"].state == "missing"
    assert "front_door: direct" not in findings(without, ingress)["IPVS"].advice
    two = stack_of(tmp_path, f"services: {{web: {{image: demo, ports: ['{port}:80'], deploy: {{replicas: 2}}}}}}")
    assert "{front_door: direct}" in findings(without, two)["IPVS"].advice
    assert "IPVS" not in findings(GOOD, ingress)
    assert "IPVS" not in findings(replace(GOOD, ipvs=None), ingress)
    body = f"ports: [{{target: 80, published: {port}, mode: host}}]"
    host = stack_of(tmp_path, f"services: {{web: {{image: demo, {body}}}}}")
    assert "IPVS" not in findings(without, host)
    assert findings(without)["IPVS"].state == "warning"


def test_a_vip_behind_a_proxy_needs_ipvs_and_dnsrr_does_not(tmp_path: Path) -> None:
    text = (
        "services: {{api: {{image: demo{deploy}}},"
        " edge: {{image: demo, deploy: {{endpoint_mode: dnsrr}},"
        " ports: [{{target: 80, published: {port}, mode: host}}]}}}}\n"
        "x-swarmtest: {{service: api}}\n"
    )
    port = free_port()
    finding = findings(replace(GOOD, ipvs=False), stack_of(tmp_path, text.format(deploy="", port=port)))["IPVS"]
    assert "api has a VIP" in finding.text
    dnsrr = text.format(deploy=", deploy: {endpoint_mode: dnsrr}", port=port)
    assert "IPVS" not in findings(replace(GOOD, ipvs=False), stack_of(tmp_path, dnsrr))


def test_a_port_that_a_container_or_a_service_has_is_taken(tmp_path: Path) -> None:
    stack = stack_of(tmp_path, "services: {web: {image: demo, ports: ['8080:80']}}")
    container = {"Names": ["/other"], "Ports": [{"PublicPort": 8080, "Type": "tcp"}, {"PrivatePort": 1}]}
    finding = findings(GOOD, stack, FakeClient(**{"containers/json": [container]}))["port"]
    assert finding.state == "missing"
    assert "8080/tcp, which web publishes, is taken by the container other" in finding.text
    service = {"Spec": {"Name": "shop_web"}, "Endpoint": {"Ports": [{"PublishedPort": 8080, "Protocol": "tcp"}]}}
    swarm = FakeClient(info={"Swarm": {"ControlAvailable": True}}, services=[service])
    assert "the service shop_web" in findings(GOOD, stack, swarm)["port"].text
    udp = stack_of(tmp_path, "services: {web: {image: demo, ports: ['8080:80/udp', '8080:80']}}")
    taken = [item for item in examine(cast("Client", swarm), GOOD, udp, read_brief(udp)) if item.subject == "port"]
    assert len(taken) == 1


@pytest.mark.parametrize(
    ("state", "advice"),
    [
        ("killed", "it's of the run r1: if that is over, `swarmtest recover {folder}` removes it"),
        ("going on", "the run r1 goes on: wait for its end, or publish another port"),
        ("folder gone", "it's of the run r1: if that is over, `swarmtest recover --stack st` removes it"),
    ],
)
def test_of_a_port_that_a_run_left_taken_it_is_said_how_to_recover(tmp_path: Path, state: str, advice: str) -> None:
    folder = tmp_path / "runs" / "r1"
    stack = stack_of(tmp_path, "services: {web: {image: demo, ports: ['8080:80']}}")
    labels = {"swarmtest.run": "r1", "swarmtest.folder": str(folder), "com.docker.stack.namespace": "st"}
    spec = {"Name": "st_web", "Labels": labels}
    service = {"Spec": spec, "Endpoint": {"Ports": [{"PublishedPort": 8080, "Protocol": "tcp"}]}}
    swarm = FakeClient(info={"Swarm": {"ControlAvailable": True}}, services=[service])
    if state == "folder gone":
        assert findings(GOOD, stack, swarm)["port"].advice == advice
        return
    folder.mkdir(parents=True)
    with TraceWriter(folder / "events.jsonl") as trace:
        if state == "killed":
            trace.close()
        found = findings(GOOD, stack, swarm)["port"]
    assert (found.state, found.advice) == ("missing", advice.format(folder=folder))


def test_a_port_that_another_program_has_is_taken_on_this_machine_alone(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", free_port()))
        other.listen()
        port = other.getsockname()[1]
        stack = stack_of(tmp_path, f"services: {{web: {{image: demo, ports: ['{port}:80']}}}}")
        assert "another program" in findings(GOOD, stack)["port"].text
        assert "port" not in findings(replace(GOOD, local=False, host="far"), stack)
    assert "port" not in findings(GOOD, stack)


def test_images_that_are_not_here_are_pulled_or_built_or_missing(tmp_path: Path) -> None:
    port = free_port()

    def image(build: str) -> Finding:
        stack = stack_of(tmp_path, f"services: {{web: {{image: gone, ports: ['{port}:80']{build}}}}}")
        return findings(GOOD, stack)["image"]

    assert (image("").state, image("").advice) == ("warning", "it will be pulled")
    assert image(", build: .").state == "missing"
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    assert (image(", build: .").state, image(", build: .").advice) == ("warning", "it will be built")


def test_a_service_without_an_image_is_named_with_its_line(tmp_path: Path) -> None:
    stack = stack_of(tmp_path, f"services:\n  web:\n    ports: ['{free_port()}:80']\n")
    with pytest.raises(StackError) as caught:
        findings(GOOD, stack)
    assert (caught.value.line, caught.value.key) == (2, "services.web.image")


@pytest.mark.parametrize(
    ("health", "said"),
    [
        ("", "isn't in the file"),
        (", healthcheck: {disable: true}", "is switched off"),
        (", healthcheck: {test: x}", None),
    ],
)
def test_a_service_without_a_health_check_is_a_warning(tmp_path: Path, health: str, said: str | None) -> None:
    stack = stack_of(tmp_path, f"services: {{web: {{image: demo, ports: ['{free_port()}:80']{health}}}}}")
    found = findings(GOOD, stack)
    if said is None:
        assert "health check" not in found
    else:
        assert found["health check"].state == "warning"
        assert said in found["health check"].text


def test_without_an_engine_all_that_can_be_known_is_said(tmp_path: Path) -> None:
    stack = stack_of(tmp_path, "services: {web: {image: demo, build: ., ports: ['1:80']}}")
    found = examine_without_engine(EngineError("no engine answers (x); start it, or else"), stack, read_brief(stack))
    assert [finding.subject for finding in found] == ["engine", "docker CLI", "image", "health check"]
    assert found[0] == Finding("engine", "missing", "no engine answers (x)", "start it, or else")
    alone = examine_without_engine(EngineError("gone"), None, None)
    assert [finding.subject for finding in alone] == ["engine", "docker CLI"]


NAMED = """\
services: {web: {image: demo, ports: [{target: 80, published: %d, mode: host}], deploy: {endpoint_mode: dnsrr}}}
volumes: {data: {name: orders}, own: {}, theirs: {name: shared, external: true}}
configs: {conf: {name: "conf_v1", file: ./c}}
secrets: {key: {name: key_v1, file: ./k}}
networks: {net: {name: backbone}}
"""


@pytest.mark.parametrize("kind", ["networks", "volumes", "configs", "secrets"])
def test_a_name_that_somebody_else_has_is_neither_used_nor_removed(tmp_path: Path, kind: str) -> None:
    """`docker stack deploy` relabels a config of the same name and content, and it would go with the run."""
    taken = {"networks": "backbone", "volumes": "orders", "configs": "conf_v1", "secrets": "key_v1"}[kind]
    stack = stack_of(tmp_path, NAMED % free_port())
    nothing: dict[str, Any] = {"networks": [], "volumes": {"Volumes": None}, "configs": [], "secrets": []}
    assert "name" not in findings(GOOD, stack, FakeClient(**nothing))
    there = {"Volumes": [{"Name": taken}]} if kind == "volumes" else [{"Spec": {"Name": taken}}]
    found = findings(GOOD, stack, FakeClient(**nothing | {kind: there}))["name"]
    assert (found.state, taken in found.text) == ("missing", True)
    assert "external: true" in found.advice
    shared = {"Volumes": [{"Name": "shared"}]}
    assert "name" not in findings(GOOD, stack, FakeClient(**nothing | {"volumes": shared}))


def test_a_file_that_is_to_become_a_config_or_a_secret_has_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "here.cfg").write_text("")
    text = """\
services: {web: {image: demo}}
configs: {good: {file: ./here.cfg}, bad: {file: ./nope.cfg}, far: {external: true}}
secrets: {token: {file: ./token.txt}}
"""
    found = [finding.text for finding in missing_files(stack_of(tmp_path, text))]
    assert found == [
        f"configs.bad.file is ./nope.cfg, and {tmp_path / 'nope.cfg'} isn't there",
        f"secrets.token.file is ./token.txt, and {tmp_path / 'token.txt'} isn't there",
    ]
