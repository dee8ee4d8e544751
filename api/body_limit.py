"""Caps on bodies: per route, counted while they stream in, and a budget for all bodies in flight together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import error_response
from domain.errors import TryOnError


class BodyLimit:
    """ASGI middleware that reads the whole body within its limits before the application sees the request.

    The routes of this service need the whole body at once, so nothing is lost by collecting it here, and a body
    that is too large, too slow or broken off never reaches them.
    """

    def __init__(
        self, app: ASGIApp, *, caps: Mapping[str, int], other_cap: int, budget: int, timeout_seconds: float
    ) -> None:
        """Wrap ``app``.

        Args:
            app: The application.
            caps: Path of a route, such as ``/things/{id}``, to the largest body in bytes.
            other_cap: The same for every other route.
            budget: Bytes of all bodies together that are being received or worked on.
            timeout_seconds: Longest time for a body to arrive.
        """
        self._app = app
        self._caps = [(compile_path(path)[0], cap) for path, cap in caps.items()]
        self._other_cap = other_cap
        self._budget = budget
        self._in_flight = 0
        self._timeout_seconds = timeout_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        held = 0
        try:
            cap = next((cap for path, cap in self._caps if path.match(scope["path"])), self._other_cap)
            declared = self._declared_length(scope, cap)
            # A body of unknown length may turn out as large as the cap.
            held = self._hold(cap if declared is None else declared)
            body = await self._read(receive, cap)
        except TryOnError as error:
            self._in_flight -= held
            await error_response(error, {"Connection": "close"})(scope, receive, send)
            return
        try:
            await self._app(scope, _replay(body, receive), send)
        finally:
            self._in_flight -= held

    def _declared_length(self, scope: Scope, cap: int) -> int | None:
        text = Headers(scope=scope).get("Content-Length")
        if text is None:
            return None
        length = int(text) if text.isdecimal() else cap + 1
        if length > cap:
            raise TryOnError("body_too_large")
        return length

    def _hold(self, size: int) -> int:
        # A single body must always get through when nothing else is in flight, however small the budget.
        if self._in_flight and self._in_flight + size > self._budget:
            raise TryOnError("busy")
        self._in_flight += size
        return size

    async def _read(self, receive: Receive, cap: int) -> bytes:
        chunks: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._timeout_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise TryOnError("body_incomplete")
                    chunk = message.get("body", b"")
                    size += len(chunk)
                    if size > cap:
                        raise TryOnError("body_too_large")
                    chunks.append(chunk)
                    if not message.get("more_body", False):
                        return b"".join(chunks)
        except TimeoutError:
            raise TryOnError("body_incomplete") from None


def _replay(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that hands out the collected body, then whatever else comes."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay
