"""The service in one process, seen as an operator sees it: jobs of every kind go through it, then its metrics are read.

API, CPU worker and GPU worker are the real ones, each with metrics and traces of its own as in its process; only the
engine is a fake one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
from aiohttp.abc import AbstractResolver, ResolveResult
from sqlalchemy import update
from temporalio.client import Client
from temporalio.service import RPCError

from activities.device import Device
from activities.inference import InferenceActivities
from api.app import create_app
from api.metrics import ApiMetrics
from api.parts import ApiParts, open_parts
from domain import erasure, mails, webhooks
from domain.access.keys import KeyDigester
from domain.accounts import PLAN_AS_IT_IS, OwnTerms
from domain.billing import payments
from domain.jobs.jobs import ENDED
from domain.mails import Letter
from domain.tables import Job
from engines.base import OnStep, RenderRequest, RenderResult, ShouldStop
from gateway.calls import RunNotFoundError
from gateway.temporal import TemporalGateway
from imaging.decoder_pool import DecoderPool
from imaging.dialling import Dialler
from imaging.remote import RemoteImageFetcher
from runtime.database import Database
from runtime.metrics import SdkMeter, count_ended_jobs, object_store_calls, sdk_runtime
from runtime.object_store import S3ObjectStore
from runtime.settings import (
    DatabaseSettings,
    MetricsSettings,
    ObjectStoreSettings,
    RateLimitSettings,
    SecuritySettings,
    Settings,
    TemporalSettings,
    TracingSettings,
)
from runtime.tracing import Tracing, start_tracing
from tests.activities.engines import FakeEngine, only
from tests.factories import PLANS, Caller, create_caller, create_job
from tests.pictures import data_uri, encoded
from tests.servers.processes import free_port
from tests.workers import all_running
from tests.workflows.fakes import tryon_input
from worker_cpu.main import build_worker as build_cpu_worker
from worker_cpu.state_metrics import StateMetrics
from worker_gpu.main import build_workers as build_gpu_workers
from workflows.backfills.contracts import BackfillInput, BackfillItem
from workflows.contracts import LedgerCheckInput, SweepInput
from workflows.queues import CPU_QUEUE, tryon_workflow_id

PUBLIC = "https://cdn.shop.example/shirt.jpg?signature=s3cr3t"
"""An address that looks public and leads to a private one."""


class TellingEngine(FakeEngine):
    """Reports all that an engine may report."""

    def readings(self) -> dict[str, float]:
        return {"memory_bytes": 5.0, "memory_peak_bytes": 6.0}

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        result = super().render(request, on_step, should_stop)
        result.checks["tries"] = 2.0
        return result


class InsideResolver(AbstractResolver):
    """Says of every name that it is a machine of ours."""

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host="10.0.0.1", port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        pass


@dataclass
class Scene:
    """What the tests look at.

    Attributes:
        metrics: Of the API.
        cpu_address: Where the CPU worker serves its metrics.
        gpu_address: Where the GPU worker does.
    """

    settings: Settings
    app_client: httpx.AsyncClient
    caller: Caller
    database: Database
    digester: KeyDigester
    temporal: Client
    metrics: ApiMetrics
    cpu_address: str
    gpu_address: str
    state: StateMetrics
    tracings: list[Tracing]

    async def post(self, caller: Caller | None = None, **fields: Any) -> httpx.Response:
        body = {"customerPhotoBase64": data_uri(), "garmentImageUrl": data_uri(), "category": "upper_body", **fields}
        headers = {**(caller or self.caller).headers, "Content-Type": "application/json"}
        return await self.app_client.post("/api/v1/tryon", content=json.dumps(body), headers=headers)

    async def finished(self, answer: httpx.Response, caller: Caller | None = None) -> httpx.Response:
        """The poll of an accepted job once it has ended; polls are held."""
        assert answer.status_code == 202, answer.text
        headers = {**(caller or self.caller).headers, "Prefer": "wait=30"}
        return await self.app_client.get(answer.headers["Location"], headers=headers)

    async def another_caller(self, mode: Any = "live", own_terms: OwnTerms = PLAN_AS_IT_IS) -> Caller:
        return await create_caller(self.database, self.digester, mode=mode, own_terms=own_terms)

    async def abandoned_job(self) -> uuid.UUID:
        """A job that is past its deadline and has no run."""
        return await create_job(self.database, self.caller, age=timedelta(hours=1))

    async def wait_for_owners(self) -> None:
        """A message, an event, an order and an erasure that nobody sees to."""
        now = datetime.now(UTC)
        erased = await self.another_caller()
        with self.database.transaction() as session:
            letter = Letter(subject="Confirm", body="")
            earlier = now - timedelta(minutes=2)
            mails.write_mail(session, letter, to="ann@example.com", account_id=None, now=earlier)
            buyer = self.caller.account_id
            payments.order_topup(session, PLANS, account_id=buyer, generations=1000, provider="manual", now=now)
            terms = webhooks.EndpointTerms("https://shop.example/hook", ["product.ready"])
            endpoint = webhooks.create_endpoint(session, account_id=buyer, terms=terms)
            webhooks.send_example(session, account_id=buyer, endpoint_id=endpoint.id, now=earlier)
            erasure.begin_erasure(session, account_id=erased.account_id, now=now)

    async def expire_results(self) -> None:
        with self.database.transaction() as session:
            session.execute(update(Job).where(Job.result_key.is_not(None)).values(expires_at=datetime.now(UTC)))

    async def sweep(self, name: str) -> None:
        """Run one of the scheduled workflows now."""
        argument = LedgerCheckInput() if name == "LedgerCheckWorkflow" else SweepInput()
        await self.temporal.execute_workflow(name, argument, id=f"{name}-{uuid.uuid4()}", task_queue=CPU_QUEUE)

    async def break_things(self) -> None:
        """Make a workflow task fail, an attempt of an activity, and a call of Temporal."""
        unknown = await self.temporal.start_workflow("NoSuchWorkflow", id=f"none-{uuid.uuid4()}", task_queue=CPU_QUEUE)
        await self._until_served("temporal_workflow_task_execution_failed_total")
        await unknown.terminate()
        malformed = tryon_input(f"no-id-{uuid.uuid4().hex}")
        await TemporalGateway(self.temporal).start_tryon(malformed)
        await self._until_served("temporal_activity_execution_failed_total")
        await self.temporal.get_workflow_handle(tryon_workflow_id(malformed.job_id)).terminate()
        with contextlib.suppress(RPCError):
            await self.temporal.get_workflow_handle("none").describe()

    async def backfill(self, caller: Caller, until: str, **garment: str) -> None:
        """A backfill of one item, ended as soon as this metric is served."""
        photo = "backfills/photos/anna.jpg"
        await S3ObjectStore(self.settings.object_store).put(photo, encoded(), "image/jpeg")
        item = BackfillItem.model_validate({"person": photo, **garment})
        backfill = BackfillInput(account=str(caller.account_id), items=[item])
        temporal, backfill_id = TemporalGateway(self.temporal), f"backfill-{uuid.uuid4()}"
        await temporal.start_backfill(backfill_id, backfill)
        await self._until_served(until)
        with contextlib.suppress(RunNotFoundError):  # it has ended by itself
            await temporal.steer_backfill(backfill_id, "cancel")
        await temporal.backfill_report(backfill_id)

    async def _until_served(self, metric: str) -> None:
        async with asyncio.timeout(30):
            while metric not in await self.served(self.cpu_address):
                await asyncio.sleep(0.05)

    async def served(self, address: str) -> str:
        async with httpx.AsyncClient(trust_env=False) as client:
            return (await client.get(f"http://{address}/metrics")).text

    def metrics_text(self) -> str:
        """What the API serves, fetched as Prometheus would."""
        address = f"127.0.0.1:{free_port()}"
        stop = self.metrics.meter.serve(address)
        try:
            with httpx.Client(trust_env=False) as client:
                return client.get(f"http://{address}/metrics").text
        finally:
            stop()

    def close_tracings(self) -> None:
        for tracing in self.tracings:
            tracing.close()


def settings_for(database_url: str, store: ObjectStoreSettings, temporal: str, namespace: str, otlp: str) -> Settings:
    settings = Settings()
    settings.database = DatabaseSettings(url=database_url)
    settings.object_store = store
    settings.temporal = TemporalSettings(address=temporal, namespace=namespace, start_timeout_seconds=10)
    settings.security = SecuritySettings(key_pepper="a pepper for the scene, longer than thirty-two characters")
    settings.metrics = MetricsSettings(
        worker_cpu_address=f"127.0.0.1:{free_port()}", worker_gpu_address=f"127.0.0.1:{free_port()}"
    )
    settings.rate_limit = RateLimitSettings(requests=20, window_seconds=300)
    settings.tracing = TracingSettings(endpoint=otlp, headers="x-collector-key=sesame")
    return settings


@asynccontextmanager
async def open_scene(settings: Settings) -> AsyncIterator[Scene]:
    """All three processes' insides, up and polling."""
    digester = KeyDigester(settings.security.key_pepper.get_secret_value())
    tracings = {name: start_tracing(settings.tracing, name) for name in ("api", "worker_cpu", "worker_gpu")}
    runtimes = [sdk_runtime(settings.metrics.worker_cpu_address), sdk_runtime(settings.metrics.worker_gpu_address)]
    cpu_meter, gpu_meter = (SdkMeter(each.metric_meter) for each in runtimes)
    gateways = [
        await TemporalGateway.connect(settings.temporal, runtime=runtime, interceptors=tracings[name].interceptors)
        for runtime, name in zip(runtimes, ("worker_cpu", "worker_gpu"), strict=True)
    ]
    database = Database(
        settings.database, on_commit=lambda info: count_ended_jobs(cpu_meter, info.get(ENDED, ()), durations=True)
    )
    store = S3ObjectStore(settings.object_store, object_store_calls(cpu_meter))
    fetcher = RemoteImageFetcher(dialler=Dialler(resolver=InsideResolver()))
    engine, device = TellingEngine(), Device()
    inference = InferenceActivities(
        S3ObjectStore(settings.object_store, object_store_calls(gpu_meter)),
        engine,
        only(engine),
        device,
        lambda: None,
        decoders=DecoderPool(),
        tracer=tracings["worker_gpu"].tracer,
    )
    metrics = ApiMetrics()
    app = create_app(
        settings,
        partial(open_parts, metrics=metrics, tracing=tracings["api"]),
        metrics=metrics,
        tracing=tracings["api"],
    )
    async with (
        AsyncExitStack() as closing,
        build_cpu_worker(gateways[0], database, store, fetcher, settings),
        all_running(build_gpu_workers(gateways[1].client, inference, 1)),
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://tryon", timeout=60) as http,
    ):
        closing.callback(database.close)
        closing.push_async_callback(fetcher.close)
        closing.callback(device.close)
        caller = await create_caller(database, digester)
        parts: ApiParts = app.state.parts
        yield Scene(
            settings=settings,
            app_client=http,
            caller=caller,
            database=parts.database,
            digester=digester,
            temporal=gateways[0].client,
            metrics=metrics,
            cpu_address=settings.metrics.worker_cpu_address or "",
            gpu_address=settings.metrics.worker_gpu_address or "",
            state=StateMetrics(database, gateways[0].client, cpu_meter, settings.database.file(), sends_mail=True),
            tracings=list(tracings.values()),
        )


