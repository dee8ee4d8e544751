"""``python -m worker_cpu.main``: what the CPU worker registers, with which bounds, and how it runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import structlog
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from activities.backfills import BackfillActivities
from activities.bookkeeping import BookkeepingActivities
from activities.erasing import ErasingActivities
from activities.garments import GarmentActivities
from activities.mail import MailActivities
from activities.purging import PurgingActivities
from activities.reconciling import ReconcilingActivities
from activities.rehearsal import RehearsalActivities
from activities.watermark import WatermarkActivities
from activities.webhooks import WebhookActivities, WebhookSender
from domain.jobs.jobs import ENDED
from domain.mails import Letterhead
from domain.money.plans import load_plans
from gateway.outbox import Outbox
from gateway.queues import deployment_config, version_of, watch_routing
from gateway.temporal import TemporalGateway
from imaging.decoder_pool import DecoderPool
from imaging.dialling import Dialler
from imaging.provenance import SigningError, open_signer
from imaging.remote import RemoteImageFetcher
from runtime.database import Database
from runtime.metrics import count_ended_jobs, object_store_calls
from runtime.object_store import ObjectStore, S3ObjectStore
from runtime.process import Telemetry, run_worker, serve_workers, stop_event, unless_stopped
from runtime.settings import Settings
from worker_cpu.relay import relay_forever
from worker_cpu.state_metrics import StateMetrics
from workflows import steps
from workflows.accounts import (
    DeliverWebhookWorkflow,
    EraseAccountWorkflow,
    SendMailWorkflow,
    SetWatermarkWorkflow,
)
from workflows.backfills.workflow import BackfillWorkflow
from workflows.check import CheckWorkflow
from workflows.products.registration import ImportProductsWorkflow, RegisterProductWorkflow
from workflows.queues import CPU_QUEUE, WEBHOOK_QUEUE
from workflows.steps import CANCELLATION_DELAY
from workflows.sweeps import LedgerCheckWorkflow, PurgeWorkflow, ReconcileWorkflow, SweepProductPicturesWorkflow
from workflows.tryon import TryOnWorkflow

GRACEFUL_SHUTDOWN = timedelta(seconds=30)  # longer than any step here but a slow download, which is repeated elsewhere
STICKY_TIMEOUT = timedelta(seconds=2)  # a run waits so long for a killed worker that had cached it; by default 10 s
CONCURRENT_STEPS = 16
CONCURRENT_WEBHOOKS = 64  # attempts, which wait for receivers and do next to nothing: four a second if all take 15 s

log = structlog.get_logger(__name__)

WORKFLOWS: list[type] = [
    TryOnWorkflow,
    ReconcileWorkflow,
    PurgeWorkflow,
    SetWatermarkWorkflow,
    RegisterProductWorkflow,
    SweepProductPicturesWorkflow,
    LedgerCheckWorkflow,
    BackfillWorkflow,
    EraseAccountWorkflow,
    SendMailWorkflow,
    ImportProductsWorkflow,
    CheckWorkflow,
    DeliverWebhookWorkflow,
]
"""All there are; a test asks for saved histories of each."""


def build_worker(
    temporal: TemporalGateway, database: Database, store: ObjectStore, fetcher: RemoteImageFetcher, settings: Settings
) -> Worker:
    """Put the worker together; it polls once it is run.

    Raises:
        SigningError: Pictures cannot be signed with what the settings name.
    """
    signer = open_signer(name=settings.dashboard.name, **settings.signing.model_dump())
    result_ttl = timedelta(seconds=settings.jobs.result_ttl_seconds)
    limits = settings.images.limits()
    decoders = DecoderPool(settings.workers.decoders, settings.images.max_pixels)
    parts = [
        RehearsalActivities(store, decoders),
        WatermarkActivities(database, store, fetcher, settings.images, decoders, signer),
        GarmentActivities(database, store, fetcher, limits, decoders),
        BookkeepingActivities(database, store, result_ttl, timedelta(seconds=settings.jobs.longest_result_ttl)),
        MailActivities(database, settings.mail, settings.dashboard.name),
        ReconcilingActivities(database, store, temporal, result_ttl, sends_mail=settings.mail.host is not None),
        PurgingActivities(database, store, settings.jobs, settings.backfills),
        BackfillActivities(database, store, settings.billing.plans(load_plans), limits, decoders),
        ErasingActivities(database, store, temporal),
    ]
    methods = {name: getattr(part, name) for part in parts for name in dir(part)}
    ours = [each.name for each in vars(steps).values() if isinstance(each, steps.Step) and each.task_queue == CPU_QUEUE]
    return Worker(
        temporal.client,
        task_queue=CPU_QUEUE,
        workflows=WORKFLOWS,
        activities=[methods[name] for name in ours],  # a step is done by the method of its name
        # Replayed histories and the import contracts guard against what the sandbox would catch; it took an eighth of
        # the worker's time. Tests run every workflow in it.
        workflow_runner=UnsandboxedWorkflowRunner(),
        max_concurrent_activities=CONCURRENT_STEPS,
        max_concurrent_local_activities=CONCURRENT_STEPS,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        graceful_shutdown_timeout=GRACEFUL_SHUTDOWN,
        max_heartbeat_throttle_interval=CANCELLATION_DELAY,
        deployment_config=deployment_config(version_of(settings.temporal, "cpu")),
    )


def build_webhook_worker(
    temporal: TemporalGateway, database: Database, sender: WebhookSender, settings: Settings
) -> Worker:
    """The worker of webhooks' own queue, which runs in the same process."""
    head = Letterhead(settings.dashboard.name, settings.dashboard.base_url(settings.api))
    return Worker(
        temporal.client,
        task_queue=WEBHOOK_QUEUE,
        activities=[WebhookActivities(database, head, sender).attempt_webhook],
        max_concurrent_activities=CONCURRENT_WEBHOOKS,
        graceful_shutdown_timeout=GRACEFUL_SHUTDOWN,
        deployment_config=deployment_config(version_of(settings.temporal, "cpu")),
    )


