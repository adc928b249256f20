"""What a kind of traffic says of retries: off, unless it has the key, and never without a budget."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from swarmtest.stack.reader import TOKEN, Reader, decimal, refuse_unknown, span

REASONS = ("refused", "unserved", "closed", "timed_out")
"""What a try can be lost to, beside the status of an answer."""

DEFAULT_ON = ("refused", "unserved", "closed", "502", "503", "504")
DEFAULT_KEY = "Idempotency-Key"
MOST_ATTEMPTS = 10
_KEYS = ("budget", "attempts", "backoff", "on", "idempotency_key")
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]+)?) ?%")


@dataclass(frozen=True, slots=True)
class Retrying:
    """The policy of a client that tries again.

    Attributes:
        budget: so many retries for each request of the last ten seconds; 0.1 is one for ten.
        attempts: tries of one request in all.
        on: what's worth another try: names of :data:`REASONS`, or a status.
        key_header: header of the idempotency key; None: none is sent, and only what's safe is sent again.
    """

    budget: float
    attempts: int
    backoff_seconds: float
    on: tuple[str, ...]
    key_header: str | None


def read_retries(kind: Reader) -> Retrying | None:
    """The policy under ``retries`` of a kind; None where there's none.

    Raises:
        StackError: a key that isn't known, a value that can't be, or no budget.
    """
    if kind.body.get("retries") is None:
        return None
    reader = kind.part("retries")
    refuse_unknown(reader, _KEYS)
    attempts = reader.whole("attempts", 3, least=2)
    if attempts > MOST_ATTEMPTS:
        raise reader.error(f"expected up to {MOST_ATTEMPTS} tries of a request in all, found {attempts}", "attempts")
    return Retrying(_budget(reader), attempts, span(reader, "backoff", 0.1), _reasons(reader), _key_header(reader))


def _budget(reader: Reader) -> float:
    value = reader.body.get("budget")
    if value is None:
        raise reader.error('retries need a budget, such as "10%" of the requests', "budget")
    percent = _PERCENT.fullmatch(str(value).strip())
    share = float(percent[1]) / 100 if percent else decimal(value)
    if share is None or not 0 < share <= 1:
        raise reader.error(f'expected a share of the requests above zero and up to "100%", found {value!r}', "budget")
    return share


def _reasons(reader: Reader) -> tuple[str, ...]:
    value: Any = reader.body.get("on")
    if value is None:
        return DEFAULT_ON
    found = [str(item) for item in (value if isinstance(value, list) else [value])]
    if odd := [item for item in found if item not in REASONS and not re.fullmatch(r"[45][0-9]{2}", item)]:
        raise reader.error(f"expected some of {', '.join(REASONS)} or statuses such as 503, found {odd[0]!r}", "on")
    return tuple(dict.fromkeys(found))


def _key_header(reader: Reader) -> str | None:
    value = reader.body.get("idempotency_key", False)
    if value in (True, False, "true", "false", None):
        return DEFAULT_KEY if value in (True, "true") else None
    if not isinstance(value, str) or not TOKEN.fullmatch(value):
        raise reader.error(f"expected true, false or the name of a header, found {value!r}", "idempotency_key")
    return value
