from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from api.body_limit import BodyLimit

CAP = 100


class Application:
    """Remembers the bodies that reached it, and may hold on to them."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.bodies.append((await receive())["body"])
        await self.go_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def limited(application: Application, budget: int = 1000, timeout_seconds: float = 5) -> BodyLimit:
    return BodyLimit(application, caps={"/large": CAP}, other_cap=10, budget=budget, timeout_seconds=timeout_seconds)


async def status_of(limit: BodyLimit, *messages: Message, path: str = "/large", length: int | None = None) -> int:
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


async def test_another_path_has_its_own_cap() -> None:
    assert await status_of(limited(Application()), part(11), path="/other") == 413


async def test_a_cap_holds_for_every_path_of_its_route() -> None:
    limit = BodyLimit(Application(), caps={"/things/{id}": CAP}, other_cap=10, budget=1000, timeout_seconds=5)
    assert await status_of(limit, part(CAP), path="/things/one") == 200
    assert await status_of(limit, part(CAP + 1), path="/things/two") == 413
    for path in ("/things", "/things/", "/things/one/more", "/other/things/one"):
        assert await status_of(limit, part(11), path=path) == 413


async def test_a_client_that_hangs_up_is_refused() -> None:
    assert await status_of(limited(Application()), part(10, more=True), {"type": "http.disconnect"}) == 400


async def test_a_client_that_trickles_is_refused() -> None:
    assert await status_of(limited(Application(), timeout_seconds=0.05), part(10, more=True)) == 400


async def test_bodies_beyond_the_budget_wait_for_another_time() -> None:
    application = Application()
    application.go_on.clear()
    limit = limited(application, budget=150)
    first = asyncio.create_task(status_of(limit, part(90), length=90))
    await asyncio.sleep(0.01)
    assert await status_of(limit, part(70), length=70) == 503
    assert await status_of(limit, part(90)) == 503, "without a length, the cap is what counts"
    application.go_on.set()
    assert await first == 200
    assert await status_of(limit, part(90), length=90) == 200, "what the first held is free again"


async def test_a_single_body_passes_however_small_the_budget() -> None:
    assert await status_of(limited(Application(), budget=1), part(90), length=90) == 200
