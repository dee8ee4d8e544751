"""``python -m worker_cpu.main``."""

from __future__ import annotations

from datetime import timedelta

from domain.jobs.jobs import ENDED
from gateway.queues import version_of, watch_routing
from gateway.temporal import TemporalGateway
from imaging.remote import RemoteImageFetcher
from runtime.database import Database
from runtime.metrics import count_ended_jobs, object_store_calls
from runtime.object_store import S3ObjectStore
from runtime.process import run_worker, serve_workers, start_worker_telemetry, stop_event
from runtime.settings import Settings
from worker_cpu.relay import relay_forever
from worker_cpu.state_metrics import StateMetrics
from worker_cpu.worker import build_worker
from workflows.queues import CPU_QUEUE


async def run(settings: Settings) -> None:
    """Poll until a signal comes.

    Raises:
        MetricsAddressError: Metrics cannot be served; nothing was polled.
        TracingUnavailable: Traces cannot be made.
    """
    stop = stop_event()
    telemetry = start_worker_telemetry(settings, "worker_cpu", settings.metrics.worker_cpu_address)
    meter, tracing = telemetry.meter, telemetry.tracing
    database = Database(
        settings.database,
        on_commit=lambda info: count_ended_jobs(meter, info.get(ENDED, ()), durations=True),
    )
    fetcher = RemoteImageFetcher(max_bytes=settings.images.max_bytes)
    temporal = await TemporalGateway.connect(
        settings.temporal, runtime=telemetry.runtime, interceptors=tracing.interceptors
    )
    await temporal.schedules.ensure()
    result_ttl = timedelta(seconds=settings.jobs.result_ttl_seconds)
    store = S3ObjectStore(settings.object_store, object_store_calls(meter))
    worker = build_worker(temporal, database, store, fetcher, settings)
    state = StateMetrics(
        database, temporal.client, meter, settings.database.file(), sends_mail=settings.mail.host is not None
    )
    try:
        await serve_workers(
            [worker],
            stop,
            lambda: relay_forever(database, temporal, result_ttl),
            lambda: state.record_forever(settings.metrics.state_interval_seconds),
            lambda: watch_routing(temporal.client, CPU_QUEUE, "workflow", version_of(settings.temporal, "cpu")),
            name="cpu",
        )
    finally:
        await fetcher.close()
        database.close()
        tracing.close()


if __name__ == "__main__":
    run_worker("worker_cpu", run)
