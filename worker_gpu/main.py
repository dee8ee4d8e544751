"""``python -m worker_gpu.main``."""

from __future__ import annotations

import asyncio
import os

import structlog

from activities.device import Device
from activities.inference import InferenceActivities
from engines.base import EngineUnavailable
from engines.models import ModelsMissing
from runtime.logs import configure_logs
from runtime.object_store import S3ObjectStore
from runtime.process import serve_worker, stop_event, yield_to_others
from runtime.settings import Settings, load_settings
from runtime.temporal import connect_temporal
from worker_gpu.engine import choose_engines, choose_segmenter
from worker_gpu.worker import build_worker

log = structlog.get_logger(__name__)


async def run(settings: Settings) -> bool:
    """Set the engines up, then poll until a signal comes or the device is spoilt.

    Returns:
        Whether a signal ended it; otherwise whoever supervises this process should start it anew.

    Raises:
        EngineUnavailable: An engine cannot be set up; nothing was polled.
        ModelsMissing: The models that find people are not there.
    """
    stop = stop_event()
    given_up = asyncio.Event()

    def give_up() -> None:
        given_up.set()
        stop.set()

    segmenter = choose_segmenter(settings.engine)
    engines = choose_engines(settings, segmenter)
    await asyncio.to_thread(segmenter.setup)
    for engine in engines.all:
        await asyncio.to_thread(engine.setup)
        log.info("engine ready", engine=engine.info.name, device=engine.info.device)
    device = Device(engines.parallel, on_stall=give_up)
    inference = InferenceActivities(S3ObjectStore(settings.object_store), segmenter, engines, device, give_up)
    try:
        client = await connect_temporal(settings.temporal, metrics_address=settings.metrics.worker_gpu_address)
        await serve_worker(build_worker(client, inference, engines.parallel), stop, name="gpu")
    finally:
        if not device.close():
            log.error("a render hangs in the device and cannot be waited for")
            os._exit(1)
    return not given_up.is_set()


def main() -> None:
    """Run the GPU worker with the environment's settings."""
    settings = load_settings()
    configure_logs(settings.logs, "worker_gpu")
    yield_to_others(settings.workers.niceness)
    try:
        ended_by_signal = asyncio.run(run(settings))
    except (ModelsMissing, EngineUnavailable) as error:
        log.error("engine cannot be set up", reason=str(error))  # noqa: TRY400  # the sentence says it all
        raise SystemExit(1) from None
    if not ended_by_signal:
        log.error("the device is broken, hangs, or lacks memory; this process has to be started anew")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
