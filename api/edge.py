"""What a connection may cost before anybody knows who it is: bytes of headers, time, and how many there are.

The server, uvicorn over httptools, bounds none of it: its own options are for its other parsers. So its protocol is
taken and bounded here. Refusals have the body of all others; they come before there is a request, and so past every
middleware.
"""

from __future__ import annotations

import asyncio
import fcntl
import resource
import socket
import struct
import sys
import termios
import uuid
from collections import Counter
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, ClassVar

import structlog
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from api.body_limit import CLOSE, LINGER_SECONDS, SILENCE_SECONDS
from api.errors import error_response
from api.request_context import REQUEST_ID, STANDING_HEADERS
from domain.errors import TryOnError
from runtime.settings import ApiSettings

SPARE_FILES = 128
"""Descriptors that are not for connections: files of the database, the object store's connections, logs."""

LINGERING = 32
"""Refused connections that are kept until their answer is heard; they come on top of those that are allowed."""

UNREAD_SECONDS = 30.0
"""A client that has taken nothing of its answer for so long takes no more."""

log = structlog.get_logger(__name__)


class Edge:
    """What one server allows its connections, and which there are."""

    def __init__(self, settings: ApiSettings, on_refusal: Callable[[str], None] = lambda _code: None) -> None:
        """Take in nobody yet; ``on_refusal`` is told the code of every refusal."""
        self.head_bytes = settings.max_header_bytes
        self.head_seconds = settings.header_timeout_seconds
        self.on_refusal = on_refusal
        self.lingering = 0
        self._most = min(settings.max_connections, allow_open_files(settings.max_connections))
        self._most_per_address = settings.max_connections_per_address
        self._proxies = [ip_network(each) for each in settings.trusted_proxies.split(",") if each]
        self._open: dict[EdgeProtocol, str | None] = {}
        self._per_address: Counter[str | None] = Counter()
        self.waiting: dict[EdgeProtocol, None] = {}
        """Connections without a request under way, the one that waits longest first."""

    def admit(self, connection: EdgeProtocol) -> bool:
        """Take a connection in, in the place of one that only waits if need be.

        Silent connections cannot keep others out like this, however many: they are the ones that go.
        """
        address = self._counted_address(connection)
        has_its_share = address is not None and self._per_address[address] >= self._most_per_address
        if has_its_share or len(self._open) >= self._most:
            idle = next((each for each in self.waiting if not has_its_share or self._open[each] == address), None)
            if idle is None:
                return False
            idle.give_way()
        self._open[connection] = address
        self._per_address[address] += 1
        return True

    def let_go(self, connection: EdgeProtocol) -> None:
        """Count a connection no more; a second time changes nothing."""
        self.waiting.pop(connection, None)
        if connection in self._open:
            address = self._open.pop(connection)
            self._per_address[address] -= 1
            if not self._per_address[address]:
                del self._per_address[address]

    def _counted_address(self, connection: EdgeProtocol) -> str | None:
        """Whose share a connection takes: an address, a network of 64 bits of IPv6; nobody's for a trusted proxy.

        All the world comes through a proxy's few addresses, and it counts connections of its own visitors itself.
        """
        try:
            address = plain_address(connection.client[0] if connection.client else "")
        except ValueError:  # a Unix socket
            return None
        return None if any(address in network for network in self._proxies) else network_of(address)


def plain_address(text: str) -> IPv4Address | IPv6Address:
    """An address; one of IPv4 in its own form, also where a socket of IPv6 tells it.

    Raises:
        ValueError: It is none.
    """
    address = ip_address(text)
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def network_of(address: IPv4Address | IPv6Address) -> str:
    """What one visitor has: an address of IPv4, a network of 64 bits of IPv6."""
    return str(address) if address.version == 4 else str(ip_network((address, 64), strict=False))


