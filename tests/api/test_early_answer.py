"""An answer goes out before the rest of the body is thrown away, and nobody waits for long."""

from __future__ import annotations

import asyncio

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message

from api import body_limit
from api.body_limit import CLOSE, Incoming, answer_early


async def happenings(*messages: Message) -> list[str]:
    """What is sent (``>``) and read (``<``), in order; after the last message the client is silent."""
    pending, happened = list(messages), []

    async def receive() -> Message:
        happened.append("<")
        if not pending:
            await asyncio.sleep(60)
        return pending.pop(0)

    async def send(message: Message) -> None:
        happened.append(">" if message.get("more_body", True) else "> end")

    await answer_early(PlainTextResponse("no", 401, CLOSE), {"type": "http"}, Incoming(receive), send)
    return happened


def part(*, more: bool) -> Message:
    return {"type": "http.request", "body": b"x", "more_body": more}


async def test_the_answer_is_sent_before_the_body_is_read() -> None:
    assert await happenings(part(more=True), part(more=True), part(more=False)) == [">", ">", "<", "<", "<", "> end"]


async def test_a_client_that_hangs_up_is_not_waited_for() -> None:
    assert await happenings(part(more=True), {"type": "http.disconnect"}) == [">", ">", "<", "<", "> end"]


async def test_a_client_that_falls_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limit, "SILENCE_SECONDS", 0.01)
    assert await happenings(part(more=True)) == [">", ">", "<", "<", "> end"]


async def test_a_client_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limit, "LINGER_SECONDS", 0.0)
    assert await happenings(part(more=True), part(more=True)) == [">", ">", "> end"]


async def test_a_body_that_was_read_to_its_end_is_not_waited_for() -> None:
    async def receive() -> Message:
        return part(more=False)

    incoming = Incoming(receive)
    await incoming()
    assert incoming.ended
    await asyncio.wait_for(incoming.discard(), 0.1)
