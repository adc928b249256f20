from __future__ import annotations

import pytest

from tests.lint.looking import look, told

DB = """\
services:
  db:
    image: mongo:7
    volumes: ["dbdata:/data/db"]
    deploy: {replicas: 1, update_config: {order: start-first}}
volumes: {dbdata: {}}
"""


def test_two_processes_on_the_data_of_a_database() -> None:
    (found,) = look("start-first-single-writer", DB)
    assert told("start-first-single-writer", DB) == ["db error likely 5"]
    assert "mongo" in found.effect
    assert "dbdata" in found.effect
    assert "stop-first" in found.fix
    assert "gap can't be avoided" in found.fix
    assert found.edit is not None
    assert found.edit.value == "stop-first"
    assert look("start-first-shared-volume", DB) == []


@pytest.mark.parametrize(
    ("image", "target"),
    [
        ("postgres:16-alpine", "/var/lib/postgresql/data"),
        ("registry.example/base/postgres:16", "/var/lib/postgresql/data"),
        ("bitnami/postgresql:16", "/bitnami/postgresql"),
        ("timescale/timescaledb-ha:pg16", "/home/postgres/pgdata/data"),
        ("mysql:8", "/var/lib/mysql"),
        ("redis:7", "/data"),
        ("rabbitmq:3-management", "/var/lib/rabbitmq"),
        ("mcr.microsoft.com/mssql/server:2022-latest", "/var/opt/mssql"),
        ("vaultwarden/server:1.30.0", "/data"),
        ("portainer/portainer-ce:2.20.0", "/data"),
        ("prom/prometheus:v2.50.0", "/prometheus"),
        ("postgres@sha256:0123", "/var/lib/postgresql/data"),
    ],
)
def test_known_images_wherever_they_are_from(image: str, target: str) -> None:
    text = DB.replace("mongo:7", image).replace("/data/db", target)
    assert told("start-first-single-writer", text) == ["db error likely 5"]


@pytest.mark.parametrize(
    "mount",
    [
        "/srv/db:/data/db",
        "{type: bind, source: /srv/db, target: /data/db}",
        "{type: volume, source: dbdata, target: /data/db}",
        "{type: volume, source: 'db-{{.Task.Slot}}', target: /data/db}",
    ],
)
def test_each_way_of_mounting_the_data(mount: str) -> None:
    assert told("start-first-single-writer", DB.replace('"dbdata:/data/db"', mount)) == ["db error likely 5"]


@pytest.mark.parametrize(
    "mount",
    [
        '"dbdata:/data/db:ro"',
        "{type: volume, source: dbdata, target: /data/db, read_only: true}",
        "{type: tmpfs, target: /data/db}",
        '"/data/db"',
        "/srv/init:/docker-entrypoint-initdb.d",
        "logs:/var/log/mongodb",
        "dumps:/backups",
        "{type: volume, source: 'db-{{.Task.ID}}', target: /data/db}",
    ],
)
def test_what_only_one_can_write_or_nobody_is_silent(mount: str) -> None:
    text = DB.replace('"dbdata:/data/db"', mount)
    assert look("start-first-single-writer", text) == []
    assert look("start-first-shared-volume", text) == []


@pytest.mark.parametrize("rule", ["start-first-single-writer", "start-first-shared-volume"])
@pytest.mark.parametrize("image", ["mongo:7", "demo/app:1"])
def test_stop_first_is_silent(rule: str, image: str) -> None:
    text = DB.replace("mongo:7", image)
    assert look(rule, text.replace("start-first", "stop-first")) == []
    assert look(rule, text.replace(", update_config: {order: start-first}", "")) == []
    assert look(rule, text, "compose") == []


def test_of_an_app_that_is_not_known_it_has_to_be_looked_at() -> None:
    text = DB.replace("mongo:7", "demo/app:1")
    assert told("start-first-shared-volume", text) == ["db warning unknown 5"]
    assert look("start-first-single-writer", text) == []


@pytest.mark.parametrize("image", ["nginx:1.27", "wordpress:6", "mongo-express:1", "prom/mongodb-exporter:1"])
def test_what_does_well_with_two_is_no_single_writer(image: str) -> None:
    assert look("start-first-single-writer", DB.replace("mongo:7", image)) == []


def test_nginx_may_share_its_volume() -> None:
    assert look("start-first-shared-volume", DB.replace("mongo:7", "nginx:1.27")) == []


@pytest.mark.parametrize(
    "environment", ["{DATABASE_URL: 'sqlite:////data/app.db'}", "{DB_CONNECTION: sqlite}", "[DB_TYPE=sqlite3]"]
)
def test_sqlite_in_a_volume_is_a_single_writer_too(environment: str) -> None:
    text = DB.replace("mongo:7", f"demo/app:1\n    environment: {environment}")
    assert told("start-first-single-writer", text) == ["db error likely 6"]
    assert look("start-first-shared-volume", text) == []


def test_sqlite_without_a_volume_is_nobody_elses() -> None:
    text = DB.replace("mongo:7", "demo/app:1\n    environment: {DB_CONNECTION: sqlite}").replace("dbdata:/", "/")
    assert look("start-first-single-writer", text) == []


def test_several_databases_on_one_volume() -> None:
    text = DB.replace("replicas: 1", "replicas: 3")
    assert told("single-writer-replicated", text) == ["db warning likely 5"]
    assert look("single-writer-replicated", DB) == []
    each = text.replace('"dbdata:/data/db"', "{type: volume, source: 'db-{{.Task.Slot}}', target: /data/db}")
    assert look("single-writer-replicated", each) == []
    assert look("single-writer-replicated", text.replace("mongo:7", "demo/app:1")) == []


def test_under_compose_no_other_node_is_spoken_of() -> None:
    text = "services: {db: {image: redis:7, volumes: ['kept:/data'], deploy: {replicas: 2}}}\nvolumes: {kept: {}}\n"
    (swarm,) = look("single-writer-replicated", text)
    (compose,) = look("single-writer-replicated", text, "compose")
    assert "each other node" in swarm.effect
    assert compose.effect.startswith("2 instances of redis write to the volume kept together: all but the first fail")


MOUNTED = "services:\n  web:\n    image: demo/web:1\n    volumes:\n      - {volume}\nvolumes: {{d: {{}}, data: {{}}}}\n"


@pytest.mark.parametrize(
    ("volume", "sure"),
    [
        ("d:/var/lib/x", "likely"),
        ("data:var/lib/x", "certain"),
        ("cache", "certain"),
        ("{type: tmpfs, target: run}", "certain"),
    ],
)
def test_a_target_that_is_no_absolute_path_is_refused_by_the_engine(volume: str, sure: str) -> None:
    (found,) = look("mount-target-relative", MOUNTED.format(volume=volume))
    assert (found.severity, found.certainty, found.place.line) == ("error", sure, 5)
    assert ("give the volume a name" in found.fix) == (volume[:2] == "d:")


@pytest.mark.parametrize(
    "volume",
    [
        "data:/var/lib/x",
        "/var/lib/x",
        "./here:/x:ro",
        "$DATA:/x",
        "data:$PLACE",
        "d:/a:c:/b",
        "{target: '{{.Node.ID}}'}",
    ],
)
def test_a_target_that_is_absolute_or_not_known_is_none(volume: str) -> None:
    assert look("mount-target-relative", MOUNTED.format(volume=volume)) == []
