"""Which addresses of the network a foreign URL may lead to.

A fetch on behalf of a stranger must not reach our own machines, the cloud provider's metadata services or anything
else that trusts us for where we are. Everything that is not plainly a public unicast address is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

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
