"""Whether a body as large as the API takes gets past whatever stands in front of it.

The API refuses a call without a key by its headers, before its body. So the headers announce the whole body and ask
for permission first (``Expect: 100-continue``). An answer of 413 is a proxy's, and 401 is the API's: the headers have
passed. A proxy that collects bodies gives the permission itself; then the body is really sent. With a key the API
reads the body too, to its last byte, before it refuses it for not being JSON.
"""

from __future__ import annotations

import asyncio
import http.client
import io
import ssl
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

from cli.diagnosis.findings import Finding, Subject, in_one_line

BODY = Subject("large bodies")

ANNOUNCED_BELOW_CAP = 1
CHUNK = b" " * 65_536
PERMISSION_SECONDS = 3.0
"""Who does not know ``Expect`` says nothing; then the body is sent unasked."""

ANSWER_SECONDS = 60.0
"""A proxy that collects the body hands it on only when it has all of it."""

MIB = 1 << 20


@dataclass(frozen=True)
class Answer:
    """What came back.

    Attributes:
        status: Of the answer.
        code: Its ``X-Error-Code``, which only the API sends.
        sent: Bytes of the body that were sent before it came.
    """

    status: int
    code: str | None
    sent: int


async def look(url: str, path: str, cap: int, key: str | None) -> Finding:
    """Post nearly ``cap`` bytes to a route."""
    size = cap - ANNOUNCED_BELOW_CAP
    try:
        answer = await post(url, path, size, key)
    except (OSError, EOFError, TimeoutError, ValueError) as error:
        return BODY.error(
            f"{path}: a body of {size / MIB:.0f} MiB got no answer: {type(error).__name__} {in_one_line(error)}",
            "See the proxy's log; it may close connections that send much, or wait too short for bodies.",
        )
    return judged(path, size, answer, with_key=key is not None)


def judged(path: str, size: int, answer: Answer, *, with_key: bool) -> Finding:
    """Whose answer it is, and what it says of bodies of this size."""
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
    # So that what was sent is sent, and nothing is left to be written when the connection is closed.
    writer.transport.set_write_buffer_limits(0)
    answering = asyncio.create_task(_head(reader))
    try:
        writer.write(_opening(address.netloc, f"{address.path}{path}", size, key))
        await asyncio.wait({answering}, timeout=PERMISSION_SECONDS)
        if answering.done() and answering.result()[0] == HTTPStatus.CONTINUE:
            answering = asyncio.create_task(_head(reader))
        sent = await _send(writer, size, answering)
        status, headers = await asyncio.wait_for(answering, ANSWER_SECONDS)
        while status == HTTPStatus.CONTINUE:  # a permission that came late
            status, headers = await asyncio.wait_for(_head(reader), ANSWER_SECONDS)
        return Answer(status, headers.get("X-Error-Code"), sent)
    finally:
        answering.cancel()
        writer.close()


def _opening(host: str, path: str, size: int, key: str | None) -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {host}",
        "Content-Type: application/json",
        f"Content-Length: {size}",
        "Expect: 100-continue",
        "Connection: close",
        "User-Agent: tryon-doctor",
    ]
    lines += [f"Authorization: Bearer {key}"] if key else []
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


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


async def _head(reader: asyncio.StreamReader) -> tuple[int, http.client.HTTPMessage]:
    """Status and headers of the next answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, _, rest = head.partition(b"\r\n")
    return int(first.split(b" ", 2)[1]), http.client.parse_headers(io.BytesIO(rest))
