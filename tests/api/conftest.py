from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from temporalio.client import Client

from api.app import create_app
from api.parts import ApiParts
from api.payments import open_provider
from api.rate_limit import RateLimiter
from api.tryon.endings import JobEndings
from domain.access.keys import KeyDigester
from domain.accounts import PLAN_AS_IT_IS, OwnTerms
from domain.jobs import jobs
from domain.money.plans import PlanBook
from domain.object_keys import result_key
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.settings import Settings
from tests.factories import PLANS, Caller, cheap_passwords, create_caller
from tests.memory_store import MemoryObjectStore
from tests.pictures import data_uri
from tests.rates import generous_rates


@dataclass
class Api:
    """A client of the application in this process, and what stands behind it."""

    client: httpx.AsyncClient
    parts: ApiParts
    caller: Caller
    store: MemoryObjectStore
    app: FastAPI

    async def post(self, body: Any, path: str = "/api/v1/tryon") -> httpx.Response:
        return await self.client.post(path, content=json.dumps(body), headers={"Content-Type": "application/json"})

    async def poll(self, job_id: str) -> httpx.Response:
        return await self.client.get(f"/api/v1/tryon/{job_id}")

    async def complete(self, job_id: str, picture: bytes = b"a jpeg", keep: timedelta = timedelta(hours=1)) -> None:
        """What a run does at its end."""
        key = result_key(job_id)
        await self.store.put(key, picture, "image/jpeg")
        await self.parts.database.write(
            jobs.complete_job,
            job_id=uuid.UUID(job_id),
            result_key=key,
            engine="warp",
            report={},
            keep=keep,
            now=datetime.now(UTC),
        )


OpenApi = Callable[..., AbstractAsyncContextManager[Api]]


class Applications:
    """Applications that tests use one after the other: FastAPI takes longer to make one than most tests to run."""

    def __init__(self) -> None:
        self._idle: dict[str, list[FastAPI]] = defaultdict(list)

    @asynccontextmanager
    async def running(self, parts: ApiParts) -> AsyncIterator[FastAPI]:
        """One that nobody else uses for the length of the block; all that it takes from the settings is keyed."""
        idle = self._idle[parts.settings.api.model_dump_json() + parts.settings.images.model_dump_json()]
        app = idle.pop() if idle else self._new(parts.settings)
        app.state.next_parts, routes = parts, len(app.routes)
        async with app.router.lifespan_context(app):
            yield app
        if len(app.routes) == routes:  # a test may have added some
            idle.append(app)

    def _new(self, settings: Settings) -> FastAPI:
        @asynccontextmanager
        async def ready_parts(_settings: Settings) -> AsyncIterator[ApiParts]:
            yield app.state.next_parts

        app = create_app(settings, ready_parts)
        return app


@pytest.fixture(scope="session")
def applications() -> Applications:
    return Applications()


@pytest.fixture
def open_api(database: Database, digester: KeyDigester, idle_temporal: Client, applications: Applications) -> OpenApi:
    """Opens an API; ``settings``, ``client`` (of Temporal), ``rate_limiter``, ``own_terms`` or ``plans`` may vary."""

    @asynccontextmanager
    async def open_it(
        settings: Settings | None = None,
        client: Client | TemporalGateway | None = None,
        rate_limiter: RateLimiter | None = None,
        own_terms: OwnTerms = PLAN_AS_IT_IS,
        plans: PlanBook = PLANS,
    ) -> AsyncIterator[Api]:
        settings = settings or Settings()
        store = MemoryObjectStore()
        given = client or idle_temporal
        temporal = given if isinstance(given, TemporalGateway) else TemporalGateway(given, settings.temporal)
        parts = ApiParts(
            settings=settings,
            database=database,
            store=store,
            temporal=temporal,
            digester=digester,
            plans=plans,
            endings=JobEndings(database),
            rate_limiter=rate_limiter or generous_rates(database),
            payments=open_provider(settings.payments),
            passwords=cheap_passwords(),
        )
        caller = await create_caller(database, digester, own_terms=own_terms)
        async with (
            applications.running(parts) as app,
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://tryon", headers=caller.headers, timeout=30
            ) as http,
        ):
            try:
                yield Api(http, parts, caller, store, app)
            finally:
                await parts.endings.close()

    return open_it


@pytest.fixture
async def api(open_api: OpenApi) -> AsyncIterator[Api]:
    async with open_api() as opened:
        yield opened


def single(**fields: Any) -> dict[str, Any]:
    """A good body of POST /api/v1/tryon, with these fields changed; ``...`` leaves one out."""
    body = {"customerPhotoBase64": data_uri(), "garmentImageUrl": data_uri(), "category": "upper_body", **fields}
    return {name: value for name, value in body.items() if value is not ...}


def combo(*garments: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """A good body of POST /api/v1/tryon/combo."""
    good = {"garmentImageUrl": data_uri(), "category": "upper_body"}
    return {"customerPhotoBase64": data_uri(), "garments": list(garments) or [good, good], **fields}
