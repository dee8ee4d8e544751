"""What the CPU worker registers, and with which bounds."""

from __future__ import annotations

from datetime import timedelta

from temporalio.worker import Worker

from activities.backfills import BackfillActivities
from activities.bookkeeping import BookkeepingActivities
from activities.erasing import ErasingActivities
from activities.garments import GarmentActivities
from activities.mail import MailActivities
from activities.products import ProductActivities
from activities.purging import PurgingActivities
from activities.reconciling import ReconcilingActivities
from activities.rehearsal import RehearsalActivities
from activities.watermark import LogoActivities, WatermarkActivities
from domain.money.plans import load_plans
from gateway.queues import deployment_config, version_of
from gateway.temporal import TemporalGateway
from imaging.decoder_pool import DecoderPool
from imaging.remote import RemoteImageFetcher
from runtime.database import Database
from runtime.object_store import ObjectStore
from runtime.settings import Settings
from workflows.accounts import EraseAccountWorkflow, SendMailWorkflow, SetWatermarkWorkflow
from workflows.backfills.workflow import BackfillWorkflow
from workflows.products.registration import ImportProductsWorkflow, RegisterProductWorkflow
from workflows.queues import CPU_QUEUE
from workflows.steps import CANCELLATION_DELAY
from workflows.sweeps import LedgerCheckWorkflow, PurgeWorkflow, ReconcileWorkflow, SweepProductPicturesWorkflow
from workflows.tryon import TryOnWorkflow

GRACEFUL_SHUTDOWN = timedelta(seconds=30)
"""Longer than any step here but a slow download, which is repeated elsewhere."""

STICKY_TIMEOUT = timedelta(seconds=2)
"""What a killed worker costs a run that it had cached; the default is 10 s."""

CONCURRENT_STEPS = 16

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
]
"""All there are; a test asks for saved histories of each."""


def build_worker(
    temporal: TemporalGateway, database: Database, store: ObjectStore, fetcher: RemoteImageFetcher, settings: Settings
) -> Worker:
    """Put the worker together; it polls once it is run."""
    result_ttl = timedelta(seconds=settings.jobs.result_ttl_seconds)
    limits = settings.images.limits()
    decoders = DecoderPool(settings.workers.decoders, settings.images.max_pixels)
    garments = GarmentActivities(store, fetcher, limits, decoders)
    products = ProductActivities(database, store, fetcher, limits, decoders)
    watermark = WatermarkActivities(database, store, settings.images, decoders)
    logos = LogoActivities(database, store, fetcher, settings.images.logo_limits(), decoders)
    backfills = BackfillActivities(database, store, settings.billing.plans(load_plans), limits, decoders)
    erasing = ErasingActivities(database, store, temporal)
    bookkeeping = BookkeepingActivities(database, store, result_ttl)
    mail = MailActivities(database, settings.mail, settings.dashboard.name)
    reconciling = ReconcilingActivities(
        database, store, temporal, result_ttl, sends_mail=settings.mail.host is not None
    )
    return Worker(
        temporal.client,
        task_queue=CPU_QUEUE,
        workflows=WORKFLOWS,
        activities=[
            garments.fetch_garment,
            RehearsalActivities(store, decoders).rehearse,
            watermark.watermark,
            logos.fetch_logo,
            logos.save_watermark,
            products.copy_product_pictures,
            products.save_product,
            products.clean_up_registration,
            products.sweep_product_pictures,
            bookkeeping.settle,
            bookkeeping.release,
            bookkeeping.clean_up,
            mail.send_mail,
            reconciling.reconcile,
            PurgingActivities(database, store, settings.jobs, settings.backfills).purge,
            bookkeeping.check_ledger,
            backfills.plan_backfill,
            backfills.record_outcomes,
            backfills.finish_backfill,
            backfills.accept_item,
            backfills.await_job,
            backfills.keep_result,
            products.take_up_rows,
            products.record_rows,
            erasing.end_account_runs,
            erasing.delete_account_objects,
            erasing.forget_account_rows,
        ],
        max_concurrent_activities=CONCURRENT_STEPS,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        graceful_shutdown_timeout=GRACEFUL_SHUTDOWN,
        max_heartbeat_throttle_interval=CANCELLATION_DELAY,
        deployment_config=deployment_config(version_of(settings.temporal, "cpu")),
    )
