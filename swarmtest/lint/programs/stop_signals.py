"""How programs take their signals, by image and by name, and what images have in them.

Read in the Dockerfiles of the images. A fork or an image of one's own may differ, so only the named ones are known.
"""

from __future__ import annotations

from dataclasses import dataclass

from swarmtest.lint.programs.official import official
from swarmtest.lint.services import Image


@dataclass(frozen=True, slots=True)
class StopSignals:
    """How a program takes its signals.

    Attributes:
        program: its name, as people say it.
        drains: the signal at which it finishes what it's doing.
        cuts: signals at which it ends at once.
        image_sets: whether the official image has ``drains`` as its own stop signal.
    """

    program: str
    drains: str
    cuts: frozenset[str]
    image_sets: bool = True


_NGINX = StopSignals("nginx", "SIGQUIT", frozenset({"SIGTERM", "SIGINT"}))
_HTTPD = StopSignals("Apache", "SIGWINCH", frozenset({"SIGTERM", "SIGINT"}))
_FPM = StopSignals("php-fpm", "SIGQUIT", frozenset({"SIGTERM", "SIGINT"}))
_HAPROXY = StopSignals("HAProxy", "SIGUSR1", frozenset({"SIGTERM", "SIGINT"}))
_UNICORN = StopSignals("unicorn", "SIGQUIT", frozenset({"SIGTERM", "SIGINT"}), image_sets=False)
_GUNICORN = StopSignals("gunicorn", "SIGTERM", frozenset({"SIGINT", "SIGQUIT"}), image_sets=False)
_UWSGI = StopSignals("uWSGI", "SIGQUIT", frozenset(), image_sets=False)
_HUEY = StopSignals("huey", "SIGINT", frozenset({"SIGTERM"}), image_sets=False)
_RESQUE = StopSignals("Resque", "SIGQUIT", frozenset({"SIGTERM", "SIGINT"}), image_sets=False)
_CELERY = StopSignals("Celery", "SIGTERM", frozenset({"SIGQUIT"}), image_sets=False)

_BY_IMAGE = {"nginx": _NGINX, "openresty": _NGINX, "httpd": _HTTPD, "haproxy": _HAPROXY}
_BY_PROGRAM = {
    "nginx": _NGINX,
    "openresty": _NGINX,
    "httpd": _HTTPD,
    "httpd-foreground": _HTTPD,
    "apache2-foreground": _HTTPD,
    "apache2ctl": _HTTPD,
    "php-fpm": _FPM,
    "haproxy": _HAPROXY,
    "unicorn": _UNICORN,
    "unicorn_rails": _UNICORN,
    "gunicorn": _GUNICORN,
    "uwsgi": _UWSGI,
    "huey_consumer": _HUEY,
    "huey_consumer.py": _HUEY,
    "run_huey": _HUEY,
    "resque:work": _RESQUE,
    "celery": _CELERY,
}
_WITH_PHP = frozenset({"php", "wordpress", "nextcloud", "drupal", "joomla", "matomo"})
_POSTGRES = frozenset({"postgres", "postgis", "timescaledb", "timescaledb-ha", "pgvector"})


def signals_of_image(image: Image) -> StopSignals | None:
    """How the program in an official image takes its signals; None where the image isn't known."""
    if image.name == "nginx-unprivileged" and image.repository.endswith("nginxinc/nginx-unprivileged"):
        return _NGINX
    if image.name == "openresty" and image.repository.endswith("openresty/openresty"):
        return _NGINX
    if not official(image):
        return None
    if image.name in _WITH_PHP and "fpm" in image.tag:
        return _FPM
    if image.name in _WITH_PHP:
        return _HTTPD if image.name != "php" or "apache" in image.tag else None
    return _BY_IMAGE.get(image.name)


def signals_of_program(words: tuple[str, ...]) -> StopSignals | None:
    """How a program takes its signals."""
    name = words[0].rpartition("/")[2] if words else ""
    if name.startswith("php-fpm"):
        return _FPM
    if name in {"rake", "rails", "python", "python3", "manage.py"}:
        return next((_BY_PROGRAM[word] for word in words[1:] if word in ("resque:work", "run_huey")), None)
    return _BY_PROGRAM.get(name)


def looks_like_nginx(image: Image) -> bool:
    """Whether an image is nginx by its name, but not the official one: what its stop signal is can't be known."""
    name = image.name.lower()
    return "nginx" in name and not any(part in name for part in _BESIDE_NGINX)


_BESIDE_NGINX = ("exporter", "manager", "companion", "proxy-gen", "config", "letsencrypt", "acme", "ui", "gen")


def postgres(image: Image) -> bool:
    """Whether it's PostgreSQL with the official entrypoint."""
    return image.name in _POSTGRES and "bitnami" not in image.repository


def alpine(image: Image) -> bool:
    """Whether its name says that it's made of Alpine: BusyBox, and no curl unless somebody put it in."""
    return "alpine" in image.tag or image.name == "alpine"


def slim(image: Image) -> bool:
    """Whether its name says that it's Debian without the usual tools: neither curl nor wget."""
    return "slim" in image.tag and not alpine(image)


def shell_less(image: Image) -> bool:
    """Whether its name says that there's no shell in it."""
    named = "distroless" in image.repository or "distroless" in image.tag or "cgr.dev/chainguard" in image.repository
    return named and not any(part in image.tag for part in ("debug", "-dev"))


def has_curl(image: Image) -> bool:
    """Whether the official image is known to have curl, of whatever kind."""
    return (official(image) and image.name in _WITH_CURL) or image.repository == "curlimages/curl"


_WITH_CURL = frozenset(
    {"nginx", "php", "wordpress", "nextcloud", "elasticsearch", "kibana", "logstash", "solr", "influxdb"}
)
