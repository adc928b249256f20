"""Dials a target once: every address of its name in turn, and no word sent."""

from __future__ import annotations

import errno
import socket
import time

from swarmtest.traffic.exchange import is_own_timeout
from swarmtest.traffic.targets import Target

_NOT_CONNECTED = {
    errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED, errno.ETIMEDOUT,
    errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ENETDOWN,
}  # fmt: skip


def dial(target: Target, until: float) -> socket.socket:
    """A connected socket; raises ``OSError`` or ``UnicodeError`` when none comes about by ``until`` (monotonic)."""
    # Several addresses of one name are tried in turn: no byte of a request has been sent by then.
    failure: OSError = OSError(errno.EHOSTUNREACH, "name has no address")
    for family, address in target.addresses():
        dialled = socket.socket(family, socket.SOCK_STREAM)
        try:
            dialled.settimeout(max(until - time.monotonic(), 0.001))
            dialled.connect(address)
            dialled.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            dialled.close()
            failure = error
        except BaseException:
            dialled.close()
            raise
        else:
            return dialled
    raise failure


def means_no_connection(error: OSError | UnicodeError) -> bool:
    """Whether a failed dial is put down to the peer or the way to it, and not to ourselves."""
    # A time-out of our own has no errno. What isn't known is never put down to the peer.
    if isinstance(error, UnicodeError):
        return True  # a name that can't even be asked for
    if isinstance(error, socket.gaierror):
        return error.errno not in (socket.EAI_MEMORY, socket.EAI_SYSTEM)
    return is_own_timeout(error) or error.errno in _NOT_CONNECTED
