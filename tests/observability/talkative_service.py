"""A program for the tests of logs: API, workflow and activities at work, with parts that say what they must not.

Its standard error is the log of a real process.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import structlog
from opentelemetry.sdk.trace import TracerProvider
from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from api.app import create_app
from api.parts import ApiParts
from api.payments import open_provider
from api.tryon.endings import JobEndings
from domain import migrations
from domain.access.keys import KeyDigester
from gateway.temporal import TemporalGateway
from runtime import process as _process  # as in workers: sets up Temporal's loggers
from runtime.database import Database
from runtime.logs import ActivityLogContext, configure_logs
from runtime.object_store import ObjectStoreUnavailableError
from runtime.settings import DatabaseSettings, LogSettings, Settings
from runtime.tracing import tracing_of
from tests.factories import PLANS, create_caller
from tests.memory_store import MemoryObjectStore
from tests.pictures import data_uri
from tests.rates import generous_rates
from tests.runtime.hostile_events import EMAIL, KEY, PICTURE
from tests.servers.temporal import running_temporal
from tests.workflows.fakes import FakeSteps
from workflows.queues import CPU_QUEUE, GPU_QUEUE, tryon_workflow_id
from workflows.tryon import TryOnWorkflow

assert _process
GOSSIP = f"cannot handle {PICTURE} of {EMAIL} with {KEY} at https://shop.example/a.jpg?X-Amz-Signature=s3cr3t"


class GossipingStore(MemoryObjectStore):
    """Tells everything when it fails."""

    fault: Exception | None = None

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        if self.fault is not None:
            raise self.fault
        await super().put(key, data, content_type)


async def gossip(name: str) -> None:
    """What every step does first."""
    structlog.get_logger("steps").info("step begins", step=name, note=GOSSIP)
    if name == "clean_up":
        activity.logger.error(GOSSIP, extra={"headers": {"Authorization": f"Bearer {KEY}"}})
        raise ApplicationError(GOSSIP, non_retryable=True)


async def main(database_url: str) -> None:
    configure_logs(LogSettings(), "talkative")
    database = Database(DatabaseSettings(url=database_url))
    migrations.upgrade(database.engine)
    digester = KeyDigester("a pepper for the talkative, longer than thirty-two characters")
    caller = await create_caller(database, digester)
    provider = TracerProvider()
    tracing = tracing_of(provider.get_tracer("test"), provider.shutdown)
    store = GossipingStore()
    steps = FakeSteps(gossip)
    async with running_temporal() as plain:
        config = plain.config()
        config["interceptors"] = [ActivityLogContext(), *tracing.interceptors]
        client = Client(**config)
        settings = Settings()
        parts = ApiParts(
            settings=settings,
            database=database,
            store=store,
            temporal=TemporalGateway(client),
            digester=digester,
            plans=PLANS,
            endings=JobEndings(database),
            rate_limiter=generous_rates(database),
            payments=open_provider(settings.payments),
        )

        @asynccontextmanager
        async def ready_parts(_settings: Settings) -> AsyncIterator[ApiParts]:
            yield parts

        app = create_app(settings, ready_parts, tracing=tracing)
        async with (
            Worker(client, task_queue=CPU_QUEUE, workflows=[TryOnWorkflow], activities=steps.cpu_activities()),
            Worker(client, task_queue=GPU_QUEUE, activities=steps.gpu_activities()),
            app.router.lifespan_context(app),
            httpx.AsyncClient(
                transport=httpx.ASGITransport(app), base_url="http://tryon", headers=caller.headers, timeout=60
            ) as http,
        ):
            body = {"customerPhotoBase64": data_uri(), "garmentImageUrl": data_uri(), "category": "upper_body"}
            accepted = await http.post("/api/v1/tryon", json=body)
            job_id = accepted.json()["jobId"]
            await client.get_workflow_handle(tryon_workflow_id(job_id)).result()
            await http.get(accepted.headers["Location"])
            store.fault = ObjectStoreUnavailableError(GOSSIP)
            assert (await http.post("/api/v1/tryon", json=body)).status_code == 503
            store.fault = RuntimeError(GOSSIP)
            assert (await http.post("/api/v1/tryon", json=body)).status_code == 500
            await http.post("/api/v1/tryon", json={**body, "customerPhotoBase64": PICTURE})
            await http.get(f"/api/v1/tryon/{KEY}")
            await http.get(
                f"/api/v1/{EMAIL}/{PICTURE}", headers={"Authorization": f"Bearer {KEY}", "X-Request-Id": "mine"}
            )
    database.close()
    sys.stdout.write(json.dumps({"job_id": job_id, "account_id": str(caller.account_id), "key": caller.key}) + "\n")


asyncio.run(main(sys.argv[1]))
