"""Fetch a picture from a URL that a stranger chose.

The cheap check of a picture's URL, before any name is looked up.

Which addresses of the network a foreign URL may lead to.

A fetch on behalf of a stranger must not reach our own machines, the cloud provider's metadata services or anything
else that trusts us for where we are. Everything that is not plainly a public unicast address is refused.

Judge every address at the moment of dialling.

A check before the fetch is worth nothing on its own: the name may be looked up again and lead elsewhere. So the
socket is made by a function that is handed the very address about to be dialled, and makes none for a refused one.
Names, literals, redirects and changing answers all pass there. The resolver above it is stricter still: it refuses a
name as soon as one of its addresses is refused.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import aiohttp
from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from imaging.errors import ImageError, ImageErrorCode, Refusal
from imaging.limits import PHOTO_LIMITS
from imaging.opening import SIGNATURE_LENGTH, has_image_signature

MAX_URL_LENGTH = 2048

HTTPS_PORT = 443

MAX_NAME_LENGTH, MAX_LABEL_LENGTH = 253, 63
"""Characters of a host name and of each part between its dots (RFC 1035)."""

PRIVATE_SUFFIXES = (
    ".localhost",
    ".localdomain",
    ".local",
    ".internal",
    ".intranet",
    ".lan",
    ".corp",
    ".private",
    ".home",
    ".home.arpa",
)
"""Ends of names that never lead to a public host (RFC 6761, RFC 8375, ICANN's list of withheld names)."""

NUMERIC_END = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$", re.IGNORECASE | re.ASCII)
"""A host that ends in a number is an IPv4 address to resolvers (WHATWG URL, "ends in a number"), be it written in
decimal, octal, hexadecimal or with parts left out."""

FORBIDDEN_CHARACTERS = re.compile(r"[\x00-\x20\x7f-\xa0\\]")
"""Read differently by different URL parsers."""


def check_remote_url(
    url: str,
    *,
    allow_ports: Collection[int] = frozenset({HTTPS_PORT}),
    allow_networks: Sequence[IPNetwork] = (),
) -> str:
    """Refuse every URL that could not lead to a public https server.

    A name is not looked up here: what it leads to is judged at the moment of dialling, by `RemoteImageFetcher`.

    Args:
        url: What the caller gave.
        allow_ports: Ports that may be named; tests serve from others.
        allow_networks: See `imaging.remote.is_refused`.

    Returns:
        The URL in normal form, without fragment, as it has to be fetched.

    Raises:
        ImageError: ``garment_url_refused``.
    """
    if len(url) > MAX_URL_LENGTH:
        raise _refusal(Refusal.MALFORMED, f"longer than {MAX_URL_LENGTH} characters")
    if FORBIDDEN_CHARACTERS.search(url):
        raise _refusal(Refusal.MALFORMED, "blank, control character or backslash in the URL")
    try:
        parsed = URL(url)
        host, port = parsed.raw_host, parsed.port
    except ValueError as error:
        raise _refusal(Refusal.MALFORMED, f"not a URL: {error}") from error
    if parsed.scheme != "https":
        raise _refusal(Refusal.SCHEME, "not an https:// URL")
    if parsed.raw_user is not None or parsed.raw_password is not None:
        raise _refusal(Refusal.CREDENTIALS, "credentials in the URL")
    if port not in allow_ports:
        raise _refusal(Refusal.PORT, f"port {port}")
    if not host:
        raise _refusal(Refusal.MALFORMED, "no host")
    _check_host(host, allow_networks)
    return str(parsed.with_fragment(None))


def _check_host(host: str, allow_networks: Sequence[IPNetwork]) -> None:
    """Judge the host as it is written, once it is in ASCII."""
    try:
        literal = ip_address(host)
    except ValueError:
        literal = None
    if literal is not None:
        if is_refused(literal, allow_networks):
            raise _refusal(Refusal.ADDRESS, f"{literal} is no public address")
        return
    if ":" in host or "%" in host or not host.isascii():
        raise _refusal(Refusal.MALFORMED, f"{host!r} is no host name")
    if NUMERIC_END.search(host):
        raise _refusal(Refusal.ADDRESS, f"{host!r} is an address in disguise")
    name = host.removesuffix(".").lower()
    if len(name) > MAX_NAME_LENGTH or not all(0 < len(label) <= MAX_LABEL_LENGTH for label in name.split(".")):
        raise _refusal(Refusal.MALFORMED, f"{host!r} is no host name")
    if "." not in name or name.endswith(PRIVATE_SUFFIXES):
        raise _refusal(Refusal.NAME, f"{host!r} is no public name")


def _refusal(refusal: Refusal, detail: str) -> ImageError:
    return ImageError(ImageErrorCode.URL_REFUSED, detail, refusal=refusal)


IPAddress = IPv4Address | IPv6Address

IPNetwork = IPv4Network | IPv6Network

REFUSED_IPV4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carrier-grade NAT; Alibaba's metadata service
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's wire server, public by its number only
        "169.254.0.0/16",  # link-local; the metadata service of most clouds
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; Oracle's metadata service
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112 sink
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112 sink
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
"""The IANA special-purpose registry for IPv4, and the metadata services that lie outside it."""

GLOBAL_IPV6 = IPv6Network("2000::/3")
"""The only part of IPv6 handed out for public unicast. What embeds an IPv4 address by mapping or NAT64, loopback,
link-local, site-local, unique local and multicast addresses all lie outside."""

REFUSED_IPV6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, which embeds an IPv4 address
        "2620:4f:8000::/48",  # AS112 sink
        "3fff::/20",  # documentation
    )
)
"""The IANA special-purpose registry for IPv6, as far as it lies inside `GLOBAL_IPV6`."""


