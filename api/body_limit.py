"""Bodies: a cap per route, counted while they stream in, and a budget for all bodies in flight together.

What is answered before a body was read has to be sent so that it arrives. A connection that is closed while the other
side still sends is reset, and the reset destroys the answer on its way: a client that uploads a photo would see a
broken pipe where 401, 413 or 429 was meant. So the answer goes out at once, and what is still coming is thrown away for
a while before the connection is closed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable
from time import monotonic

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import answer_to
from api.routes import SAFE
from domain.errors import TryOnError

SILENCE_SECONDS = 2.0
"""A client that sends nothing for so long has stopped."""

LINGER_SECONDS = 15.0
"""Longest time in all."""

CLOSE = {"Connection": "close"}
"""Header of such an answer: the rest of the body would be taken for the next request."""


class Incoming:
    """A ``receive`` that knows whether more is to come."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.ended = False

    async def __call__(self) -> Message:
        message = await self._receive()
        self.ended = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message

    async def discard(self) -> None:
        """Throw away what is still coming, within the limits of time."""
        until = monotonic() + LINGER_SECONDS
        try:
            while not self.ended and monotonic() < until:
                async with asyncio.timeout(SILENCE_SECONDS):
                    await self()
        except TimeoutError:
            return


async def answer_early(answer: Response, scope: Scope, incoming: Incoming, send: Send) -> None:
    """Send a whole answer that closes the connection, then listen until the client has heard it."""
    answer.headers.update(CLOSE)

    async def send_unfinished(message: Message) -> None:
        await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

    await answer(scope, incoming, send_unfinished)
    await incoming.discard()
    await send({"type": "http.response.body", "body": b"", "more_body": False})


class BodyBudget:
    """Bytes of bodies that are being received or worked on, counted as they arrive.

    What is only announced costs nothing and counts for nothing. One body alone always gets through, however small the
    budget, and so does one that is small; a holder who has several in flight may not fill more than a quarter.
    """

    def __init__(self, total: int, small: int) -> None:
        """Nothing is held yet.

        Args:
            total: Bytes of all bodies together.
            small: Bytes of a body that is never refused, so that who uploads pictures can still erase and manage.
        """
        self.total = total
        self.small = small
        self.in_flight = 0
        self.of_holder: Counter[Hashable] = Counter()


class BodyShare:
    """The part of the budget that one body of a holder takes."""

    def __init__(self, budget: BodyBudget, holder: Hashable) -> None:
        self._budget = budget
        self._holder = holder
        self.held = 0

    def take(self, more: int) -> None:
        """Count what has arrived.

        Raises:
            TryOnError: ``busy``; it was not counted.
        """
        of_all, of_holder = self._budget.in_flight, self._budget.of_holder[self._holder]
        if self.held + more > self._budget.small and (
            (of_all > self.held and of_all + more > self._budget.total)
            or (of_holder > self.held and of_holder + more > self._budget.total // 4)
        ):
            raise TryOnError("busy")
        self._count(more)

    def give_back(self) -> None:
        """Forget the body; a second time changes nothing."""
        self._count(-self.held)
        if not self._budget.of_holder[self._holder]:
            del self._budget.of_holder[self._holder]

    def _count(self, more: int) -> None:
        self.held += more
        self._budget.in_flight += more
        self._budget.of_holder[self._holder] += more


BODY = "body"
"""Where in the ASGI scope's state the body is found further in."""

COPIED_AT_ONCE = 1024 * 1024
"""Bytes that are copied sooner than handed to a thread; beyond, copying lets other threads run meanwhile."""

SMALL_CHUNK = 4096
"""Bytes; smaller ones are put together, so that what a chunk costs by itself does not add up."""

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
        cap_of: Callable[[Scope], int],
        budget: BodyBudget,
        timeout_seconds: float,
        holder_of: Callable[[Scope], Hashable],
    ) -> None:
        """Wrap ``app``.

        Args:
            app: The application.
            cap_of: The largest body of a request in bytes.
            budget: Of all bodies together that are being received or worked on.
            timeout_seconds: Longest time for a body to arrive.
            holder_of: Whose request it is, so that nobody can use up the budget of all.
        """
        self._app = app
        self._cap_of = cap_of
        self._budget = budget
        self._timeout_seconds = timeout_seconds
        self._holder_of = holder_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in SAFE:
            await self._app(scope, receive, send)
            return
        state, incoming = scope.setdefault("state", {}), Incoming(receive)
        share = BodyShare(self._budget, self._holder_of(scope))

        async def answer(message: Message) -> None:
            # What is left to do after an answer needs no body, and must not hold up the client's next one.
            state.pop(BODY, None)
            share.give_back()
            await send(message)

        try:
            body = await self._body(scope, incoming, share)
            if isinstance(body, bytes):
                state[BODY] = body
                del body  # or this frame would hold it until the very end
                await self._app(scope, _after_body(receive), answer)
                return
        finally:
            share.give_back()
        # A client that was waited for in vain is not waited for again.
        incoming.ended = incoming.ended or body.code == "body_incomplete"
        await answer_early(answer_to(Request(scope), body), scope, incoming, send)

    async def _body(self, scope: Scope, receive: Receive, share: BodyShare) -> bytes | TryOnError:
        """Read the body, or tell why it is not read to its end."""
        cap, announced = self._cap_of(scope), Headers(scope=scope).get("Content-Length", "0")
        # The length of the text is looked at first: turning very long ones into numbers is refused by Python itself.
        if not announced.isdecimal() or len(announced) > LONGEST_LENGTH or int(announced) > cap:
            return TryOnError("body_too_large")
        try:
            async with asyncio.timeout(self._timeout_seconds):
                chunks = await _read(receive, cap, share)
        except TryOnError as error:
            return error
        except TimeoutError:
            return TryOnError("body_incomplete")
        # Many megabytes take a while to copy; a thread does that without stopping others.
        return await asyncio.to_thread(b"".join, chunks) if share.held > COPIED_AT_ONCE else b"".join(chunks)


async def _read(receive: Receive, cap: int, share: BodyShare) -> list[bytes]:
    # Kept apart as they come: a buffer that grows is copied again and again, and everybody waits meanwhile.
    chunks = [b""]
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise TryOnError("body_incomplete")
        chunk: bytes = message.get("body", b"")
        if share.held + len(chunk) > cap:
            raise TryOnError("body_too_large")
        share.take(len(chunk))
        if len(chunks[-1]) + len(chunk) <= SMALL_CHUNK:
            chunks[-1] += chunk
        else:
            chunks.append(chunk)
        if not message.get("more_body", False):
            return chunks


def body_of(request: Request) -> bytes:
    """The body that `BodyLimit` has read."""
    body: bytes = request.scope["state"][BODY]
    return body


def _after_body(receive: Receive) -> Receive:
    """A ``receive`` for an application that has its body already: nothing more comes but the client's going."""
    pending: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def after_body() -> Message:
        return pending.pop() if pending else await receive()

    return after_body
