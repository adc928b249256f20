"""Which lanes send a kind of traffic: one entry for each protocol, and what all of them are given."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Protocol

from swarmtest.traffic.arrivals import Arrivals, Crew, Loop, Sends, Stop
from swarmtest.traffic.download import DownloadClient, DownloadTemplate
from swarmtest.traffic.http1 import Client, Limits
from swarmtest.traffic.http2_connections import ConnectionFile
from swarmtest.traffic.http2_lanes import StreamLane, StreamTemplate
from swarmtest.traffic.http2_session import Terms
from swarmtest.traffic.http2_sharing import Connections, Dialer
from swarmtest.traffic.lanes import Lane, Template, expectation_of
from swarmtest.traffic.ledger import Ledger
from swarmtest.traffic.pacing import Pace, is_fresh
from swarmtest.traffic.retries import Budget, Policy, RetryingLane
from swarmtest.traffic.sessions import Session, Surroundings
from swarmtest.traffic.settings import Kind, TrafficSettings
from swarmtest.traffic.stream_calibration import SPEAKERS
from swarmtest.traffic.streams import StreamBook
from swarmtest.traffic.targets import Targets
from swarmtest.traffic.upload import UploadClient, UploadTemplate


class Runs(Protocol):
    """One user's work, from the start of the traffic to its end."""

    def run(self, start: float, stop: Stop) -> None: ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What every protocol's lanes are given.

    Attributes:
        new_crew: makes what runs requests beside each other; None makes loops of them.
        numbers: gives each connection its number, shared by all clients of the process.
    """

    settings: TrafficSettings
    targets: Targets
    ledger: Ledger
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
    """The users of a kind that's sent with one client for each request that's under way."""
    settings = tools.settings
    limits = Limits(settings.timeout_seconds, settings.connect_timeout_seconds)
    pace = Pace.of(kind, settings.seed)
    expectation = expectation_of(settings, kind)
    policy = _policy(kind, settings.seed)
    lanes: list[Sends] = []
    for number in range(pace.lanes):
        keeps = not is_fresh(number, settings.fresh_share)
        new_client = partial(client, tools.targets, limits, expectation, keeps=keeps, numbers=tools.numbers)
        lane = Lane(template, pace, tools.ledger, new_client, keeps=keeps)
        lanes.append(lane if policy is None else RetryingLane(lane, policy))
    yield from users_of(kind, pace, lanes, tools)


def _policy(kind: Kind, seed: int) -> Policy | None:
    """What's sent again of a kind, with the one budget of all its lanes; None for nothing."""
    if kind.retries is None:
        return None
    return Policy(kind.retries, Budget(kind.retries.budget), Random(f"{seed}/{kind.name}/retries"))


def users_of(kind: Kind, pace: Pace, lanes: Sequence[Sends], tools: Tools) -> Iterator[Runs]:
    """What sends on these lanes: one user on all of them by a schedule, or a user on each in a closed loop.

    A kind that names its number of lanes itself asks for a closed loop.
    """
    if kind.lanes is None and tools.new_crew is not None:
        yield Arrivals(pace, lanes, tools.ledger, tools.new_crew())
    else:
        yield from (Loop(number, len(lanes), lane, pace) for number, lane in enumerate(lanes))


def h2(kind: Kind, tools: Tools) -> Iterator[Runs]:
    """The users of a kind of HTTP/2 requests: as many lanes share a connection as it carries streams at once."""
    settings = tools.settings
    limits = Limits(settings.timeout_seconds, settings.connect_timeout_seconds)
    pace, template = Pace.of(kind, settings.seed), StreamTemplate(settings, kind)
    told = ConnectionFile(Path(settings.out)).write
    dialers = [
        Dialer(tools.targets, limits, Terms(kind.streams, in_all), kind.name, tools.numbers, told)
        for in_all in (None, kind.streams)
    ]
    sharing: dict[bool, Connections] = {}
    policy = _policy(kind, settings.seed)
    lanes: list[Sends] = []
    for number in range(pace.lanes):
        fresh = is_fresh(number, settings.fresh_share)
        if fresh not in sharing or sharing[fresh].users == kind.streams:
            sharing[fresh] = Connections(dialers[fresh], expectation_of(settings, kind))
        lane = StreamLane(template, pace, tools.ledger, sharing[fresh])
        lanes.append(lane if policy is None else RetryingLane(lane, policy))
    yield from users_of(kind, pace, lanes, tools)


def streams(kind: Kind, tools: Tools) -> Iterator[Runs]:
    """The sessions of a kind of stream: each user holds one open."""
    book = StreamBook(Path(tools.settings.out))
    speak = SPEAKERS[kind.protocol]
    around = Surroundings(tools.settings, kind, tools.targets, speak, book.write, tools.numbers)
    yield from (Session(number, around) for number in range(kind.sessions or 1))


LANES: Mapping[str, Callable[[Kind, Tools], Iterator[Runs]]] = {
    "http1": http1,
    "h2": h2,
    "upload": upload,
    "download": download,
    "websocket": streams,
    "sse": streams,
}
"""How each protocol of ``settings.PROTOCOLS`` is sent."""


def lanes_for(tools: Tools) -> Iterator[Runs]:
    """All users of all kinds, in the order in which Locust's users are to take them, one each."""
    for kind in tools.settings.kinds:
        yield from LANES[kind.protocol](kind, tools)