def is_refused(address: IPAddress, allow_networks: Sequence[IPNetwork] = ()) -> bool:
    """Say whether nothing may be fetched from this address.

    Args:
        address: Where a connection would go.
        allow_networks: Exceptions from the table, for tests that serve from loopback.
    """
    if any(address in network for network in allow_networks):
        return False
    if isinstance(address, IPv4Address):
        return any(address in network for network in REFUSED_IPV4)
    if address.scope_id is not None or address not in GLOBAL_IPV6:
        return True
    return any(address in network for network in REFUSED_IPV6)


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


__all__ = ["RemoteImageFetcher", "check_remote_url"]

MAX_REDIRECTS = 3

REDIRECTS = frozenset({301, 302, 303, 307, 308})

TEMPORARY_STATUSES = frozenset({408, 425, 429})
"""Besides every 5xx: request timeout, too early, too many requests."""

CHUNK_BYTES = 64 * 1024

HEADERS = {
    "User-Agent": "TryOnImageFetcher/1.0",
    # What is sent is what is counted: a compressed answer could unfold to any size.
    "Accept-Encoding": "identity",
    # Keeps servers that negotiate from sending formats that are not read here.
    "Accept": "image/jpeg,image/png,image/webp;q=0.9",
}

NAME_UNKNOWN = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
"""Answers of a name server that asking again will not change."""


