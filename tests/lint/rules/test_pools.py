from __future__ import annotations

import pytest

from swarmtest.lint.programs.pools import limit_of, pool_of
from tests.lint.looking import look, stack, told

SHOP = """\
services:
  api:
    image: demo/api:1
    command: {command}
    environment:
      DATABASE_URL: postgres://u:p@db:5432/shop
      {pool}
    deploy: {{replicas: 4, update_config: {{order: {order}}}}}
  db:
    image: {image}
    command: {limit}
"""


def shop(
    pool: str = "DB_POOL: 30",
    limit: str = "postgres -c max_connections=100",
    order: str = "stop-first",
    image: str = "postgres:16",
    command: str = "./api",
) -> str:
    return SHOP.format(pool=pool, limit=limit, order=order, image=image, command=command)


def test_replicas_times_pool_against_the_stated_limit() -> None:
    (found,) = look("pools-exceed-connections", shop())
    assert told("pools-exceed-connections", shop()) == ["api error certain 7"]
    assert "4 x DB_POOL 30 = 120 connections to db" in found.effect
    assert "max_connections is 100 there, 97 without" in found.effect


def test_start_first_adds_those_of_the_new_instances() -> None:
    (found,) = look("pools-exceed-connections", shop("DB_POOL: 20", order="start-first"))
    assert (found.severity, found.certainty) == ("warning", "certain")
    assert "= 80 connections" in found.effect
    assert "100 while new instances start" in found.effect
    assert look("pools-exceed-connections", shop("DB_POOL: 20")) == []


def test_as_many_as_there_are_is_not_too_many() -> None:
    assert look("pools-exceed-connections", shop("DB_POOL: 25", "postgres -c max_connections=103")) == []
    assert look("pools-exceed-connections", shop("DB_POOL: 25", "postgres -c max_connections=102")) != []


def test_the_default_of_the_server_is_only_likely() -> None:
    text = shop(limit='["postgres"]')
    assert told("pools-exceed-connections", text) == ["api warning likely 7"]
    (found,) = look("pools-exceed-connections", text)
    assert "100 is the default" in found.effect


@pytest.mark.parametrize(
    ("image", "limit"),
    [
        ("postgres:16", "postgres -c shared_buffers=1GB -c max_connections=50"),
        ("postgres:16", '["postgres", "-cmax_connections=50"]'),
        ("postgis/postgis:16", "postgres --max_connections=50"),
        ("mysql:8", "--max-connections=50"),
        ("mariadb:11", "mariadbd --max_connections=50"),
        ("postgres:16", 'sh -c "exec postgres -c max_connections=50"'),
        ("bitnami/postgresql:16", 'x\n    environment: {POSTGRESQL_MAX_CONNECTIONS: "50"}'),
    ],
)
def test_the_ways_in_which_a_limit_is_stated(image: str, limit: str) -> None:
    service = stack(shop(image=image, limit=limit)).services[1]
    found = limit_of(service)
    assert found is not None
    assert (found.connections, found.stated) == (50, True)