def allow_open_files(connections: int) -> int:
    """Have the system allow so many connections, as far as it does; returns for how many there is room."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + SPARE_FILES
    if soft < wanted:
        soft = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, soft - SPARE_FILES)


class HeadTooLargeError(Exception):
    """A request has more headers than are read."""


class EdgeProtocol(HttpToolsProtocol):
    """One connection, within the bounds of its `Edge`."""

    edge: ClassVar[Edge]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = False
        self._head = 0
        self._untold = 0
        self._refused = False
        self._reads = 0
        self._late: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    # Coming and going

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its parent has it
        super().connection_made(transport)
        if self.edge.admit(self):
            self._wait_for_head()
        else:
            self._refuse("too_many_connections")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._no_longer_late()
        if self._unread is not None:
            self._unread.cancel()
        if self._refused:
            self.edge.lingering -= 1
        self.edge.let_go(self)

    def give_way(self) -> None:
        """Make room for another: nothing is under way here."""
        if self.cycle is None:
            self._refuse("too_many_connections")
        else:  # a client that is answered already, and might take this for the answer to what it asks next
            self._close()
        self.edge.let_go(self)

    def timeout_keep_alive_handler(self) -> None:
        self._close()

    def _close(self) -> None:
        """Close once everything is sent; at some time in any case."""
        self.transport.close()
        self._watch_unread()

    # What comes in

    def data_received(self, data: bytes) -> None:
        self._reads += 1
        if self._refused:
            return
        if not self._under_way():
            self._wait_for_head()
        self._untold += len(data)
        super().data_received(data)
        if self._untold > self.edge.head_bytes:
            self._refuse("headers_too_large")

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # the parent's words are for its own answer
        self._refuse("headers_too_large" if self._head > self.edge.head_bytes else "request_malformed")

    def on_message_begin(self) -> None:
        self._in_head, self._head, self._untold = True, 0, 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(b": \r\n") + len(value))  # trailers come here too
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._untold = False, 0
        self._no_longer_late()
        self.edge.waiting.pop(self, None)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._untold = 0
        super().on_body(body)

    def on_chunk_header(self) -> None:
        """The parser tells of each chunk as well, so that many small ones are not taken for silence."""
        self._untold = 0

    def on_message_complete(self) -> None:
        self._untold = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._under_way():
            self.edge.waiting[self] = None

    def _count(self, more: int) -> None:
        self._head += more
        self._untold = 0  # what the parser keeps to itself is begun anew
        if self._head > self.edge.head_bytes:
            raise HeadTooLargeError

    def _under_way(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _wait_for_head(self) -> None:
        """From now on, or from when this began: bytes that drip in win no time."""
        if self._late is None:
            self._late = self.loop.call_later(self.edge.head_seconds, self._head_is_late)
            self.edge.waiting.setdefault(self)

    def _no_longer_late(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _head_is_late(self) -> None:
        if self._in_head and not self._under_way():
            self._refuse("headers_incomplete")
        else:  # nothing came, or the rest of what was answered long ago
            self._close()

    # What goes out

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_unread()

    def _watch_unread(self, before: int = -1) -> None:
        """Give up on a client that takes nothing of what was sent, or it could hold its answer for ever."""
        unread = self.transport.get_write_buffer_size() + self._unacknowledged()
        if unread == before:
            # With a reset: the system would go on to keep for the client what it has already.
            connection = self.transport.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
            return
        if self._unread is not None:
            self._unread.cancel()
        self._unread = self.loop.call_later(UNREAD_SECONDS, self._watch_unread, unread) if unread else None

    def _unacknowledged(self) -> int:
        """Bytes that the system still has: it takes megabytes at once, and slow clients a while for those."""
        try:
            queued = fcntl.ioctl(self.transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
        except OSError:  # the connection is gone
            return 0
        return int.from_bytes(queued, sys.byteorder)

    def _refuse(self, code: str) -> None:
        """Answer, and let nothing more in; the connection is closed when the client has had time to hear it."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self.edge.lingering += 1
        self.edge.on_refusal(code)
        log.info("connection refused", code=code)
        self._no_longer_late()
        self._unset_keepalive_if_required()
        self.edge.let_go(self)
        heard = True
        if self._under_way():
            # The answer to a request that did not come whole; one to another would get into the middle of its answer.
            heard = not (self.cycle.response_started or self._in_head or self.pipeline)
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if heard:
            self.transport.write(self._answer(code))
        self.flow.resume_reading()
        if heard and self.edge.lingering <= LINGERING:
            self.transport.write_eof()
            self._linger(self.loop.time() + LINGER_SECONDS, -1)
        else:
            self._close()

    def _answer(self, code: str) -> bytes:
        answer = error_response(TryOnError(code), {**CLOSE, **STANDING_HEADERS, REQUEST_ID: uuid.uuid4().hex})
        headers = [*self.server_state.default_headers, *answer.raw_headers]
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        return STATUS_LINE[answer.status_code] + lines + b"\r\n" + bytes(answer.body)

    def _linger(self, until: float, reads: int) -> None:
        """Throw away what still comes: a connection that is closed meanwhile is reset, and its answer lost."""
        if self._reads == reads or self.loop.time() >= until:
            self._close()
            return
        self._late = self.loop.call_later(SILENCE_SECONDS, self._linger, until, self._reads)


def protocol_within(edge: Edge) -> type[EdgeProtocol]:
    """What a server speaks on each connection: uvicorn's ``http``."""
    return type("BoundedProtocol", (EdgeProtocol,), {"edge": edge})
