from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from imaging.errors import ImageError
from imaging.remote_url import check_remote_url


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://shop.example/a.jpg", "https://shop.example/a.jpg"),
        ("HTTPS://Shop.Example:443/A.jpg?w=1&h=2#top", "https://shop.example/A.jpg?w=1&h=2"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://8.8.8.8/a.png", "https://8.8.8.8/a.png"),
        ("https://[2606:4700::1111]/a.png", "https://[2606:4700::1111]/a.png"),
        ("https://cdn-1.shop_a.example./a%20b.png", "https://cdn-1.shop_a.example./a%20b.png"),
    ],
)
def test_public_urls_pass(url: str, normal: str) -> None:
    assert check_remote_url(url) == normal
    assert check_remote_url(normal) == normal


@pytest.mark.parametrize(
    "url",
    [
        "",
        "shop.example/a.jpg",
        "//shop.example/a.jpg",
        "http://shop.example/a.jpg",
        "ftp://shop.example/a.jpg",
        "file:///etc/passwd",
        "data:image/png;base64,QUJD",
        "https:shop.example/a.jpg",
        "https:///a.jpg",
        "https://",
        "https://user@shop.example/",
        "https://user:secret@shop.example/",
        "https://:@shop.example/",
        "https://shop.example:8443/",
        "https://shop.example:80/",
        "https://shop.example:0/",
        "https://shop.example:99999/",
        "https://shop.example:abc/",
        "https://shop.example\\@127.0.0.1/",
        "https://shop.example/a b.jpg",
        "https://shop.example/a\r\nHost: other.example",
        " https://shop.example/a.jpg",
        "https://[::1/",
        "https://a..b/",
        "https://" + "a" * 64 + ".example/",
    ],
)
def test_form(url: str) -> None:
    assert refused(url)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1.",
        "10.1.2.3",
        "169.254.169.254",
        "192.168.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "0.0.0.0",
        "255.255.255.255",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.0x1",
        "0",
        "1.1.1.1.1",
        "999.1.1.1",
        "%31%32%37.0.0.1",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "[::1]",
        "[::]",
        "[::127.0.0.1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fe80::1%25eth0]",
        "[fd00:ec2::254]",
        "[ff02::1]",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "localhost.localdomain",
        "printer.local",
        "metadata.google.internal",
        "nas.home.arpa",
        "minio",
        "...",
    ],
)
def test_private_hosts_in_every_disguise(host: str) -> None:
    assert refused(f"https://{host}/a.jpg")


def test_length_at_and_over_the_limit() -> None:
    url = "https://shop.example/".ljust(2048, "a")
    assert check_remote_url(url) == url
    assert refused(url + "a")


TRUSTED = (IPv4Network("127.0.0.1/32"),)


@pytest.mark.parametrize("url", ["https://127.0.0.1:4443/a", "http://127.0.0.1:9000/a", "http://shop:8080/a"])
def test_what_may_lead_to_a_trusted_network(url: str) -> None:
    assert check_remote_url(url, TRUSTED) == url
    assert refused(url)


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.2/", "https://1.1.1.1:4443/", "http://1.1.1.1/", "http://shop.example:443/", "ftp://shop/"],
)
def test_trust_in_a_network_opens_no_other(url: str) -> None:
    with pytest.raises(ImageError):
        check_remote_url(url, TRUSTED)


def refused(url: str) -> bool:
    with pytest.raises(ImageError) as caught:
        check_remote_url(url)
    return caught.value.code == "garment_url_refused" and not caught.value.retryable
