"""Sizes of memory as Docker reads them (docker/go-units ``size.go``, ``RAMInBytes``): every unit is one of 1,024."""

from __future__ import annotations

import re
from math import inf

_NUMBER = r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
"""Go's ``strconv.ParseFloat``, but for its hexadecimal numbers."""
_SIZE = re.compile(rf"({_NUMBER})[ ]?(?:([kmgtpKMGTP])(?:[iI]?[bB])?|[bB])?", re.ASCII)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def parse_size(text: object) -> int:
    """Bytes of ``"512M"``, ``"1.5 GiB"`` or a number.

    Raises:
        ValueError: Docker would refuse it.
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    found = _SIZE.fullmatch(text) if isinstance(text, str) else None
    try:
        number = float(found[1]) if found else -1.0
    except ValueError:
        number = -1.0
    if found is None or not 0 <= number < inf:
        raise ValueError(f'expected a size such as "512M" or "1g", found {text!r}')
    return int(number * 1024 ** (_POWERS[found[2].lower()] if found[2] else 0))


def is_size(text: object) -> bool:
    """Whether Docker takes it for a size."""
    try:
        parse_size(text)
    except ValueError:
        return False
    return True
