"""What's known of public images: which of them keep data that only one process may write.

A name is the last part of an image's path, or the last two where the last alone says too little. Others may build
an image of the same name that does something else; so whatever rests on this is *likely*, never *certain*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from swarmtest.lint.services import Image, LintService, Mount

_POSTGRES = ("/var/lib/postgresql", "/bitnami/postgresql", "/home/postgres/pgdata", "/pgdata", "/var/lib/pgsql")
_MYSQL = ("/var/lib/mysql", "/bitnami/mysql", "/bitnami/mariadb")
_MONGO = ("/data/db", "/data/configdb", "/bitnami/mongodb")
_REDIS = ("/data", "/bitnami/redis", "/bitnami/valkey", "/var/lib/redis")

POSTGRES = frozenset(
    ("postgres", "postgresql", "postgis", "pgvector", "timescaledb", "timescaledb-ha", "spilo", "postgresql-repmgr")
)
MYSQL = frozenset(("mysql", "mysql-server", "mariadb", "percona", "percona-server"))

_WRITERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(POSTGRES, _POSTGRES),
    "supabase/postgres": _POSTGRES,
    **dict.fromkeys(MYSQL, _MYSQL),
    **dict.fromkeys(("mongo", "mongodb", "mongodb-community-server", "percona-server-mongodb"), _MONGO),
    **dict.fromkeys(("redis", "redis-stack", "redis-stack-server", "valkey", "keydb", "dragonfly"), _REDIS),
    "mssql/server": ("/var/opt/mssql",),
    "mssql-server-linux": ("/var/opt/mssql",),
    "database/express": ("/opt/oracle/oradata",),
    "oracle-xe": ("/opt/oracle/oradata",),
    "oracle-free": ("/opt/oracle/oradata",),
    "rabbitmq": ("/var/lib/rabbitmq", "/bitnami/rabbitmq"),
    "nats": ("/data", "/nats"),
    "kafka": ("/var/lib/kafka", "/bitnami/kafka", "/kafka"),
    "cp-kafka": ("/var/lib/kafka",),
    "redpanda": ("/var/lib/redpanda",),
    "zookeeper": ("/data", "/datalog", "/bitnami/zookeeper"),
    "cp-zookeeper": ("/var/lib/zookeeper",),
    "activemq-artemis": ("/var/lib/artemis-instance",),
    "activemq": ("/opt/activemq/data", "/data"),
    "activemq-classic": ("/opt/apache-activemq/data",),
    "eclipse-mosquitto": ("/mosquitto/data",),
    "beanstalkd": ("/var/lib/beanstalkd",),
    "elasticsearch": ("/usr/share/elasticsearch/data", "/bitnami/elasticsearch"),
    "opensearch": ("/usr/share/opensearch/data",),
    "solr": ("/var/solr", "/opt/solr"),
    "meilisearch": ("/meili_data", "/data.ms"),
    "typesense": ("/data",),
    "qdrant": ("/qdrant/storage",),
    "weaviate": ("/var/lib/weaviate",),
    "chroma": ("/chroma", "/data"),
    "milvus": ("/var/lib/milvus",),
    "influxdb": ("/var/lib/influxdb", "/var/lib/influxdb2"),
    "prometheus": ("/prometheus", "/opt/bitnami/prometheus/data"),
    "victoria-metrics": ("/victoria-metrics-data", "/storage"),
    "alertmanager": ("/alertmanager",),
    "loki": ("/loki",),
    "tempo": ("/var/tempo",),
    "grafana": ("/var/lib/grafana",),
    "grafana-oss": ("/var/lib/grafana",),
    "grafana-enterprise": ("/var/lib/grafana",),
    "clickhouse-server": ("/var/lib/clickhouse",),
    "clickhouse": ("/var/lib/clickhouse", "/bitnami/clickhouse"),
    "cassandra": ("/var/lib/cassandra", "/bitnami/cassandra"),
    "scylla": ("/var/lib/scylla",),
    "cockroach": ("/cockroach/cockroach-data",),
    "neo4j": ("/data",),
    "arangodb": ("/var/lib/arangodb3",),
    "couchdb": ("/opt/couchdb/data",),
    "couchbase": ("/opt/couchbase/var",),
    "rethinkdb": ("/data",),
    "surrealdb": ("/data", "/mydata"),
    "etcd": ("/etcd-data", "/bitnami/etcd", "/var/lib/etcd"),
    "consul": ("/consul/data",),
    "vault": ("/vault/file", "/vault/data"),
    "minio": ("/data", "/bitnami/minio/data"),
    "gitea": ("/data", "/var/lib/gitea"),
    "forgejo": ("/data", "/var/lib/gitea"),
    "gitlab-ce": ("/var/opt/gitlab",),
    "gitlab-ee": ("/var/opt/gitlab",),
    "jenkins": ("/var/jenkins_home", "/bitnami/jenkins"),
    "jenkins/jenkins": ("/var/jenkins_home",),
    "nexus3": ("/nexus-data",),
    "sonarqube": ("/opt/sonarqube/data",),
    "portainer": ("/data",),
    "portainer-ce": ("/data",),
    "portainer-ee": ("/data",),
    "uptime-kuma": ("/app/data",),
    "vaultwarden/server": ("/data",),
    "pocketbase": ("/pb_data", "/pb/pb_data"),
    "pgadmin4": ("/var/lib/pgadmin",),
    "home-assistant": ("/config",),
    "baserow": ("/baserow/data",),
    "sqlite3": ("/data", "/root/db"),
}

_SHARERS = frozenset(
    ("nginx", "nginx-unprivileged", "openresty", "angie", "httpd", "apache", "haproxy", "caddy", "varnish", "registry")
).union(("static-web-server", "wordpress", "drupal", "joomla", "php", "nextcloud", "matomo"))
"""Several processes on one volume are their everyday work."""

_NO_DATA = ("/etc", "/docker-entrypoint", "/var/log", "/logs", "/log", "/run", "/var/run", "/var/cache")
_NO_DATA_PARTS = frozenset(("backup", "backups", "dump", "dumps", "certs", "ssl", "cache", "log", "logs", "tmp"))


def is_of(image: Image, names: frozenset[str]) -> bool:
    """Whether an image has one of these names."""
    return image.name in names


def data_folders(image: Image) -> tuple[str, ...] | None:
    """Where a known single writer keeps its data; None for every other image."""
    if image.name in _WRITERS:
        return _WRITERS[image.name]
    return _WRITERS.get("/".join(image.repository.rsplit("/", 2)[-2:]))


def shares_well(image: Image) -> bool:
    """Whether an image is known to do well with a second process on the same volume."""
    return image.name in _SHARERS


def own_data(service: LintService) -> Iterator[Mount]:
    """The writable mounts of a known single writer in which its data is, or seems to be."""
    folders = data_folders(service.image)
    if folders is None:
        return
    elsewhere = service.environment.get("PGDATA") or service.environment.get("GF_PATHS_DATA")
    folders = (*folders, elsewhere) if elsewhere else folders
    for mount in service.mounts:
        if (
            mount.kind == "tmpfs"
            or mount.read_only
            or not mount.source
            or "{{.Task.ID}}" in mount.source.replace(" ", "")
        ):
            continue
        inside = any(_within(mount.target, folder) or _within(folder, mount.target) for folder in folders)
        if inside or (mount.kind == "volume" and not _no_data(mount)):
            yield mount


def shared_volumes(service: LintService) -> Iterator[Mount]:
    """The named volumes that a service may write, and that look like more than a log or a cache."""
    for mount in service.mounts:
        named = mount.kind == "volume" and mount.source and not mount.read_only
        if named and not _no_data(mount) and "{{.Task.ID}}" not in mount.source.replace(" ", ""):
            yield mount


def _within(path: str, folder: str) -> bool:
    path, folder = path.rstrip("/"), folder.rstrip("/")
    return path == folder or path.startswith(folder + "/")


def _no_data(mount: Mount) -> bool:
    parts = mount.target.strip("/").split("/")
    return any(_within(mount.target, folder) for folder in _NO_DATA) or not _NO_DATA_PARTS.isdisjoint(parts)
