"""The public address: whether TLS, large bodies and held polls get through what stands in front of the API."""

from __future__ import annotations

import asyncio
import base64
import http.client
import io
import ssl
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx

from cli.diagnosis.findings import Case, Finding, Stop, Subject, counted, in_one_line
from domain.access.keys import TEST
from runtime.settings import IN_COMBO, IN_SINGLE

ADDRESS = Subject("public address")
TLS = Subject("TLS")
READY = Subject("readiness")

CONNECT_SECONDS = 5.0
READ_SECONDS = 10.0
SOON_DAYS = 14  # programs renew a certificate earlier than that
LOOPBACK = ("127.0.0.1", "::1", "localhost")

BODY = Subject("large bodies")

ANNOUNCED_BELOW_CAP = 1
CHUNK = b" " * 65_536
PERMISSION_SECONDS = 3.0  # a server that does not know ``Expect`` says nothing; then the body is sent unasked
ANSWER_SECONDS = 60.0  # a proxy that collects the body passes it on only when it is complete
MIB = 1 << 20

HOLD = Subject("held polls")

TEST_KEY_PREFIX = f"vto_{TEST}_"
SLOW_PRODUCT = "test_slow"  # a test key's job with it takes a quarter of a minute and costs nothing
CALL_SECONDS = 20.0
AIR_SECONDS = 15.0  # how much longer than it is held a poll may take


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask as a client on the internet would, from here."""
    if case.url is None:
        yield ADDRESS.skipped("--url https://… asks the API as its clients do")
        return
    url = case.url.rstrip("/")
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    try:
        async with httpx.AsyncClient(timeout=timeout) as client, client.stream("GET", f"{url}/readyz") as answer:
            tls = _certificate(url, answer)
            await answer.aread()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Stop(_unreachable(url, error), "the address does not answer", (TLS, READY, BODY, HOLD)) from None
    yield ADDRESS.ok(f"{url} answers")
    yield tls
    ready = judged_readiness(answer)
    if not _is_ours(answer):
        raise Stop(ready, "something else than the API answers there", (BODY, HOLD))
    yield ready
    for path, pictures in (("/api/v1/tryon", IN_SINGLE), ("/api/v1/tryon/combo", IN_COMBO)):
        yield await look_at_large_body(url, path, case.settings.images.body_cap(pictures), case.key)
    yield await look_at_held_poll(url, case.key, case.settings.jobs.longest_wait_seconds)


def _unreachable(url: str, error: Exception) -> Finding:
    reason = in_one_line(error)
    if isinstance(error.__cause__, ssl.SSLError) or "CERTIFICATE" in reason or "SSL" in reason:
        return TLS.error(
            f"{url}: {reason}",
            "Give the proxy a certificate for this name with its whole chain; look: openssl s_client -connect HOST:443",
        )
    return ADDRESS.error(f"{url} does not answer: {type(error).__name__} {reason}", f"curl -i {url}/readyz")


def _certificate(url: str, answer: httpx.Response) -> Finding:
    address = urlsplit(url)
    if address.scheme != "https" and address.hostname in LOOPBACK:
        return TLS.skipped("this address does not leave the machine")
    if address.scheme != "https":
        return TLS.warning("photos and keys travel unencrypted", "Put a proxy with a certificate in front of the API.")
    connection = answer.extensions["network_stream"].get_extra_info("ssl_object")
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(connection.getpeercert()["notAfter"]), UTC)
    days = (ends - datetime.now(UTC)).days
    sentence = f"{connection.version()}, certificate valid for {counted(days, 'more day')}"
    if days < SOON_DAYS:
        return TLS.warning(sentence, "Renew it, and see why its renewal has not done so.")
    return TLS.ok(sentence)


def _is_ours(answer: httpx.Response) -> bool:
    """Whether the API itself answered, ready or not."""
    try:
        body = answer.json()
    except ValueError:
        return False
    return isinstance(body, dict) and isinstance(body.get("parts"), dict)


def judged_readiness(answer: httpx.Response) -> Finding:
    """What ``/readyz`` said."""
    if not _is_ours(answer):
        return READY.error(
            f"/readyz is answered with {answer.status_code} by something else than the API",
            "See where the proxy sends this name, and that it passes every path on.",
        )
    parts = answer.json()["parts"]
    away = [f"{name}: {state}" for name, state in parts.items() if state != "ok"]
    if answer.status_code != httpx.codes.OK:
        return READY.error(f"the API takes no jobs: {', '.join(away)}", "Mend that part, or start it.")
    if away:
        return READY.warning(
            f"the API takes jobs, but {', '.join(away)}", "Mend that part; jobs wait for it meanwhile."
        )
    return READY.ok("the API can accept jobs")


@dataclass(frozen=True)
class Answer:
    """What came back: its ``X-Error-Code``, which only the API sends, and how much of the body was sent before it."""

    status: int
    code: str | None
    sent: int


async def look_at_large_body(url: str, path: str, cap: int, key: str | None) -> Finding:
    """Post nearly ``cap`` bytes to a route."""
    size = cap - ANNOUNCED_BELOW_CAP
    try:
        answer = await post(url, path, size, key)
    except (OSError, EOFError, TimeoutError, ValueError) as error:
        return BODY.error(
            f"{path}: a body of {size / MIB:.0f} MiB got no answer: {type(error).__name__} {in_one_line(error)}",
            "See the proxy's log; it may close connections that send much, or wait too short for bodies.",
        )
    return judged_body(path, size, answer, with_key=key is not None)


def judged_body(path: str, size: int, answer: Answer, *, with_key: bool) -> Finding:
    """Who answered, and whether bodies of this size arrive."""
    large = f"{path}: a body of {size / MIB:.0f} MiB"
    if answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE and answer.code is None:
        return BODY.error(
            f"{large} is refused with 413 by something in front of the API",
            f"Allow {size + ANNOUNCED_BELOW_CAP} bytes there; in nginx: client_max_body_size {-(-size // MIB)}m;",
        )
    if answer.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return BODY.warning(
            f"{large} is refused by the API itself",
            "Its caps are smaller than this host's settings: TRYON_IMAGE_MAX_BYTES",
        )
    if answer.code is None:
        return BODY.error(
            f"{large} is answered with {answer.status} by something in front of the API", "See the proxy's log."
        )
    if with_key and answer.status == HTTPStatus.BAD_REQUEST and answer.sent == size:
        return BODY.ok(f"{large} arrived to its last byte")
    if with_key or answer.code != "unauthorized":
        return BODY.warning(f"{large} was not looked at: {answer.status} {answer.code}", "Try another key, or later.")
    if answer.sent == size:
        return BODY.ok(f"{large} was taken whole and answered with 401 by the API")
    return BODY.ok(f"{large} passes by its headers, and is answered with 401 by the API; with a key it is really sent")


async def post(url: str, path: str, size: int, key: str | None) -> Answer:
    """Announce a body, wait for permission, send it until an answer comes.

    Raises:
        OSError: The connection cannot be made, or breaks before there is an answer.
        EOFError: It was closed without one.
        TimeoutError: None came.
    """
    address = urlsplit(url)
    tls = ssl.create_default_context() if address.scheme == "https" else None
    host = address.hostname or ""
    reader, writer = await asyncio.open_connection(host, address.port or (443 if tls else 80), ssl=tls)
    # Without a buffer, the count of sent bytes is exact, and nothing is left to write when the connection is closed.
    writer.transport.set_write_buffer_limits(0)
    answering = asyncio.create_task(_head_of(reader))
    try:
        lines = [f"POST {address.path}{path} HTTP/1.1", f"Host: {address.netloc}", "Content-Type: application/json"]
        lines += [f"Content-Length: {size}", "Expect: 100-continue", "Connection: close", "User-Agent: tryon-doctor"]
        lines += [f"Authorization: Bearer {key}"] if key else []
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        await asyncio.wait({answering}, timeout=PERMISSION_SECONDS)
        if answering.done() and answering.result()[0] == HTTPStatus.CONTINUE:
            answering = asyncio.create_task(_head_of(reader))
        sent = await _send(writer, size, answering)
        status, headers = await asyncio.wait_for(answering, ANSWER_SECONDS)
        while status == HTTPStatus.CONTINUE:  # a permission that came late
            status, headers = await asyncio.wait_for(_head_of(reader), ANSWER_SECONDS)
        return Answer(status, headers.get("X-Error-Code"), sent)
    finally:
        answering.cancel()
        writer.close()


async def _send(writer: asyncio.StreamWriter, size: int, answering: asyncio.Task[object]) -> int:
    """Send the body until it is over or an answer is there; returns how much was sent."""
    sent = 0
    while sent < size and not answering.done():
        chunk = CHUNK[: size - sent]
        writer.write(chunk)
        try:
            await asyncio.wait_for(writer.drain(), ANSWER_SECONDS)
        except ConnectionError:
            # The answer may have come before the connection was closed.
            break
        sent += len(chunk)
        await asyncio.sleep(0)
    return sent


async def _head_of(reader: asyncio.StreamReader) -> tuple[int, http.client.HTTPMessage]:
    """Status and headers of the next answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, _, rest = head.partition(b"\r\n")
    return int(first.split(b" ", 2)[1]), http.client.parse_headers(io.BytesIO(rest))