async def run(settings: Settings, telemetry: Telemetry) -> None:
    """Poll until a signal comes."""
    stop, meter = stop_event(), telemetry.meter
    fetcher = RemoteImageFetcher(max_bytes=settings.images.max_bytes)
    sender = WebhookSender(dialler=Dialler(settings.webhooks.networks()))
    interceptors = telemetry.tracing.interceptors
    arrival = TemporalGateway.connect_once_there(
        settings.temporal, runtime=telemetry.runtime, interceptors=interceptors
    )
    temporal = await unless_stopped(stop, arrival)
    if temporal is None:
        return
    outbox = Outbox(temporal, sends_mail=settings.mail.host is not None)

    def committed(info: Mapping[Any, Any]) -> None:
        count_ended_jobs(meter, info.get(ENDED, ()), durations=True)
        outbox.committed(info)

    database = Database(settings.database, on_commit=committed)
    await temporal.schedules.ensure()
    result_ttl = timedelta(seconds=settings.jobs.result_ttl_seconds)
    store = S3ObjectStore(settings.object_store, object_store_calls(meter))
    worker = build_worker(temporal, database, store, fetcher, settings)
    webhook_worker = build_webhook_worker(temporal, database, sender, settings)
    state = StateMetrics(
        database, temporal.client, meter, settings.database.file(), sends_mail=settings.mail.host is not None
    )
    try:
        await serve_workers(
            [worker, webhook_worker],
            stop,
            lambda: relay_forever(database, temporal, result_ttl),
            temporal.schedules.keep,
            lambda: state.record_forever(settings.metrics.state_interval_seconds),
            lambda: watch_routing(temporal.client, CPU_QUEUE, "workflow", version_of(settings.temporal, "cpu")),
            name="cpu",
        )
    finally:
        await fetcher.close()
        await sender.close()
        await outbox.close()
        database.close()


def main() -> None:
    """Run the CPU worker with the environment's settings."""
    try:
        run_worker("worker_cpu", run)
    except SigningError as error:
        log.error("pictures cannot be signed", reason=str(error))  # noqa: TRY400  # the sentence says it all
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
