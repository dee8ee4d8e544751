"""Fetch a picture from a URL that a stranger chose, through `imaging.dialling`, which reaches public servers alone."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
from yarl import URL

from imaging.dialling import PUBLIC_ONLY, AddressRefused, Dialler
from imaging.errors import ImageError, ImageErrorCode, Refusal
from imaging.limits import PHOTO_LIMITS
from imaging.opening import SIGNATURE_LENGTH, format_of
from imaging.remote_url import check_remote_url

MAX_REDIRECTS = 3

REDIRECTS = frozenset({301, 302, 303, 307, 308})

TEMPORARY_STATUSES = frozenset({408, 425, 429})
"""Besides every 5xx: request timeout, too early, too many requests."""

CHUNK_BYTES = 64 * 1024

HEADERS = {
    "User-Agent": "TryOnImageFetcher/1.0",
    # A compressed answer could unfold to any size.
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
        dialler: Dialler = PUBLIC_ONLY,
    ) -> None:
        """Prepare; nothing is opened before the first fetch.

        Args:
            max_bytes: A body of exactly this length is accepted.
            total_timeout_s: For one fetch with all its redirects.
            connect_timeout_s: For looking up a name, and again for connecting.
            read_timeout_s: Longest silence of the server.
            dialler: What may be reached, and how; tests serve from loopback.
        """
        self._max_bytes = max_bytes
        self._total_timeout_s = total_timeout_s
        self._connect_timeout_s = connect_timeout_s
        self._read_timeout_s = read_timeout_s
        self._dialler = dialler
        self._session: aiohttp.ClientSession | None = None

    async def fetch(self, url: str, max_bytes: int | None = None) -> bytes:
        """Download one picture, of ``max_bytes`` instead of the fetcher's own limit where that is given.

        The result begins like a JPEG, PNG or WebP; nothing else was checked.

        Raises:
            ImageError: Any of the ``garment_url_…`` codes, ``retryable`` where a later fetch may succeed.
        """
        limit = self._max_bytes if max_bytes is None else max_bytes
        with _as_image_errors():
            async with asyncio.timeout(self._total_timeout_s):
                for _ in range(MAX_REDIRECTS + 1):
                    checked = check_remote_url(url, self._dialler.trusted_networks)
                    body, url = await self._request(URL(checked), limit)
                    if body is not None:
                        return body
        raise ImageError(ImageErrorCode.URL_UNREACHABLE, f"more than {MAX_REDIRECTS} redirects")

    async def close(self) -> None:
        """Close the connections. The fetcher may be used again afterwards."""
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
        return self._dialler.open_session(
            headers=HEADERS, connect_timeout_s=self._connect_timeout_s, read_timeout_s=self._read_timeout_s
        )


async def _read_image(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Read the body, and stop as soon as it is too long or is not a picture."""
    if response.content_length is not None and response.content_length > limit:
        raise ImageError(
            ImageErrorCode.URL_TOO_LARGE, f"{response.content_length} bytes announced, {limit} are allowed"
        )
    body = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK_BYTES):
        body += chunk
        if len(body) > limit:
            raise ImageError(ImageErrorCode.URL_TOO_LARGE, f"more than {limit} bytes")
        if len(body) >= SIGNATURE_LENGTH and format_of(bytes(body[:SIGNATURE_LENGTH])) is None:
            break
    start = bytes(body[:SIGNATURE_LENGTH])
    if format_of(start) is None:
        raise ImageError(ImageErrorCode.URL_NOT_AN_IMAGE, f"begins with {start!r}, labelled {response.content_type}")
    return bytes(body)


@contextmanager
def _as_image_errors() -> Iterator[None]:
    """Turn every failure of the network into an `ImageError`."""
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
