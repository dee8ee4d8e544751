from __future__ import annotations

from ipaddress import IPv4Network, ip_address

import pytest

from imaging.remote_url import refusal_of

REFUSED = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.7",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::7f00:1",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:10::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "168.63.129.15",
    "172.15.255.255",
    "172.32.0.1",
    "192.0.1.1",
    "198.20.0.1",
    "223.255.255.254",
    "2001:4860:4860::8888",
    "2606:4700::1111",
    "2a00:1450:4001:800::200e",
]


@pytest.mark.parametrize("address", REFUSED)
def test_refused(address: str) -> None:
    assert refusal_of(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_public(address: str) -> None:
    assert not refusal_of(ip_address(address))


def test_trust_in_a_network_reaches_no_further_than_written() -> None:
    trusted = (IPv4Network("127.0.0.1/32"),)
    assert not refusal_of(ip_address("127.0.0.1"), 8443, trusted)
    assert refusal_of(ip_address("127.0.0.2"), 443, trusted)
    assert refusal_of(ip_address("::1"), 443, trusted)
    assert refusal_of(ip_address("1.1.1.1"), 8443, trusted)
