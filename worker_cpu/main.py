"""``python -m worker_cpu.main``."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from imaging.remote import RemoteImageFetcher
from temporalio.worker import Worker

from activities.bookkeeping import BookkeepingActivities
from activities.garments import GarmentActivities
from activities.sweeping import SweepingActivities
from activities.watermark import WatermarkActivities
from imaging.limits import ImageLimits
from runtime.database import Database
from runtime.logs import configure_logs
from runtime.object_store import S3ObjectStore
from runtime.process import serve_worker, stop_event
from runtime.settings import Settings, load_settings
from runtime.temporal import connect_temporal
from worker_cpu.relay import relay_forever
from workflows.queues import CPU_QUEUE
from workflows.sweeps import PurgeWorkflow, ReconcileWorkflow, ensure_schedules
from workflows.tryon import TryOnWorkflow

GRACEFUL_SHUTDOWN = timedelta(seconds=30)
"""Longer than any step here but a slow download, which is repeated elsewhere."""

STICKY_TIMEOUT = timedelta(seconds=2)
"""What a killed worker costs a run that it had cached; the default is 10 s."""

CONCURRENT_STEPS = 16


async def run(settings: Settings) -> None:
    """Poll until a signal comes."""
    stop = stop_event()
    database = Database(settings.database)
    store = S3ObjectStore(settings.object_store)
    limits = ImageLimits(**settings.images.limits())
    fetcher = RemoteImageFetcher(max_bytes=limits.max_bytes)
    client = await connect_temporal(settings.temporal)
    result_ttl = timedelta(seconds=settings.jobs.result_ttl_seconds)
    await ensure_schedules(client)
    garments = GarmentActivities(store, fetcher, limits)
    watermark = WatermarkActivities(store, settings.images.jpeg_quality)
    bookkeeping = BookkeepingActivities(database, store, result_ttl)
    sweeping = SweepingActivities(database, store, client, result_ttl)
    worker = Worker(
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
    )
    try:
        await serve_worker(worker, stop, lambda: relay_forever(database, client), name="cpu")
    finally:
        await fetcher.close()
        await database.close()


def main() -> None:
    """Run the CPU worker with the environment's settings."""
    settings = load_settings()
    configure_logs(settings.logs, "worker_cpu")
    asyncio.run(run(settings))


if __name__ == "__main__":
    main()
