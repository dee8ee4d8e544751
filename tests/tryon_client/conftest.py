from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.api.conftest import api, applications, open_api
from tests.pictures import encoded
from tests.tryon_client.scripted_server import ScriptedServer, running_server
from tryon_client import AsyncTryOnClient, TryOnClient

__all__ = ["api", "applications", "open_api"]  # fixtures, shared with the API's own tests

KEY = "vto_test_a-key-for-tests"


class FakeTime:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


class InThreads:
    """A blocking client whose methods are awaited, so that one test serves both clients."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        if name == "products":
            return InThreads(self._target.products)
        method = getattr(self._target, name)
        if name == "list":
            return functools.partial(self._listed, method)
        return functools.partial(asyncio.to_thread, method)

    async def _listed(self, method: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        for item in await asyncio.to_thread(lambda: list(method(*args, **kwargs))):
            yield item


@pytest.fixture
def jpeg() -> bytes:
    return encoded()


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with running_server() as running:
        yield running
        assert not running.script, "the client asked less often than the test expects"


OpenClient = Callable[..., Any]


@pytest.fixture(params=["blocking", "asyncio"])
async def open_client(
    request: pytest.FixtureRequest, server: ScriptedServer, time: FakeTime
) -> AsyncIterator[OpenClient]:
    """Makes a client of either kind, with time standing still."""
    opened: list[TryOnClient | AsyncTryOnClient] = []

    def open_it(**options: Any) -> Any:
        if request.param == "blocking":
            blocking = TryOnClient(server.url, KEY, sleep=time.sleep, clock=time.clock, **options)
            opened.append(blocking)
            return InThreads(blocking)
        client = AsyncTryOnClient(server.url, KEY, sleep=time.sleep_async, clock=time.clock, **options)
        opened.append(client)
        return client

    yield open_it
    for client in opened:
        if isinstance(client, TryOnClient):
            client.close()
        else:
            await client.close()


@pytest.fixture
def client(open_client: OpenClient) -> Any:
    return open_client()
