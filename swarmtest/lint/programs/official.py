"""The names of Docker's own library of images, which stand without an owner in front.

An image that somebody builds on the spot has no owner's name either, so the name itself has to be known. Images of the
library have no health check, and start their program directly.
"""

from __future__ import annotations

from swarmtest.lint.services import Image

_HUBS = frozenset({"", "library/", "docker.io/", "docker.io/library/", "index.docker.io/library/"})
_SYSTEMS = (
    "almalinux alpine amazonlinux archlinux bash buildpack-deps busybox debian fedora opensuse oraclelinux photon"
    " rockylinux ubuntu"
)
_LANGUAGES = (
    "amazoncorretto clojure composer dart eclipse-temurin elixir erlang gcc golang gradle groovy haskell"
    " ibm-semeru-runtimes jruby julia maven node openjdk perl php pypy python r-base ruby rust sapmachine swift"
)
_SERVERS = (
    "adminer arangodb caddy cassandra chronograf consul couchbase couchdb crate docker eclipse-mosquitto elasticsearch"
    " emqx flink fluentd haproxy hitch httpd influxdb jetty kapacitor kibana kong liquibase logstash mariadb memcached"
    " mongo mongo-express mysql nats neo4j nginx open-liberty percona phpmyadmin postgres rabbitmq redis registry"
    " rethinkdb solr spark storm telegraf tomcat tomee traefik unit varnish vault zookeeper"
)
_APPS = (
    "backdrop drupal friendica ghost joomla matomo mediawiki monica nextcloud odoo plone redmine rocket.chat sonarqube"
    " wordpress xwiki yourls znc"
)
_NAMES = frozenset(" ".join((_SYSTEMS, _LANGUAGES, _SERVERS, _APPS)).split())


def official(image: Image) -> bool:
    """Whether it's one of Docker's own library."""
    return image.name in _NAMES and image.repository.removesuffix(image.name) in _HUBS
