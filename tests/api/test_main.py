"""Whom the server believes when a request says where it comes from."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import httpx
import pytest
import uvicorn
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from api.dashboard.visitor import address_of
from api.main import LeavingServer, options_of
from api.metrics import ApiMetrics
from api.request_context import RequestContext
from api.routes import RouteTable
from runtime.settings import ApiSettings, Settings

PROXY, STRANGER = "127.0.0.1", "127.0.0.2"
"""Two addresses of this machine, as if they were two machines."""

FORGED = "203.0.113.9"


async def tell_address(scope: Scope, receive: Receive, send: Send) -> None:
    """What the dashboard takes for the visitor."""
    request = Request(scope, receive)
    await JSONResponse([address_of(request), request.url.scheme])(scope, receive, send)


@asynccontextmanager
async def served(settings: Settings, app: ASGIApp = tell_address, **options: Any) -> AsyncIterator[str]:
    """A server with the options of the real one, but for ``options``."""
    listener = socket.create_server((PROXY, 0))
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", **(options_of(settings) | options)))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield f"http://{PROXY}:{listener.getsockname()[1]}"
    server.should_exit = True
    await serving


async def test_a_request_that_is_cut_short_by_the_end_of_the_process_is_answered_with_a_code() -> None:
    began = asyncio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        began.set()
        await asyncio.sleep(3600)

    app = RequestContext(endless, store_seconds=1, metrics=ApiMetrics(), routes=RouteTable([]))
    async with httpx.AsyncClient(timeout=30) as client:
        async with served(Settings(), app, timeout_graceful_shutdown=1) as url:
            asking = asyncio.create_task(client.get(url))
            await began.wait()
        answer = await asking
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "busy")
    assert answer.json().keys() == {"error"}


async def test_a_server_that_was_told_to_stop_takes_requests_for_as_long_as_it_leaves() -> None:
    listener, left = socket.create_server((PROXY, 0)), list[float]()
    url, clock = f"http://{PROXY}:{listener.getsockname()[1]}", asyncio.get_running_loop().time
    server = LeavingServer(
        uvicorn.Config(tell_address, lifespan="off", **options_of(Settings())), 0.5, lambda: left.append(clock())
    )
    server.capture_signals = nullcontext  # type: ignore[method-assign,assignment]  # it would end the tests with it
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    assert await ask(url, come_from=PROXY) == [PROXY, "http"]
    server.handle_exit(signal.SIGTERM, None)
    assert await ask(url, come_from=PROXY) == [PROXY, "http"]
    await serving
    assert len(left) == 1
    assert clock() - left[0] >= 0.5
    with pytest.raises(httpx.ConnectError):
        await ask(url, come_from=PROXY)


def test_a_second_signal_ends_the_leaving() -> None:
    server = LeavingServer(uvicorn.Config(tell_address, **options_of(Settings())), 600, lambda: None)
    server.started = True
    server.handle_exit(signal.SIGTERM, None)
    assert not server.should_exit
    server.handle_exit(signal.SIGTERM, None)
    assert server.should_exit


async def ask(url: str, *, come_from: str, **headers: str) -> list[str]:
    transport = httpx.AsyncHTTPTransport(local_address=come_from)
    async with httpx.AsyncClient(transport=transport) as client:
        answer: list[str] = (await client.get(url, headers=headers)).json()
    return answer


@pytest.mark.parametrize(
    ("trusted", "come_from", "believed"),
    [
        (PROXY, PROXY, True),
        (PROXY, STRANGER, False),
        ("10.0.0.0/8, 127.0.0.2", STRANGER, True),
        ("127.0.0.0/8", STRANGER, True),
        ("", PROXY, False),
        ("10.0.0.7", PROXY, False),
    ],
)
async def test_only_a_proxy_of_ours_says_where_a_request_comes_from(
    trusted: str, come_from: str, believed: bool
) -> None:
    settings = Settings()
    settings.api = ApiSettings(trusted_proxies=trusted)
    said = {"X-Forwarded-For": FORGED, "X-Forwarded-Proto": "https"}
    async with served(settings) as url:
        assert await ask(url, come_from=come_from, **said) == ([FORGED, "https"] if believed else [come_from, "http"])
        assert await ask(url, come_from=come_from) == [come_from, "http"]


async def test_what_a_visitor_wrote_before_the_proxy_did_is_not_believed() -> None:
    async with served(Settings()) as url:
        told = await ask(url, come_from=PROXY, **{"X-Forwarded-For": f"127.0.0.1, {FORGED}"})
    assert told == [FORGED, "http"]


@pytest.mark.parametrize("value", ["*", "proxy", "10.0.0.7/8", "127.0.0.1;::1"])
def test_what_is_no_address_is_refused(value: str) -> None:
    with pytest.raises(ValidationError, match="trusted_proxies"):
        ApiSettings(trusted_proxies=value)
