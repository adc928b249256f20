"""What an instance says about itself: warm, ready, winding down; each change leaves a line in the log."""

from __future__ import annotations

from swarmtest_contract import Journal


class State:
    """The answers to the probes, and whether answers end their connections.

    Withdrawn and winding down are two things: an instance that was withdrawn from outside, without a signal,
    turns its front door away but ends no connection.
    """

    def __init__(self, journal: Journal, *, ready_lies: bool = False) -> None:
        self._journal = journal
        self._ready_lies = ready_lies
        self.warm = False
        self.withdrawn = False
        self.ends_connections = False

    @property
    def ready(self) -> bool:
        """For the front door: false while warming and from the withdrawal on."""
        return (self.warm or self._ready_lies) and not self.withdrawn

    @property
    def healthy(self) -> bool:
        """For Swarm: false until warm, then always true, for Swarm kills what is unhealthy."""
        return self.warm or self._ready_lies

    def warm_up(self) -> None:
        """Be ready from now on."""
        self.warm = True
        self._journal.lifecycle("warm")

    def withdraw(self) -> None:
        """Be unready from now on, and go on serving."""
        if not self.withdrawn:
            self.withdrawn = True
            self._journal.lifecycle("unready")
