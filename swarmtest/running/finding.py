"""What comes of looking at a machine and a stack before anything is deployed."""

from __future__ import annotations

from dataclasses import dataclass

from swarmtest.errors import UsageError


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        state: ``ok``, ``warning`` (a run goes on) or ``missing`` (it can't).
        advice: what to do, empty where all is well.
    """

    subject: str
    state: str
    text: str
    advice: str = ""

    def as_error(self) -> UsageError:
        """The finding as the one message that ends a run."""
        return UsageError(
            f"{self.subject}: {self.text}; {self.advice}" if self.advice else f"{self.subject}: {self.text}"
        )
