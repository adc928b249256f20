"""The same settings for those who don't deploy with this stack file."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor

from swarmtest.reports.tune import Recommendation
from swarmtest.tune.recommend import SWARM_PAUSE_SECONDS
from swarmtest.tune.settings import DELAY, MONITOR


def kubernetes(service: str, found: Recommendation) -> str:
    """A part of a Deployment.

    Kubernetes takes a pod out of its endpoints and sends the signal at the same moment, where Swarm waits two seconds
    in between: the ``preStop`` sleep stands for these, and it's part of the grace.
    """
    sleep = ceil(SWARM_PAUSE_SECONDS)
    period = max(1, floor(found.sum.wait))
    return f"""\
# of the Deployment of {service}; preStop is part of the grace: {sleep} s + {found.grace_seconds} s
spec:
  template:
    spec:
      terminationGracePeriodSeconds: {sleep + found.grace_seconds}
      containers:
        - name: {service}
          lifecycle:
            preStop:
              exec: {{command: ["sleep", "{sleep}"]}}
          readinessProbe:
            periodSeconds: {period}  # noticed within the app's own wait of {found.sum.wait:.1f} s
            failureThreshold: 1
"""


def compose(service: str, found: Recommendation) -> str:
    """A part of a Compose file, which has no pace of updates."""
    return f"""\
services:
  {service}:
    stop_grace_period: {found.grace_seconds}s
"""


def service_update(service: str, found: Recommendation) -> str:
    """The command that changes a running service; instances made from then on have the new grace."""
    flags = {DELAY: "--update-delay", MONITOR: "--update-monitor"}
    words = [
        f" {flags[each.key]} {each.seconds}s"
        for each in found.settings
        if each.key in flags and each.seconds is not None and not each.fits
    ]
    return f"docker service update --stop-grace-period {found.grace_seconds}s{''.join(words)} STACK_{service}\n"


EMITTERS: dict[str, Callable[[str, Recommendation], str]] = {
    "kubernetes": kubernetes,
    "compose": compose,
    "service-update": service_update,
}
