"""The whole service in this process, around real servers: only the engine is a fake, and the shop is on loopback."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult
from temporalio.client import Client

from activities.device import Device
from activities.inference import InferenceActivities
from api.app import create_app
from api.parts import ApiParts
from api.payments import open_provider
from api.tryon.endings import JobEndings
from domain.access.keys import KeyDigester
from engines.routes import RoutedEngines
from gateway.temporal import TemporalGateway
from imaging.decoder_pool import DecoderPool
from runtime.database import Database
from runtime.object_store import S3ObjectStore
from runtime.settings import Settings
from tests.activities.engines import FakeEngine, only
from tests.factories import PLANS, Caller, cheap_passwords, create_caller
from tests.imaging.shop import Shop, make_certificate, open_shop
from tests.rates import generous_rates
from tests.workers import all_running
from worker_cpu.main import build_worker as build_cpu_worker
from worker_gpu.main import build_workers as build_gpu_workers


class ShopResolver(AbstractResolver):
    """Sends ``shop.example`` to the test's own server, and knows nobody else."""

    def __init__(self, port: int) -> None:
        self._port = port

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        if host != "shop.example":
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [
            ResolveResult(hostname=host, host="127.0.0.1", port=self._port, family=socket.AF_INET, proto=0, flags=0)
        ]

    async def close(self) -> None:
        pass


@dataclass
class Service:
    """A client of the API, and what stands behind it."""

    client: httpx.AsyncClient
    database: Database
    store: S3ObjectStore
    caller: Caller
    shop: Shop
    engine: FakeEngine

    async def post(self, body: dict[str, Any], path: str = "/api/v1/tryon") -> str:
        answer = await self.client.post(path, json=body)
        assert answer.status_code == 202, answer.text
        job_id: str = answer.json()["jobId"]
        return job_id

    async def finished(self, job_id: str, seconds: float = 30) -> dict[str, Any]:
        async with asyncio.timeout(seconds):
            while True:
                body: dict[str, Any] = (await self.client.get(f"/api/v1/tryon/{job_id}")).json()
                if body.get("status") != "processing":
                    return body
                await asyncio.sleep(0.05)

    async def objects(self, job_id: str) -> list[str]:
        return [key for key in await self.store.list_keys("") if job_id in key]


@pytest.fixture(scope="session")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    async with open_shop(*make_certificate(tmp_path_factory.mktemp("shop"))) as running:
        yield running


@dataclass
class Servers:
    """What a service stands on."""

    database: Database
    store: S3ObjectStore
    temporal: Client
    digester: KeyDigester
    shop: Shop


@pytest.fixture
async def servers(
    database: Database, object_store: S3ObjectStore, temporal: Client, digester: KeyDigester, shop: Shop
) -> Servers:
    return Servers(database, object_store, temporal, digester, shop)


@pytest.fixture
async def service(servers: Servers) -> AsyncIterator[Service]:
    engine = FakeEngine()
    async with running_service(servers, engine, only(engine)) as running:
        yield running


@asynccontextmanager
async def running_service(servers: Servers, segmenter: Any, engines: RoutedEngines) -> AsyncIterator[Service]:
    """API and both workers, with these engines."""
    settings, device = Settings(), Device(engines.parallel)
    database, store, shop = servers.database, servers.store, servers.shop
    fetcher = shop.fetcher(ShopResolver(shop.port))
    inference = InferenceActivities(store, segmenter, engines, device, lambda: None, decoders=DecoderPool())
    parts = ApiParts(
        settings=settings,
        database=database,
        store=store,
        temporal=TemporalGateway(servers.temporal),
        digester=servers.digester,
        plans=PLANS,
        endings=JobEndings(database),
        rate_limiter=generous_rates(database),
        payments=open_provider(settings.payments),
        passwords=cheap_passwords(),
    )

    @asynccontextmanager
    async def ready_parts(_settings: Settings) -> AsyncIterator[ApiParts]:
        yield parts

    caller = await create_caller(database, servers.digester)
    async with (
        AsyncExitStack() as closing,
        build_cpu_worker(parts.temporal, database, store, fetcher, settings),
        all_running(build_gpu_workers(servers.temporal, inference, engines.parallel)),
        (app := create_app(settings, ready_parts)).router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://tryon", headers=caller.headers, timeout=30
        ) as client,
    ):
        closing.callback(device.close)
        closing.push_async_callback(fetcher.close)
        yield Service(client, database, store, caller, shop, segmenter)
