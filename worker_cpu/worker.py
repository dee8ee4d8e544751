"""What the CPU worker registers, and with which bounds."""

from __future__ import annotations

from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from activities.bookkeeping import BookkeepingActivities
from activities.garments import GarmentActivities
from activities.sweeping import SweepingActivities
from activities.watermark import WatermarkActivities
from imaging.limits import ImageLimits
from imaging.remote import RemoteImageFetcher
from runtime.database import Database
from runtime.object_store import ObjectStore
from runtime.settings import Settings
from workflows.queues import CPU_QUEUE
from workflows.steps import CANCELLATION_DELAY
from workflows.sweeps import PurgeWorkflow, ReconcileWorkflow
from workflows.tryon import TryOnWorkflow

GRACEFUL_SHUTDOWN = timedelta(seconds=30)
"""Longer than any step here but a slow download, which is repeated elsewhere."""

STICKY_TIMEOUT = timedelta(seconds=2)
"""What a killed worker costs a run that it had cached; the default is 10 s."""

CONCURRENT_STEPS = 16


def build_worker(
    client: Client, database: Database, store: ObjectStore, fetcher: RemoteImageFetcher, settings: Settings
) -> Worker:
    """Put the worker together; it polls once it is run."""
    result_ttl = timedelta(seconds=settings.jobs.result_ttl_seconds)
    garments = GarmentActivities(store, fetcher, ImageLimits(**settings.images.limits()))
    watermark = WatermarkActivities(store, settings.images.jpeg_quality)
    bookkeeping = BookkeepingActivities(database, store, result_ttl)
    sweeping = SweepingActivities(database, store, client, result_ttl)
    return Worker(
        client,
        task_queue=CPU_QUEUE,
        workflows=[TryOnWorkflow, ReconcileWorkflow, PurgeWorkflow],
        activities=[
            garments.fetch_garment,
            watermark.watermark,
            bookkeeping.settle,
            bookkeeping.release,
            bookkeeping.clean_up,
            sweeping.reconcile,
            sweeping.purge,
        ],
        max_concurrent_activities=CONCURRENT_STEPS,
        sticky_queue_schedule_to_start_timeout=STICKY_TIMEOUT,
        graceful_shutdown_timeout=GRACEFUL_SHUTDOWN,
        max_heartbeat_throttle_interval=CANCELLATION_DELAY,
    )