async def look_at_held_poll(url: str, key: str | None, longest_wait_seconds: int) -> Finding:
    """Start a slow rehearsal and wait for it with one held poll."""
    if key is None or not key.startswith(TEST_KEY_PREFIX):
        return HOLD.skipped("--key-file with a test key tries one")
    from api.dashboard.samples import PORTRAIT, picture_of  # here, because only this needs a person's picture

    portrait = "data:image/webp;base64," + base64.b64encode(picture_of(PORTRAIT)).decode()
    headers = {"Authorization": f"Bearer {key}"}
    try:
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=CALL_SECONDS) as client:
            accepted = await client.post(
                "/api/v1/tryon", json={"customerPhotoBase64": portrait, "productId": SLOW_PRODUCT}
            )
            if accepted.status_code != httpx.codes.ACCEPTED:
                code = accepted.headers.get("X-Error-Code")
                return HOLD.skipped(f"no job was accepted to wait for: {accepted.status_code} {code}")
            began = time.monotonic()
            answer = await client.get(
                f"/api/v1/tryon/{accepted.json()['jobId']}",
                headers={"Prefer": f"wait={longest_wait_seconds}"},
                timeout=longest_wait_seconds + AIR_SECONDS,
            )
            held = time.monotonic() - began
    except httpx.HTTPError as error:
        return _cut_off(f"a held poll got no answer: {type(error).__name__} {in_one_line(error)}", longest_wait_seconds)
    return judged_hold(answer.status_code, held, longest_wait_seconds)


def judged_hold(status: int, held: float, longest_wait_seconds: int) -> Finding:
    """What a poll's answer says, and how long it took."""
    if status != httpx.codes.OK:
        return _cut_off(f"a poll was answered with {status} after {held:.0f} s", longest_wait_seconds)
    return HOLD.ok(
        f"one was held for {held:.0f} s and came back (clients may ask for {longest_wait_seconds} s: not tried)"
    )


def _cut_off(sentence: str, longest_wait_seconds: int) -> Finding:
    return HOLD.error(
        sentence,
        f"Let the proxy wait longer than {longest_wait_seconds} s for an answer; in nginx: proxy_read_timeout 60s;",
    )