async def play(scene: Scene) -> dict[str, httpx.Response]:
    """Everything that is counted happens once."""
    tester = await scene.another_caller(mode="test")
    poor = await scene.another_caller(own_terms=OwnTerms(included=0))
    hasty = await scene.another_caller()
    answers = {
        "completed": await scene.finished(await scene.post()),
        "refused by the engine's side": await scene.finished(await scene.post(garmentImageUrl=PUBLIC)),
        "rehearsed": await scene.finished(await scene.post(tester), tester),
        "no picture": await scene.post(customerPhotoBase64="data:image/png;base64,AAAA"),
        "private address": await scene.post(garmentImageUrl="https://127.0.0.1/shirt.jpg"),
        "out of quota": await scene.post(poor),
        "no key": await scene.app_client.get(f"/api/v1/tryon/{uuid.uuid4()}"),
        "nowhere": await scene.app_client.get("/wp-login.php"),
        "erased": await scene.app_client.request(
            "DELETE", (await scene.post()).headers["Location"], headers=scene.caller.headers
        ),
    }
    polls = [scene.app_client.get(f"/api/v1/tryon/{uuid.uuid4()}", headers=hasty.headers) for _ in range(21)]
    answers["too often"] = max(await asyncio.gather(*polls), key=lambda answer: answer.status_code)
    await scene.backfill(scene.caller, "tryon_backfill_items_total", productId="unknown")
    await scene.backfill(poor, "tryon_backfill_waits_total", garmentImageUrl=PUBLIC, category="upper_body")
    await scene.break_things()
    await scene.abandoned_job()
    await scene.sweep("ReconcileWorkflow")
    await scene.expire_results()
    await scene.sweep("PurgeWorkflow")
    await scene.sweep("LedgerCheckWorkflow")
    await scene.wait_for_owners()
    await scene.state.record()
    return answers
