"""The short way of writing a mount, as docker/cli takes it apart (``cli/compose/loader/volume.go``).

One letter before a colon is a drive of Windows, so ``a:/data`` is no volume called ``a``.
"""

from __future__ import annotations

from dataclasses import dataclass

PROPAGATIONS = frozenset(("rprivate", "private", "rshared", "shared", "rslave", "slave"))


@dataclass(frozen=True, slots=True)
class ShortMount:
    """``[source:]target[:options]``; ``kind`` is bind where the source is a path, else volume."""

    kind: str
    source: str
    target: str
    options: tuple[str, ...] = ()


def short_mount(text: str) -> ShortMount | None:
    """The mount, None where Docker refuses it: an empty part, or too many of them."""
    if len(text) < 3:
        return ShortMount("volume", "", text) if text else None
    parts = _parts(text)
    if not 1 <= len(parts) <= 3 or "" in parts:
        return None
    if len(parts) == 1:
        return ShortMount("volume", "", parts[0])
    return ShortMount(
        "bind" if _is_path(parts[0]) else "volume", parts[0], parts[1], tuple(",".join(parts[2:]).split(","))
    )


def _parts(text: str) -> list[str]:
    parts = [""]
    for character in text:
        drive = len(parts[-1]) == 1 and parts[-1].isalpha()
        if character == ":" and not drive:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _is_path(source: str) -> bool:
    if source[0] in "./~":
        return True
    return source.startswith("\\\\") or (len(source) > 1 and source[1] == ":" and source[0].isalpha())
