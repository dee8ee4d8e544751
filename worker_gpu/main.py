"""``python -m worker_gpu.main``: what the GPU worker registers, with which bounds, and how it runs."""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta

import structlog
from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion
from temporalio.worker import Worker

from activities.device import Device
from activities.inference import InferenceActivities
from engines.base import EngineInfo, EngineUnavailable
from engines.models import ModelsMissing
from gateway.queues import deployment_config, version_of, watch_routing
from gateway.temporal import TemporalGateway
from imaging.decoder_pool import DecoderPool
from intake.pace import keep_telling
from runtime.metrics import object_store_calls
from runtime.object_store import S3ObjectStore
from runtime.process import Telemetry, run_worker, serve_workers, stop_event, unless_stopped
from runtime.settings import Settings
from worker_gpu.engine import choose_engines, choose_segmenter
from workflows.queues import GPU_BULK_QUEUE, GPU_QUEUE
from workflows.steps import CANCELLATION_DELAY

log = structlog.get_logger(__name__)

GRACEFUL_SHUTDOWN = timedelta(seconds=60)
"""Longer than one render that takes seconds, so that a deploy does not interrupt it. One that takes minutes goes on in
the next worker."""

FETCHED_MEANWHILE = 1  # jobs whose pictures are fetched and decoded while others are on the device


def build_workers(
    client: Client, inference: InferenceActivities, parallel: int, version: WorkerDeploymentVersion | None = None
) -> list[Worker]:
    """Put the workers of both queues together, for as many steps as the device takes at a time (``parallel``)."""
    return [
        Worker(
            client,
            task_queue=queue,
            activities=[inference.segment_person, inference.render, inference.examine],
            max_concurrent_activities=parallel + FETCHED_MEANWHILE,
            graceful_shutdown_timeout=GRACEFUL_SHUTDOWN,
            max_heartbeat_throttle_interval=CANCELLATION_DELAY,
            deployment_config=deployment_config(version),
        )
        for queue in (GPU_QUEUE, GPU_BULK_QUEUE)
    ]


async def run(settings: Settings, telemetry: Telemetry) -> bool:
    """Set the engines up, then poll until a signal comes or the device is spoilt.

    Returns:
        Whether a signal ended it; otherwise its supervisor should start this process anew.

    Raises:
        EngineUnavailable: An engine cannot be set up; nothing was polled.
        ModelsMissing: The models that find people are not there.
    """
    stop = stop_event()
    tracing = telemetry.tracing
    given_up = asyncio.Event()

    def give_up() -> None:
        given_up.set()
        stop.set()

    segmenter = choose_segmenter(settings.engine)
    engines = choose_engines(settings, segmenter)
    await asyncio.to_thread(segmenter.setup)
    for engine in engines.all:
        await asyncio.to_thread(engine.setup)
        log.info("engine ready", engine=engine.info.name, **_on_this_machine(engine.info))
    arrival = TemporalGateway.connect_once_there(
        settings.temporal, runtime=telemetry.runtime, interceptors=tracing.interceptors
    )
    temporal = await unless_stopped(stop, arrival)
    if temporal is None:
        return True
    client = temporal.client
    device = Device(engines.parallel, on_stall=give_up)
    store = S3ObjectStore(settings.object_store, object_store_calls(telemetry.meter))
    paces = [engine.info.pace for engine in engines.all if engine.info.pace]
    telling = asyncio.create_task(keep_telling(store, paces))
    decoders = DecoderPool(settings.workers.decoders, settings.images.max_pixels)
    inference = InferenceActivities(
        store, segmenter, engines, device, give_up, decoders=decoders, tracer=tracing.tracer
    )
    try:
        version = version_of(settings.temporal, "gpu")
        workers = build_workers(client, inference, engines.parallel, version)
        await serve_workers(workers, stop, lambda: watch_routing(client, GPU_QUEUE, "activity", version), name="gpu")
    finally:
        telling.cancel()
        if not device.close():
            log.error("a render hangs in the device and cannot be waited for")
            tracing.close()
            os._exit(1)
    return not given_up.is_set()


def _on_this_machine(info: EngineInfo) -> dict[str, object]:
    """What an engine has measured, and what it does without, for the log."""
    if info.pace is None:
        return {"device": info.device}
    told = {"device": info.pace.device, "precision": info.pace.precision}
    economy = {"economy": info.economy} if info.economy else {}
    return {**told, "step_seconds": round(info.pace.step_seconds, 3), **economy}


def main() -> None:
    """Run the GPU worker with the environment's settings."""
    try:
        ended_by_signal = run_worker("worker_gpu", run)
    except (ModelsMissing, EngineUnavailable) as error:
        log.error("engine cannot be set up", reason=str(error))  # noqa: TRY400  # the sentence says it all
        raise SystemExit(1) from None
    if not ended_by_signal:
        log.error("the device is broken, hangs, or lacks memory; this process has to be started anew")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
