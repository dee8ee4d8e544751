"""Answers to requests whose bodies nobody will read, sent so that they arrive.

A connection that is closed while the other side still sends is reset, and the reset destroys the answer on its way:
a client that uploads a photo would see a broken pipe where 401, 413 or 429 was meant. So the answer goes out at once,
and what is still coming is thrown away for a while before the connection is closed.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


async def answer_early(answer: ASGIApp, scope: Scope, incoming: Incoming, send: Send) -> None:
    """Send a whole answer, with `CLOSE` among its headers, then listen until the client has heard it."""

    async def send_unfinished(message: Message) -> None:
        await send({**message, "more_body": True} if message["type"] == "http.response.body" else message)

    await answer(scope, incoming, send_unfinished)
    await incoming.discard()
    await send({"type": "http.response.body", "body": b"", "more_body": False})
