"""Judge every address at the moment of dialling.

A check before the fetch is worth nothing on its own: the name may be looked up again and lead elsewhere. So the
socket is made by a function that is handed the very address about to be dialled, and makes none for a refused one.
Names, literals, redirects and changing answers all pass there. The resolver above it is stricter still: it refuses a
name as soon as one of its addresses is refused.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection, Sequence
from ipaddress import ip_address

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from imaging.errors import ImageError, ImageErrorCode, Refusal
from imaging.remote_address import IPNetwork, is_refused


class AddressRefused(PermissionError):
    """The address about to be dialled is not a public one. An `OSError`, as connectors expect of a socket."""

    def __init__(self, refusal: Refusal, detail: str) -> None:
        super().__init__(detail)
        self.refusal = refusal


class JudgingSocketFactory:
    """Makes sockets for public addresses only."""

    def __init__(self, allow_ports: Collection[int], allow_networks: Sequence[IPNetwork] = ()) -> None:
        self._allow_ports = allow_ports
        self._allow_networks = allow_networks

    def __call__(self, address_info: AddrInfoType) -> socket.socket:
        """Make the socket that will be connected to this address.

        Raises:
            AddressRefused: It must not be dialled.
        """
        family, kind, protocol, _, target = address_info
        if family not in {socket.AF_INET, socket.AF_INET6}:
            raise AddressRefused(Refusal.ADDRESS, f"address family {family}")
        host, port = target[0], target[1]
        if port not in self._allow_ports:
            raise AddressRefused(Refusal.PORT, f"port {port}")
        if is_refused(ip_address(host), self._allow_networks):
            raise AddressRefused(Refusal.ADDRESS, f"{host} is no public address")
        return socket.socket(family, kind, protocol)


class JudgingResolver(AbstractResolver):
    """Looks names up within a time limit, and refuses names that lead to any refused address."""

    def __init__(self, resolver: AbstractResolver, timeout_s: float, allow_networks: Sequence[IPNetwork] = ()) -> None:
        self._resolver = resolver
        self._timeout_s = timeout_s
        self._allow_networks = allow_networks

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
        for answer in answers:
            if is_refused(ip_address(answer["host"]), self._allow_networks):
                raise ImageError(
                    ImageErrorCode.URL_REFUSED,
                    f"{host} leads to {answer['host']}, which is no public address",
                    refusal=Refusal.ADDRESS,
                )
        return answers

    async def close(self) -> None:
        """Release the resolver underneath."""
        await self._resolver.close()
