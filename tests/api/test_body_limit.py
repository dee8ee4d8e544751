from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from api.body_limit import BODY, COPIED_AT_ONCE, BodyBudget, BodyLimit

CAP = 100


class Application:
    """Remembers the bodies that reached it, and may hold on to them."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.bodies.append(scope["state"][BODY])
        assert (await receive())["body"] == b""
        await self.go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def limited(application: Application, budget: int = 1000, timeout_seconds: float = 5, cap: int = CAP) -> BodyLimit:
    return BodyLimit(
        application,
        cap_of=lambda scope: cap if scope["path"] == "/large" else 10,
        budget=BodyBudget(budget, small=10),
        timeout_seconds=timeout_seconds,
        holder_of=lambda scope: scope["holder"],
    )


async def status_of(
    limit: BodyLimit, *messages: Message, path: str = "/large", length: int | None = None, holder: str = "somebody"
) -> int:
    """Send these messages as one request; after the last one the client is silent."""
    headers = [] if length is None else [(b"content-length", str(length).encode())]
    pending = list(messages)
    statuses: list[int] = []

    async def receive() -> Message:
        if pending:
            return pending.pop(0)
        await asyncio.sleep(60)
        raise AssertionError

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}
    scope["holder"] = holder
    await limit(scope, receive, send)
    return statuses[0]


def part(size: int, more: bool = False) -> Message:
    return {"type": "http.request", "body": b"x" * size, "more_body": more}


async def test_a_body_of_exactly_the_cap_passes_whole() -> None:
    application = Application()
    assert await status_of(limited(application), part(60, more=True), part(40), length=CAP) == 200
    assert application.bodies == [b"x" * CAP]


async def test_one_byte_more_is_413_however_it_arrives() -> None:
    application = Application()
    assert await status_of(limited(application), part(60, more=True), part(41)) == 413
    assert await status_of(limited(application), part(101), length=101) == 413
    assert await status_of(limited(application), part(60, more=True), part(41), length=50) == 413
    assert application.bodies == []


async def test_one_that_announces_too_much_is_413_whatever_it_sends() -> None:
    assert await status_of(limited(Application()), part(10), length=CAP + 1) == 413


async def test_chunks_of_all_sizes_arrive_in_order() -> None:
    application, chunks = Application(), [bytes([number % 251]) * (number * 37 % 6000) for number in range(1000)]
    messages: list[Message] = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    limit = limited(application, budget=10**7, cap=10**7)
    assert await status_of(limit, *messages, part(0)) == 200
    assert application.bodies == [b"".join(chunks)]
    assert len(application.bodies[0]) > COPIED_AT_ONCE


async def test_another_path_has_its_own_cap() -> None:
    assert await status_of(limited(Application()), part(11), path="/other") == 413


async def test_a_client_that_hangs_up_is_refused() -> None:
    assert await status_of(limited(Application()), part(10, more=True), {"type": "http.disconnect"}) == 400


async def test_a_client_that_trickles_is_refused() -> None:
    assert await status_of(limited(Application(), timeout_seconds=0.05), part(10, more=True)) == 400


async def test_bodies_beyond_the_budget_wait_for_another_time() -> None:
    application = Application()
    application.go_on.clear()
    limit = limited(application, budget=150)
    first = asyncio.create_task(status_of(limit, part(90)))
    await asyncio.sleep(0.01)
    assert await status_of(limit, part(70), holder="another") == 503
    application.go_on.set()
    assert await first == 200
    assert await status_of(limit, part(90), holder="another") == 200, "what the first held is free again"


async def test_what_is_announced_and_does_not_come_holds_nobody_up() -> None:
    limit = limited(Application(), budget=150, timeout_seconds=0.2)
    silent = [asyncio.create_task(status_of(limit, length=CAP, holder=f"silent {number}")) for number in range(20)]
    await asyncio.sleep(0.01)
    assert await status_of(limit, part(90), length=90) == 200
    assert await asyncio.gather(*silent) == [400] * 20


async def test_nobody_fills_the_budget_alone() -> None:
    application = Application()
    application.go_on.clear()
    limit = limited(application, budget=150)
    first = asyncio.create_task(status_of(limit, part(30), holder="greedy"))
    await asyncio.sleep(0.01)
    assert await status_of(limit, part(30), holder="greedy") == 503
    second = asyncio.create_task(status_of(limit, part(30), holder="modest"))
    await asyncio.sleep(0.01)
    application.go_on.set()
    assert (await first, await second) == (200, 200)


async def test_who_uploads_pictures_can_still_manage() -> None:
    application = Application()
    application.go_on.clear()
    limit = limited(application, budget=90)
    uploads = [asyncio.create_task(status_of(limit, part(90), holder="shop"))]
    await asyncio.sleep(0.01)
    uploads += [asyncio.create_task(status_of(limit, part(size), path="/keys", holder="shop")) for size in (0, 10)]
    await asyncio.sleep(0.01)
    application.go_on.set()
    assert await asyncio.gather(*uploads) == [200, 200, 200]


async def test_what_is_done_after_an_answer_holds_no_body() -> None:
    done = asyncio.Event()

    async def lingers(scope: Scope, receive: Receive, send: Send) -> None:
        await application(scope, receive, send)
        await done.wait()

    application = Application()
    limit = limited(application, budget=150)
    limit._app = lingers
    lingering = asyncio.create_task(status_of(limit, part(90)))
    await asyncio.sleep(0.01)
    next_one = asyncio.create_task(status_of(limit, part(90)))
    await asyncio.sleep(0.01)
    done.set()
    assert await asyncio.gather(lingering, next_one) == [200, 200]


async def test_a_request_that_is_broken_off_gives_back_what_it_held() -> None:
    application = Application()
    application.go_on.clear()
    limit = limited(application, budget=150)
    working = asyncio.create_task(status_of(limit, part(90)))
    arriving = asyncio.create_task(status_of(limit, part(50, more=True), holder="another"))
    await asyncio.sleep(0.01)
    for task in (working, arriving):
        task.cancel()
    await asyncio.gather(working, arriving, return_exceptions=True)
    application.go_on.set()
    statuses = await asyncio.gather(*(status_of(limit, part(70), holder=f"number {number}") for number in range(2)))
    assert statuses == [200, 200]


async def test_a_single_body_passes_however_small_the_budget() -> None:
    assert await status_of(limited(Application(), budget=1), part(90), length=90) == 200
