"""``python -m worker_gpu.main``."""

from __future__ import annotations

import asyncio

import structlog

from activities.device import Device
from activities.inference import InferenceActivities
from engines.models import ModelsMissing
from runtime.logs import configure_logs
from runtime.object_store import S3ObjectStore
from runtime.process import serve_worker, stop_event, yield_to_others
from runtime.settings import Settings, load_settings
from runtime.temporal import connect_temporal
from worker_gpu.engine import choose_engine, choose_segmenter
from worker_gpu.worker import build_worker

log = structlog.get_logger(__name__)


async def run(settings: Settings) -> None:
    """Set the engine up, then poll until a signal comes."""
    stop = stop_event()
    segmenter = choose_segmenter(settings.engine)
    engine = choose_engine(settings.engine, segmenter)
    await asyncio.to_thread(segmenter.setup)
    await asyncio.to_thread(engine.setup)
    log.info("engine ready", engine=engine.info.name, device=engine.info.device)
    device = Device()
    inference = InferenceActivities(S3ObjectStore(settings.object_store), segmenter, engine, device)
    try:
        client = await connect_temporal(settings.temporal, metrics_address=settings.metrics.worker_gpu_address)
        await serve_worker(build_worker(client, inference), stop, name="gpu")
    finally:
        device.close()


def main() -> None:
    """Run the GPU worker with the environment's settings."""
    settings = load_settings()
    configure_logs(settings.logs, "worker_gpu")
    yield_to_others(settings.workers.niceness)
    try:
        asyncio.run(run(settings))
    except ModelsMissing as error:
        log.error("engine cannot be set up", reason=str(error))  # noqa: TRY400  # the sentence says it all
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
