"""Which lanes send a kind of traffic: one entry for each protocol, and what all of them are given."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from swarmtest.traffic.download import DownloadClient, DownloadTemplate
from swarmtest.traffic.http1 import Client, Limits
from swarmtest.traffic.lanes import Crew, Lane, Stop, Template, expectation_of
from swarmtest.traffic.ledger import Ledger
from swarmtest.traffic.pacing import Pace, is_fresh
from swarmtest.traffic.records import Record
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.targets import Targets
from swarmtest.traffic.upload import UploadClient, UploadTemplate


class Runs(Protocol):
    """One user's work, from the start of the traffic to its end."""

    def run(self, start: float, stop: Stop) -> None: ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What every protocol's lanes are given.

    Attributes:
        report: told of each finished record, for Locust's own statistics.
        new_crew: makes what runs requests beside each other; None sends them one after the other.
        numbers: gives each connection its number, shared by all clients of the process.
    """

    settings: TrafficSettings
    targets: Targets
    ledger: Ledger
    report: Callable[[Record], None]
    new_crew: Callable[[], Crew] | None = None
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))


def http1(kind: Kind, tools: Tools) -> Iterator[Runs]:
    """The lanes of a kind of HTTP/1.1 requests."""
    return _lanes(kind, tools, Template(tools.settings, kind), Client)


def upload(kind: Kind, tools: Tools) -> Iterator[Runs]:
    """The lanes of a kind of large uploads."""
    return _lanes(kind, tools, UploadTemplate(tools.settings, kind), UploadClient)


def download(kind: Kind, tools: Tools) -> Iterator[Runs]:
    """The lanes of a kind of large downloads."""
    return _lanes(kind, tools, DownloadTemplate(tools.settings, kind), DownloadClient)


def _lanes(kind: Kind, tools: Tools, template: Template, client: type[Client]) -> Iterator[Runs]:
    """The lanes of a kind that's sent with one client for each request that's under way.

    A kind that names its number of lanes itself asks for a closed loop and gets no crew.
    """
    settings = tools.settings
    limits = Limits(settings.timeout_seconds, settings.connect_timeout_seconds)
    pace = Pace.of(kind, settings.seed)
    expectation = expectation_of(settings, kind)
    for number in range(pace.lanes):
        keeps = not is_fresh(number, settings.fresh_share)
        new_client = partial(client, tools.targets, limits, expectation, keeps=keeps, numbers=tools.numbers)
        crew = tools.new_crew() if tools.new_crew is not None and kind.lanes is None else None
        yield Lane(number, pace, template, new_client, keeps, tools.ledger, tools.report, crew)


LANES: Mapping[str, Callable[[Kind, Tools], Iterator[Runs]]] = {"http1": http1, "upload": upload, "download": download}
"""How each protocol of ``settings.PROTOCOLS`` is sent."""


def lanes_for(tools: Tools) -> Iterator[Runs]:
    """All lanes of all kinds, in the order in which users are to take them; each takes ``pacing.lanes_of`` users."""
    for kind in tools.settings.kinds:
        yield from LANES[kind.protocol](kind, tools)
