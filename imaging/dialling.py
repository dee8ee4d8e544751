"""Dial addresses that strangers chose, and public ones alone.

A check of the URL before (`imaging.remote_url`) is not enough: the name may be looked up again and lead elsewhere. So
sockets come from a function that gets the address about to be dialled and refuses those that are not public. Names,
literals, redirects and changing answers all pass through it. The resolver above it is stricter: it refuses a name as
soon as one of its addresses is refused.

Whoever dials here, for pictures or for webhooks, does it through a session of a `Dialler`.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import aiohttp
from aiodns.error import ARES_ENODATA, ARES_ENONAME, ARES_ENOTFOUND, DNSError
from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from imaging.errors import ImageError, ImageErrorCode, Refusal
from imaging.remote_url import IPNetwork, refusal_of

NOT_THERE = frozenset({ARES_ENOTFOUND, ARES_ENODATA, ARES_ENONAME})


class AddressRefused(PermissionError):
    """The address about to be dialled is not one that may be. An `OSError`, as connectors expect of a socket."""

    def __init__(self, refusal: Refusal, detail: str) -> None:
        super().__init__(detail)
        self.refusal = refusal


class JudgingSocketFactory:
    """Makes sockets for addresses that may be dialled only."""

    def __init__(self, trusted_networks: Sequence[IPNetwork] = ()) -> None:
        self._trusted_networks = trusted_networks

    def __call__(self, address_info: AddrInfoType) -> socket.socket:
        """Make the socket that will be connected to this address.

        Raises:
            AddressRefused: It must not be dialled.
        """
        family, kind, protocol, _, target = address_info
        if family not in {socket.AF_INET, socket.AF_INET6}:
            raise AddressRefused(Refusal.ADDRESS, f"address family {family}")
        host, port = target[0], target[1]
        refusal = refusal_of(ip_address(host), port, self._trusted_networks)
        if refusal:
            raise AddressRefused(refusal, f"{host}, port {port}, is no public https address")
        return socket.socket(family, kind, protocol)


class JudgingResolver(AbstractResolver):
    """Looks names up within a time limit, and refuses names that lead to any refused address."""

    def __init__(
        self, resolver: AbstractResolver, timeout_s: float, trusted_networks: Sequence[IPNetwork] = ()
    ) -> None:
        self._resolver = resolver
        self._timeout_s = timeout_s
        self._trusted_networks = trusted_networks

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Look a name up.

        Raises:
            ImageError: ``garment_url_refused``, or ``garment_url_unreachable`` when the look-up takes too long.
            OSError: The name is not known.
        """
        try:
            async with asyncio.timeout(self._timeout_s):
                answers = await self._resolver.resolve(host, port, family)
        except TimeoutError as error:
            raise ImageError(
                ImageErrorCode.URL_UNREACHABLE, f"looking {host} up took over {self._timeout_s:g} s", retryable=True
            ) from error
        except OSError as error:
            # A name that is not there is told apart as libc's resolver does: nobody has to ask again.
            if isinstance(error.__cause__, DNSError) and error.__cause__.args[0] in NOT_THERE:
                raise socket.gaierror(socket.EAI_NONAME, str(error)) from error
            raise
        refused = [each["host"] for each in answers if self._is_refused(each)]
        if refused and len(refused) < len(answers) and all(":" in each for each in refused) and not _reaches_ipv6():
            return [each for each in answers if each["host"] not in refused]  # nobody here could dial the others
        if refused:
            raise ImageError(
                ImageErrorCode.URL_REFUSED,
                f"{host} leads to {refused[0]}, which is no public address",
                refusal=Refusal.ADDRESS,
            )
        return answers

    def _is_refused(self, answer: ResolveResult) -> bool:
        return refusal_of(ip_address(answer["host"]), trusted_networks=self._trusted_networks) is not None

    async def close(self) -> None:
        """Release the resolver underneath."""
        await self._resolver.close()


def _reaches_ipv6() -> bool:
    """Whether there is a way from this machine to public addresses of IPv6. Nothing is sent."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.connect(("2001:db8::1", 443))  # RFC 3849: nobody's
    except OSError:
        return False
    return True


@dataclass(frozen=True)
class Dialler:
    """Opens sessions that reach public https servers alone, and what an operator trusts besides.

    Attributes:
        trusted_networks: Networks whose servers may be reached though they are not public, on any port, by http too.
        ssl_context: Trust other than the system's, for tests.
        resolver: Looks names up; if none is given, one that holds no thread while a name server is silent.
    """

    trusted_networks: Sequence[IPNetwork] = ()
    ssl_context: ssl.SSLContext | None = None
    resolver: AbstractResolver | None = None

    def open_session(
        self, *, headers: Mapping[str, str], connect_timeout_s: float, read_timeout_s: float
    ) -> aiohttp.ClientSession:
        """A session that knows no proxy, cookie or credential, and keeps no connection open between requests.

        Args:
            headers: What each request brings.
            connect_timeout_s: For looking up a name, and again for connecting.
            read_timeout_s: Longest silence of the server.
        """
        resolver = self.resolver or aiohttp.AsyncResolver()
        connector = aiohttp.TCPConnector(
            resolver=JudgingResolver(resolver, connect_timeout_s, self.trusted_networks),
            socket_factory=JudgingSocketFactory(self.trusted_networks),
            ssl=self.ssl_context or True,
            use_dns_cache=False,
            force_close=True,
        )
        return aiohttp.ClientSession(
            connector=connector,
            headers=headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_timeout_s, sock_read=read_timeout_s),
            trust_env=False,
            auto_decompress=False,
        )


PUBLIC_ONLY = Dialler()
