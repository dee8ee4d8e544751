"""Requests as they come off the wire: headers that lie, come twice or are no text, and bodies that break off."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message

Headers = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str | None:
        return self.headers.get("x-error-code")

    @property
    def error(self) -> str:
        text: str = json.loads(self.body)["error"]
        return text


async def call(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    headers: Headers = (),
    body: bytes = b"",
    query: bytes = b"",
    breaks_off: bool = False,
) -> Answer:
    """Send one request straight to the application, past everything that would mend it on the way.

    A request that names no host is given one: what lies behind `api.admission` is tried here.
    """
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": breaks_off}]
    status = 0
    received: dict[str, str] = {}
    chunks: list[bytes] = []

    async def receive() -> Message:
        return pending.pop() if pending else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            received.update(
                {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message["headers"]}
            )
        else:
            chunks.append(message.get("body", b""))

    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "server": ("tryon", 80),
        "client": ("127.0.0.1", 50000),
        "root_path": "",
        "method": method,
        "path": path,
        "raw_path": path.encode("utf-8", "surrogatepass"),
        "query_string": query,
        "headers": [*headers, *([] if any(name == b"host" for name, _ in headers) else [(b"host", b"tryon")])],
    }
    await app(scope, receive, send)
    return Answer(status, received, b"".join(chunks))
