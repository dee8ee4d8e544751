"""The cheap check of a picture's URL, before any name is looked up, and the addresses that are refused.

A fetch on behalf of a stranger must not reach our own machines, the cloud provider's metadata services or anything else
that trusts this network. Every address that is not plainly public unicast is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from yarl import URL

from imaging.errors import ImageError, ImageErrorCode, Refusal

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


HTTPS_PORT = 443


def refusal_of(
    address: IPAddress, port: int | None = HTTPS_PORT, trusted_networks: Sequence[IPNetwork] = ()
) -> Refusal | None:
    """Why this address must not be dialled; none for a public one on port 443, and for all of a trusted network."""
    if any(address in network for network in trusted_networks):
        return None
    if port != HTTPS_PORT:
        return Refusal.PORT
    if isinstance(address, IPv4Address):
        special = any(address in network for network in REFUSED_IPV4)
    elif address.scope_id is not None or address not in GLOBAL_IPV6:
        special = True
    else:
        special = any(address in network for network in REFUSED_IPV6)
    return Refusal.ADDRESS if special else None


MAX_URL_LENGTH = 2048

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


def check_remote_url(url: str, trusted_networks: Sequence[IPNetwork] = ()) -> str:
    """Refuse every URL that could not lead to a public https server, or to one of a trusted network.

    A name is not looked up here: its addresses are judged when they are dialled (`imaging.dialling`). Servers of
    trusted networks may have any port, and speak http.

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
    if parsed.scheme != "https" and not (trusted_networks and parsed.scheme == "http" and port != HTTPS_PORT):
        raise _refusal(Refusal.SCHEME, "not an https:// URL")
    if parsed.raw_user is not None or parsed.raw_password is not None:
        raise _refusal(Refusal.CREDENTIALS, "credentials in the URL")
    if port != HTTPS_PORT and not trusted_networks:
        raise _refusal(Refusal.PORT, f"port {port}")
    if not host:
        raise _refusal(Refusal.MALFORMED, "no host")
    _check_host(host, port, trusted_networks)
    return str(parsed.with_fragment(None))


def _check_host(host: str, port: int | None, trusted_networks: Sequence[IPNetwork]) -> None:
    """Judge the host as it is written, once it is in ASCII."""
    try:
        literal = ip_address(host)
    except ValueError:
        literal = None
    if literal is not None:
        refusal = refusal_of(literal, port, trusted_networks)
        if refusal:
            raise _refusal(refusal, f"{literal}, port {port}, is no public https address")
        return
    if ":" in host or "%" in host or not host.isascii():
        raise _refusal(Refusal.MALFORMED, f"{host!r} is no host name")
    if NUMERIC_END.search(host):
        raise _refusal(Refusal.ADDRESS, f"{host!r} is an address in disguise")
    name = host.removesuffix(".").lower()
    if len(name) > MAX_NAME_LENGTH or not all(0 < len(label) <= MAX_LABEL_LENGTH for label in name.split(".")):
        raise _refusal(Refusal.MALFORMED, f"{host!r} is no host name")
    if not trusted_networks and ("." not in name or name.endswith(PRIVATE_SUFFIXES)):
        raise _refusal(Refusal.NAME, f"{host!r} is no public name")


def _refusal(refusal: Refusal, detail: str) -> ImageError:
    return ImageError(ImageErrorCode.URL_REFUSED, detail, refusal=refusal)