@pytest.mark.parametrize(
    ("pool", "command", "connections"),
    [
        ("DB_POOL: 5", "./api", 5),
        ("POOL_SIZE: '7'", "./api", 7),
        ("PGPOOL: 8", "./api", 8),
        ("DATABASE_POOL_SIZE: 9", "./api", 9),
        ("SPRING_DATASOURCE_HIKARI_MAXIMUM_POOL_SIZE: 30", "java -jar app.jar", 30),
        ("SPRING_DATASOURCE_HIKARI_MAXIMUMPOOLSIZE: 30", "java -jar app.jar", 30),
        ("SQLALCHEMY_POOL_SIZE: 5", "./api", 15),
        ("SQLALCHEMY_POOL_SIZE: 5\n      SQLALCHEMY_MAX_OVERFLOW: 2", "./api", 7),
        ("DB_POOL_SIZE: 5\n      DB_MAX_OVERFLOW: 3", "./api", 8),
        ("DB_POOL: 5", "gunicorn app:app -w 4", 20),
        ("DB_POOL: 5", "gunicorn app:app --workers=3", 15),
        ("DB_POOL: 5", "uvicorn app:app --workers 2", 10),
        ("DB_POOL: 5\n      WEB_CONCURRENCY: 3", "bundle exec puma", 15),
        ("RAILS_MAX_THREADS: 5\n      WEB_CONCURRENCY: 2", "bundle exec puma -C config/puma.rb", 10),
        ("DB_POOL: 6", "bundle exec puma -w 2 -t 5:5", 12),
        ("URL: postgresql://db/shop?connection_limit=12", "node server.js", 12),
        ("DB_POOL: 5", "./tool -w 4", 5),
        ("DB_POOL: 5\n      WEB_CONCURRENCY: 0", "bundle exec puma", 5),
    ],
)
def test_the_pools_that_are_known(pool: str, command: str, connections: int) -> None:
    found = pool_of(stack(shop(pool, command=command)).services[0])
    assert found is not None
    assert found.connections == connections


@pytest.mark.parametrize(
    "pool", ["REDIS_POOL_SIZE: 50", "THREAD_POOL_SIZE: 50", "DB_POOL: '${POOL}'", "DB_POOL: many", "DB_POOL: 0"]
)
def test_what_is_no_pool_of_connections_is_not_counted(pool: str) -> None:
    assert pool_of(stack(shop(pool)).services[0]) is None
    assert look("pools-exceed-connections", shop(pool)) == []


def test_a_client_of_another_database_is_not_counted() -> None:
    assert look("pools-exceed-connections", shop().replace("@db:5432", "@db.example:5432")) == []


def test_a_client_that_names_no_host_is_likely_the_only_databases() -> None:
    text = shop().replace("DATABASE_URL: postgres://u:p@db:5432/shop", "LOG: info")
    assert told("pools-exceed-connections", text) == ["api warning likely 7"]
    other = text + "  db2: {image: mysql:8}\n"
    assert look("pools-exceed-connections", other) == []


def test_clients_are_added_up_and_the_largest_is_the_place() -> None:
    small = shop("DB_POOL: 20") + "  jobs: {image: demo/jobs:1, environment: {DB_HOST: db, DB_POOL: 30}}\n"
    (found,) = look("pools-exceed-connections", small)
    assert "4 x DB_POOL 20 + 1 x DB_POOL 30 = 110" in found.effect
    assert found.place.line == 7


def test_a_number_of_instances_that_can_not_be_known_counts_as_none() -> None:
    assert look("pools-exceed-connections", shop().replace("replicas: 4", "mode: global")) == []
    assert look("pools-exceed-connections", shop().replace("replicas: 4", "replicas: '${N}'")) == []


def test_a_pooler_is_a_client_of_the_database_and_a_server_to_the_others() -> None:
    text = """\
services:
  api: {image: demo/api:1, environment: {DB_HOST: pool, DB_POOL: 30}, deploy: {replicas: 4}}
  pool:
    image: edoburu/pgbouncer:1
    environment: {DATABASE_URL: "postgres://u:p@db/x", MAX_CLIENT_CONN: 500, DEFAULT_POOL_SIZE: 40}
    deploy: {replicas: 3}
  db: {image: postgres:16}
"""
    (found,) = look("pools-exceed-connections", text)
    assert "3 x DEFAULT_POOL_SIZE 40 = 120 connections to db" in found.effect
    small = text.replace("500", "100").replace("SIZE: 40", "SIZE: 20")
    (client,) = look("pools-exceed-connections", small)
    assert "connections to pool" in client.effect


def test_without_a_database_in_the_stack_nothing_is_known() -> None:
    assert look("pools-exceed-connections", shop(image="demo/db:1")) == []
