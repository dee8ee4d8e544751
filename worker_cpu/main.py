"""``python -m worker_cpu.main``."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from imaging.remote import RemoteImageFetcher
from runtime.database import Database
from runtime.logs import configure_logs
from runtime.object_store import S3ObjectStore
from runtime.process import serve_worker, stop_event, yield_to_others
from runtime.settings import Settings, load_settings
from runtime.temporal import connect_temporal
from worker_cpu.relay import relay_forever
from worker_cpu.worker import build_worker
from workflows.sweeps import ensure_schedules


async def run(settings: Settings) -> None:
    """Poll until a signal comes."""
    stop = stop_event()
    database = Database(settings.database)
    fetcher = RemoteImageFetcher(max_bytes=settings.images.max_bytes)
    client = await connect_temporal(settings.temporal, metrics_address=settings.metrics.worker_cpu_address)
    await ensure_schedules(client)
    result_ttl = timedelta(seconds=settings.jobs.result_ttl_seconds)
    worker = build_worker(client, database, S3ObjectStore(settings.object_store), fetcher, settings)
    try:
        await serve_worker(worker, stop, lambda: relay_forever(database, client, result_ttl), name="cpu")
    finally:
        await fetcher.close()
        await database.close()


def main() -> None:
    """Run the CPU worker with the environment's settings."""
    settings = load_settings()
    configure_logs(settings.logs, "worker_cpu")
    yield_to_others(settings.workers.niceness)
    asyncio.run(run(settings))


if __name__ == "__main__":
    main()
