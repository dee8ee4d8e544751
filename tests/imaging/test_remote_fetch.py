from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator
from typing import Any
from unittest.mock import AsyncMock

import pytest
from aiodns import DNSResolver
from aiodns.error import ARES_ENOTFOUND, ARES_ESERVFAIL, ARES_ETIMEOUT, DNSError
from aiohttp import AsyncResolver

from imaging.dialling import AddressRefused, JudgingSocketFactory
from imaging.errors import ImageError
from imaging.remote import RemoteImageFetcher
from tests.imaging.shop import LOOPBACK, PICTURE, ScriptedResolver, Shop


@pytest.fixture
async def fetcher(shop: Shop) -> AsyncIterator[RemoteImageFetcher]:
    made = shop.fetcher()
    yield made
    await made.close()


async def failure(fetcher: RemoteImageFetcher, url: str, **options: Any) -> ImageError:
    try:
        with pytest.raises(ImageError) as caught:
            await fetcher.fetch(url, **options)
    finally:
        await fetcher.close()
    return caught.value


async def test_a_picture_whatever_its_label(shop: Shop, fetcher: RemoteImageFetcher) -> None:
    assert await fetcher.fetch(shop.url("/picture")) == PICTURE


async def test_what_the_shop_gets_to_see(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    fetcher = shop.fetcher()
    await fetcher.fetch(shop.url("/to") + "?url=/picture")
    await fetcher.close()
    for request in shop.requests:
        assert request.headers["User-Agent"] == "TryOnImageFetcher/1.0"
        assert request.headers["Accept-Encoding"] == "identity"
        assert not {"Cookie", "Authorization", "Referer"} & set(request.headers)


async def test_several_at_once(shop: Shop, fetcher: RemoteImageFetcher) -> None:
    bodies = await asyncio.gather(*(fetcher.fetch(shop.url("/picture")) for _ in range(6)))
    assert bodies == [PICTURE] * 6


async def test_fetcher_can_be_used_after_closing(shop: Shop, fetcher: RemoteImageFetcher) -> None:
    await fetcher.fetch(shop.url("/picture"))
    await fetcher.close()
    await fetcher.close()
    assert await fetcher.fetch(shop.url("/picture")) == PICTURE


async def test_three_redirects_are_followed_and_no_more(shop: Shop, fetcher: RemoteImageFetcher) -> None:
    assert await fetcher.fetch(shop.url("/hops/3")) == PICTURE
    error = await failure(fetcher, shop.url("/hops/4"))
    assert (error.code, error.retryable) == ("garment_url_unreachable", False)


@pytest.mark.parametrize(
    "target",
    [
        "http://1.1.1.1/picture",
        "https://127.0.0.2/picture",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/picture",
        "https://2130706433/picture",
        "https://user:secret@shop.example/picture",
        "https://1.1.1.1:22/picture",
        "file:///etc/passwd",
        "https://[",
    ],
)
async def test_redirects_are_judged_like_the_first_address(shop: Shop, target: str) -> None:
    error = await failure(shop.fetcher(), shop.url("/to") + f"?url={target}")
    assert (error.code, error.retryable) == ("garment_url_refused", False)
    assert len(shop.requests) == 1


async def test_redirect_without_a_target(shop: Shop) -> None:
    error = await failure(shop.fetcher(), shop.url("/nowhere"))
    assert (error.code, error.retryable) == ("garment_url_unreachable", False)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.100.100.200"])
async def test_a_public_name_that_leads_to_a_private_address(shop: Shop, address: str) -> None:
    resolver = ScriptedResolver(shop_example=[[address]])
    error = await failure(shop.fetcher(resolver, trusted_networks=()), shop.url("/picture"))
    assert (error.code, error.retryable) == ("garment_url_refused", False)
    assert shop.requests == []


async def test_one_private_address_among_public_ones_condemns_the_name(shop: Shop) -> None:
    resolver = ScriptedResolver(shop_example=[["127.0.0.1", "127.0.0.2"]])
    error = await failure(shop.fetcher(resolver), shop.url("/picture"))
    assert error.code == "garment_url_refused"
    assert shop.requests == []


@pytest.mark.parametrize("reached", [False, True])
async def test_addresses_of_ipv6_count_where_they_could_be_dialled(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, reached: bool
) -> None:
    """A name of both kinds may have one of the second that leads nowhere, such as 64:ff9b::7f00:1 of a network."""
    monkeypatch.setattr("imaging.dialling._reaches_ipv6", lambda: reached)
    fetcher = shop.fetcher(ScriptedResolver(shop_example=[["127.0.0.1", "fd00::1"]]))
    if reached:
        assert (await failure(fetcher, shop.url("/picture"))).code == "garment_url_refused"
    else:
        assert await fetcher.fetch(shop.url("/picture")) == PICTURE
        await fetcher.close()
    alone = shop.fetcher(ScriptedResolver(shop_example=[["fd00::1"]]))
    assert (await failure(alone, shop.url("/picture"))).code == "garment_url_refused"


async def test_a_name_that_changes_its_address_between_fetches(shop: Shop) -> None:
    resolver = ScriptedResolver(shop_example=[["127.0.0.1"], ["127.0.0.2"]])
    fetcher = shop.fetcher(resolver)
    assert await fetcher.fetch(shop.url("/picture")) == PICTURE
    error = await failure(fetcher, shop.url("/picture"))
    assert error.code == "garment_url_refused"
    assert len(resolver.lookups) == 2


async def test_a_name_that_changes_its_address_between_redirects(shop: Shop) -> None:
    resolver = ScriptedResolver(shop_example=[["127.0.0.1"], ["127.0.0.2"]])
    error = await failure(shop.fetcher(resolver), shop.url("/hops/1"))
    assert error.code == "garment_url_refused"
    assert len(shop.requests) == 1


async def test_the_socket_is_judged_even_where_the_resolver_was_not(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("imaging.dialling.JudgingResolver.resolve", ScriptedResolver.resolve)
    monkeypatch.setattr("imaging.dialling.JudgingResolver.script", {"shop.example": [["127.0.0.1"]]}, raising=False)
    monkeypatch.setattr("imaging.dialling.JudgingResolver.lookups", [], raising=False)
    error = await failure(shop.fetcher(trusted_networks=()), shop.url("/picture"))
    assert (error.code, error.retryable) == ("garment_url_refused", False)
    assert shop.requests == []


@pytest.mark.parametrize(
    ("family", "address"),
    [
        (socket.AF_INET, ("127.0.0.2", 443)),
        (socket.AF_INET, ("169.254.169.254", 443)),
        (socket.AF_INET, ("8.8.8.8", 22)),
        (socket.AF_INET6, ("::1", 443, 0, 0)),
        (socket.AF_INET6, ("::ffff:127.0.0.1", 443, 0, 0)),
        (socket.AF_INET6, ("fe80::1%lo", 443, 0, 1)),
        (socket.AF_UNIX, ("/run/service.sock", 443)),
    ],
)
def test_no_socket_for_a_refused_address(family: socket.AddressFamily, address: Any) -> None:
    factory = JudgingSocketFactory((LOOPBACK,))
    with pytest.raises(AddressRefused):
        factory((family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", address))


def test_a_socket_for_a_public_address() -> None:
    factory = JudgingSocketFactory()
    with factory((socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("8.8.8.8", 443))) as made:
        assert made.family == socket.AF_INET


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(404, False), (403, False), (410, False), (429, True), (408, True), (500, True), (503, True)],
)
async def test_statuses(shop: Shop, status: int, retryable: bool) -> None:
    error = await failure(shop.fetcher(), shop.url(f"/status/{status}"))
    assert (error.code, error.retryable) == ("garment_url_unreachable", retryable)


@pytest.mark.parametrize("length", [0, 5, 100_000])
async def test_a_page_labelled_as_a_picture(shop: Shop, length: int) -> None:
    error = await failure(shop.fetcher(), shop.url(f"/page/{length}"))
    assert (error.code, error.retryable) == ("garment_url_not_an_image", False)


async def test_exactly_the_limit_passes_and_one_byte_more_does_not(shop: Shop, fetcher: RemoteImageFetcher) -> None:
    limit = 8 * 1024 * 1024
    assert len(await fetcher.fetch(shop.url(f"/bytes/{limit}"))) == limit
    error = await failure(fetcher, shop.url(f"/bytes/{limit + 1}"))
    assert (error.code, error.retryable) == ("garment_url_too_large", False)


async def test_a_body_announced_as_too_long_is_not_waited_for(shop: Shop) -> None:
    error = await failure(shop.fetcher(total_timeout_s=1.0), shop.url(f"/announce/{8 * 1024 * 1024 + 1}"))
    assert error.code == "garment_url_too_large"


async def test_a_body_of_unknown_length_is_left_at_the_limit(shop: Shop) -> None:
    error = await failure(shop.fetcher(), shop.url("/stream"), max_bytes=200_000)
    assert error.code == "garment_url_too_large"
    assert shop.bytes_sent < 8_000_000


@pytest.mark.parametrize(
    ("path", "timeouts"),
    [
        ("/silent", {"total_timeout_s": 0.3}),
        ("/silent", {"read_timeout_s": 0.3}),
        ("/trickle", {"total_timeout_s": 0.3}),
    ],
)
async def test_a_slow_shop(shop: Shop, path: str, timeouts: dict[str, Any]) -> None:
    begin = time.perf_counter()
    error = await failure(shop.fetcher(**timeouts), shop.url(path))
    assert (error.code, error.retryable) == ("garment_url_unreachable", True)
    assert time.perf_counter() - begin < 1.5


async def test_a_slow_name_server(shop: Shop) -> None:
    resolver = ScriptedResolver(shop_example=[0.9])
    error = await failure(shop.fetcher(resolver, connect_timeout_s=0.1), shop.url("/picture"))
    assert (error.code, error.retryable) == ("garment_url_unreachable", True)


@pytest.mark.parametrize(
    ("reason", "retryable"), [(socket.EAI_NONAME, False), (socket.EAI_AGAIN, True), (socket.EAI_FAIL, True)]
)
async def test_an_unknown_name(shop: Shop, reason: int, retryable: bool) -> None:
    resolver = ScriptedResolver(shop_example=[socket.gaierror(reason, "no answer")])
    error = await failure(shop.fetcher(resolver), shop.url("/picture"))
    assert (error.code, error.retryable) == ("garment_url_unreachable", retryable)


@pytest.mark.parametrize(
    ("reason", "retryable"), [(ARES_ENOTFOUND, False), (ARES_ETIMEOUT, True), (ARES_ESERVFAIL, True)]
)
async def test_an_unknown_name_as_our_resolver_tells_of_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, reason: int, retryable: bool
) -> None:
    monkeypatch.setattr(DNSResolver, "getaddrinfo", AsyncMock(side_effect=DNSError(reason, "no answer")))
    error = await failure(shop.fetcher(AsyncResolver()), shop.url("/picture"))
    assert (error.code, error.retryable) == ("garment_url_unreachable", retryable)


@pytest.mark.parametrize("path", ["/cut", "/reset"])
async def test_a_lost_connection(shop: Shop, path: str) -> None:
    error = await failure(shop.fetcher(), shop.url(path))
    assert (error.code, error.retryable) == ("garment_url_unreachable", True)


async def test_nobody_listens(shop: Shop) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = await failure(shop.fetcher(), f"https://shop.example:{port}/picture")
    assert (error.code, error.retryable) == ("garment_url_unreachable", True)


async def test_a_certificate_nobody_vouches_for(shop: Shop) -> None:
    error = await failure(shop.fetcher(trust=ssl.create_default_context()), shop.url("/picture"))
    assert (error.code, error.retryable) == ("garment_url_unreachable", False)


async def test_a_certificate_for_another_name(shop: Shop) -> None:
    resolver = ScriptedResolver(other_example=[["127.0.0.1"]])
    error = await failure(shop.fetcher(resolver), shop.url("/picture", host="other.example"))
    assert (error.code, error.retryable) == ("garment_url_unreachable", False)
