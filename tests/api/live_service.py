"""The whole service on a loopback port: the API under its real server, a CPU worker, Temporal and a database.

It runs in a thread with an event loop of its own, so that a program outside can call it while a test waits. Keys are
test keys: every job ends by itself, without an engine. Every address holds a picture: nothing outside is dialled.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import uvicorn

from api.app import create_app
from api.parts import ApiParts
from api.payments import open_provider
from api.tryon.endings import JobEndings
from domain import migrations
from domain.access.keys import KeyDigester
from gateway.temporal import TemporalGateway
from imaging.remote import RemoteImageFetcher
from runtime.database import Database
from runtime.settings import DatabaseSettings, Settings
from tests.factories import PLANS, create_caller
from tests.memory_store import MemoryObjectStore
from tests.pictures import encoded
from tests.rates import generous_rates
from tests.servers.temporal import running_temporal
from worker_cpu.main import build_worker

START_SECONDS, STOP_SECONDS = 60, 60
PEPPER = "a pepper for the live service, longer than thirty-two characters"


@dataclass(frozen=True)
class LiveService:
    """Where it is, and the keys of two accounts that have nothing to do with each other."""

    url: str
    keys: tuple[str, str]


class AnyPictureFetcher(RemoteImageFetcher):
    """Finds the same picture everywhere."""

    def __init__(self) -> None:
        super().__init__()
        self._picture = encoded()

    async def fetch(self, url: str, max_bytes: int | None = None) -> bytes:
        return self._picture


@contextmanager
def live_service(database_url: str) -> Iterator[LiveService]:
    """The service, up and ready, until the block ends."""
    ready: Future[LiveService] = Future()
    stop: Future[None] = Future()

    def run() -> None:
        try:
            asyncio.run(_serve(database_url, ready, stop))
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    thread = threading.Thread(target=run, name="live service")
    thread.start()
    try:
        yield ready.result(START_SECONDS)
    finally:
        stop.set_result(None)
        thread.join(STOP_SECONDS)
        assert not thread.is_alive()


async def _serve(database_url: str, ready: Future[LiveService], stop: Future[None]) -> None:
    async with _running_parts(database_url) as parts:
        callers = [await create_caller(parts.database, parts.digester, mode="test") for _ in range(2)]
        listener = socket.create_server(("127.0.0.1", 0))

        @asynccontextmanager
        async def ready_parts(_settings: Settings) -> AsyncIterator[ApiParts]:
            yield parts

        # The settings of `api.main`.
        app = create_app(parts.settings, ready_parts)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, server_header=False))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        port = listener.getsockname()[1]
        ready.set_result(LiveService(f"http://127.0.0.1:{port}", (callers[0].key, callers[1].key)))
        await asyncio.wrap_future(stop)
        server.should_exit = True
        await serving


@asynccontextmanager
async def _running_parts(database_url: str) -> AsyncIterator[ApiParts]:
    settings = Settings()
    database, store = Database(DatabaseSettings(url=database_url)), MemoryObjectStore()
    migrations.upgrade(database.engine)
    endings = JobEndings(database)
    try:
        async with (
            running_temporal() as temporal,
            build_worker(TemporalGateway(temporal), database, store, AnyPictureFetcher(), settings),
        ):
            yield ApiParts(
                settings=settings,
                database=database,
                store=store,
                temporal=TemporalGateway(temporal),
                digester=KeyDigester(PEPPER),
                plans=PLANS,
                endings=endings,
                rate_limiter=generous_rates(database),
                payments=open_provider(settings.payments),
            )
            await endings.close()
    finally:
        database.close()
