"""Caps on bodies: per route, counted while they stream in, and a budget for all bodies in flight together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Mapping

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.routing import compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.body_budget import BodyBudget
from api.early_answer import CLOSE, Incoming, answer_early
from api.errors import error_response
from domain.errors import TryOnError

BODY = "body"
"""Where in the ASGI scope's state the body is found further in."""

LONGEST_LENGTH = 18
"""Digits of a Content-Length that may be meant."""


class BodyLimit:
    """ASGI middleware that reads the whole body within its limits before the application sees the request.

    The routes of this service need the whole body at once, so nothing is lost by collecting it here, and a body
    that is too large, too slow or broken off never reaches them.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        caps: Mapping[str, int],
        other_cap: int,
        budget: int,
        timeout_seconds: float,
        holder_of: Callable[[Scope], Hashable],
    ) -> None:
        """Wrap ``app``.

        Args:
            app: The application.
            caps: Path of a route, such as ``/things/{id}``, to the largest body in bytes.
            other_cap: The same for every other route.
            budget: Bytes of all bodies together that are being received or worked on.
            timeout_seconds: Longest time for a body to arrive.
            holder_of: Whose request it is, so that nobody can use up the budget of all.
        """
        self._app = app
        self._caps = [(compile_path(path)[0], cap) for path, cap in caps.items()]
        self._other_cap = other_cap
        self._budget = BodyBudget(budget)
        self._timeout_seconds = timeout_seconds
        self._holder_of = holder_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self._app(scope, receive, send)
            return
        holder, body, incoming = self._holder_of(scope), bytearray(), Incoming(receive)
        try:
            refusal = await self._refusal(scope, incoming, holder, body)
            if refusal is None:
                scope.setdefault("state", {})[BODY] = body
                await self._app(scope, _after_body(receive), send)
        finally:
            self._budget.give_back(holder, len(body))
        if refusal is not None:
            body.clear()
            # Who has been waited for in vain is not waited for again.
            incoming.ended = incoming.ended or refusal.code == "body_incomplete"
            await answer_early(error_response(refusal, CLOSE), scope, incoming, send)

    async def _refusal(self, scope: Scope, receive: Receive, holder: Hashable, body: bytearray) -> TryOnError | None:
        """Read the body, or tell why it is not read to its end."""
        cap = next((cap for path, cap in self._caps if path.match(scope["path"])), self._other_cap)
        try:
            self._check_announcement(scope, cap)
            async with asyncio.timeout(self._timeout_seconds):
                await self._read(receive, cap, holder, body)
        except TryOnError as error:
            return error
        except TimeoutError:
            return TryOnError("body_incomplete")
        return None

    @staticmethod
    def _check_announcement(scope: Scope, cap: int) -> None:
        text = Headers(scope=scope).get("Content-Length")
        if text is None:
            return
        # The length of the text is looked at first: turning very long ones into numbers is refused by Python itself.
        length = int(text) if text.isdecimal() and len(text) <= LONGEST_LENGTH else cap + 1
        if length > cap:
            raise TryOnError("body_too_large")

    async def _read(self, receive: Receive, cap: int, holder: Hashable, body: bytearray) -> None:
        # Into one piece from the start: joining parts afterwards would stop everybody while 100 MiB are copied.
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise TryOnError("body_incomplete")
            chunk = message.get("body", b"")
            if len(body) + len(chunk) > cap:
                raise TryOnError("body_too_large")
            self._budget.hold(holder, len(body), len(chunk))
            body += chunk
            if not message.get("more_body", False):
                return


def body_of(request: Request) -> bytearray:
    """The body that `BodyLimit` has read."""
    body: bytearray = request.scope["state"][BODY]
    return body


def _after_body(receive: Receive) -> Receive:
    """A ``receive`` for an application that has its body already: nothing more comes but the client's going."""
    pending: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def after_body() -> Message:
        return pending.pop() if pending else await receive()

    return after_body