class RemoteImageFetcher:
    """Downloads pictures over https from public addresses only.

    It knows no proxy, cookie or credential, keeps no connection open between fetches and follows redirects by hand,
    each of them checked like the first URL. One fetcher serves any number of concurrent fetches of one event loop.
    """

    def __init__(
        self,
        *,
        max_bytes: int = PHOTO_LIMITS.max_bytes,
        total_timeout_s: float = 10.0,
        connect_timeout_s: float = 3.0,
        read_timeout_s: float = 5.0,
        allow_networks: Sequence[IPNetwork] = (),
        allow_ports: Collection[int] = frozenset({HTTPS_PORT}),
        ssl_context: ssl.SSLContext | None = None,
        resolver: AbstractResolver | None = None,
    ) -> None:
        """Prepare; nothing is opened before the first fetch.

        Args:
            max_bytes: A body of exactly this length is accepted.
            total_timeout_s: For one fetch with all its redirects.
            connect_timeout_s: For looking up a name, and again for connecting.
            read_timeout_s: Longest silence of the server.
            allow_networks: Exceptions from the refused addresses, for tests that serve from loopback.
            allow_ports: Ports that may be dialled; tests serve from others.
            ssl_context: Trust other than the system's, for tests.
            resolver: Looks names up; the system's resolver if none is given.
        """
        self._max_bytes = max_bytes
        self._total_timeout_s = total_timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._read_timeout_s = read_timeout_s
        self._allow_networks = tuple(allow_networks)
        self._allow_ports = frozenset(allow_ports)
        self._ssl_context = ssl_context
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def fetch(self, url: str, max_bytes: int | None = None) -> bytes:
        """Download one picture. What comes back begins like a JPEG, PNG or WebP; more is not known of it.

        Args:
            url: Where it is said to be.
            max_bytes: Instead of the fetcher's own limit.

        Raises:
            ImageError: Any of the ``garment_url_…`` codes, ``retryable`` where a later fetch may succeed.
        """
        limit = self._max_bytes if max_bytes is None else max_bytes
        with _as_image_errors():
            async with asyncio.timeout(self._total_timeout_s):
                for _ in range(MAX_REDIRECTS + 1):
                    checked = check_remote_url(url, allow_ports=self._allow_ports, allow_networks=self._allow_networks)
                    body, url = await self._request(URL(checked), limit)
                    if body is not None:
                        return body
        raise ImageError(ImageErrorCode.URL_UNREACHABLE, f"more than {MAX_REDIRECTS} redirects")

    async def close(self) -> None:
        """Release what the fetches used. The fetcher may be used again afterwards."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _request(self, url: URL, limit: int) -> tuple[bytes | None, str]:
        """Ask once. Returns the body, or none and the address to go on with."""
        session = self._session = self._session or self._new_session()
        async with session.get(url, allow_redirects=False) as response:
            if response.status in REDIRECTS:
                target = response.headers.get("Location")
                if not target:
                    raise ImageError(ImageErrorCode.URL_UNREACHABLE, "a redirect that names no address")
                return None, str(url.join(URL(target)))
            if response.status != 200:
                temporary = response.status >= 500 or response.status in TEMPORARY_STATUSES
                raise ImageError(
                    ImageErrorCode.URL_UNREACHABLE, f"{url.host} answered {response.status}", retryable=temporary
                )
            return await _read_image(response, limit), str(url)

    def _new_session(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=JudgingResolver(
                self._resolver or aiohttp.ThreadedResolver(), self._connect_timeout_s, self._allow_networks
            ),
            socket_factory=JudgingSocketFactory(self._allow_ports, self._allow_networks),
            ssl=self._ssl_context or True,
            use_dns_cache=False,
            force_close=True,
        )
        return aiohttp.ClientSession(
            connector=connector,
            headers=HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=self._connect_timeout_s, sock_read=self._read_timeout_s
            ),
            trust_env=False,
            auto_decompress=False,
        )


async def _read_image(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Read the body, and stop as soon as it is too long or plainly no picture."""
    if response.content_length is not None and response.content_length > limit:
        raise ImageError(
            ImageErrorCode.URL_TOO_LARGE, f"{response.content_length} bytes announced, {limit} are allowed"
        )
    body = bytearray()
    looked_at_start = False
    async for chunk in response.content.iter_chunked(CHUNK_BYTES):
        body += chunk
        if len(body) > limit:
            raise ImageError(ImageErrorCode.URL_TOO_LARGE, f"more than {limit} bytes")
        if not looked_at_start and len(body) >= SIGNATURE_LENGTH:
            _refuse_other_content(body, response)
            looked_at_start = True
    if not looked_at_start:
        _refuse_other_content(body, response)
    return bytes(body)


def _refuse_other_content(body: bytearray, response: aiohttp.ClientResponse) -> None:
    start = bytes(body[:SIGNATURE_LENGTH])
    if not has_image_signature(start):
        raise ImageError(ImageErrorCode.URL_NOT_AN_IMAGE, f"begins with {start!r}, labelled {response.content_type}")


@contextmanager
def _as_image_errors() -> Iterator[None]:
    """Turn everything that can go wrong on the network into an `ImageError`."""
    try:
        yield
    except TimeoutError as error:
        raise _unreachable(error, retryable=True) from error
    except aiohttp.InvalidURL as error:
        raise ImageError(ImageErrorCode.URL_REFUSED, f"not a URL: {error}", refusal=Refusal.MALFORMED) from error
    except (aiohttp.ClientSSLError, aiohttp.ClientResponseError) as error:
        raise _unreachable(error, retryable=False) from error
    except aiohttp.ClientConnectorError as error:
        if isinstance(error.os_error, AddressRefused):
            raise ImageError(ImageErrorCode.URL_REFUSED, str(error.os_error), refusal=error.os_error.refusal) from error
        unknown = isinstance(error.os_error, socket.gaierror) and error.os_error.errno in NAME_UNKNOWN
        raise _unreachable(error, retryable=not unknown) from error
    except (aiohttp.ClientError, OSError) as error:
        raise _unreachable(error, retryable=True) from error
    except ValueError as error:  # a redirect to something that is no URL
        raise ImageError(ImageErrorCode.URL_REFUSED, f"not a URL: {error}", refusal=Refusal.MALFORMED) from error


def _unreachable(error: Exception, *, retryable: bool) -> ImageError:
    return ImageError(ImageErrorCode.URL_UNREACHABLE, f"{type(error).__name__}: {error}", retryable=retryable)
