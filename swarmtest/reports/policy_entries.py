"""What the document says of retries, and of the first requests on new instances.

Not a report: it has no ``render``.
"""

from __future__ import annotations

import msgspec


class FirstRequests(msgspec.Struct, frozen=True):
    """How quick the first requests on an instance were, of the kind of which they were slowest beside usual ones.

    ``first_ms`` is what half of them took at most, ``first_most_ms`` what the slowest did; ``usual_ms`` and
    ``usual_most_ms`` are the same of later ones, or of other instances meanwhile where those were slower.
    """

    kind: str
    first_ms: float
    first_most_ms: float
    usual_ms: float
    usual_most_ms: float


class RetryEntry(msgspec.Struct, frozen=True):
    """What came of the retries of one kind of traffic; losses are counted by try, whatever came of it.

    ``tries`` is all that was sent for ``requests``. ``lost_first`` of the first tries were lost, ``saved`` of these
    were answered on a later one, and ``unbudgeted`` tries weren't followed by another for want of budget.
    """

    kind: str
    requests: int
    tries: int
    amplification: float
    lost_first: int
    saved: int
    unbudgeted: int
    budget: float
