"""Finding ports. One that the operator named is taken or refused; a default moves on when it is in use."""

from __future__ import annotations

import socket
from collections.abc import Sequence

LOOPBACK = "127.0.0.1"

STEPS = 50
"""How far a default port may move."""


class PortInUseError(Exception):
    """A port that has to be free is not."""


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen there now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def choose_port(port: int, *, named: bool, offsets: Sequence[int] = (0,), host: str = LOOPBACK, what: str) -> int:
    """The port to use.

    Args:
        port: The wanted one.
        named: Whether the operator asked for exactly this one.
        offsets: Further ports above it that have to be free too, 0 included.
        host: Address to listen on.
        what: Who wants it, for the message.

    Raises:
        PortInUseError: The named port, or every port of the search, is in use.
    """
    candidates = [port] if named else range(port, port + STEPS * len(offsets), len(offsets))
    for candidate in candidates:
        if all(is_free(candidate + offset, host) for offset in offsets):
            return candidate
    raise PortInUseError(
        f"Port {port} for {what} is in use. Stop what listens there, or choose another port."
        if named
        else f"No free port for {what} from {port} on."
    )
