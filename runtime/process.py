"""A worker process from its settings to its end: metrics, traces, polling until a signal, draining."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import structlog
from temporalio import activity, workflow
from temporalio.runtime import Runtime
from temporalio.worker import Worker

from runtime.logs import configure_logs
from runtime.metrics import MetricsAddressError, SdkMeter, sdk_runtime
from runtime.settings import Settings, load_settings
from runtime.tracing import Tracing, TracingUnavailable, start_tracing

Answer = TypeVar("Answer")

log = structlog.get_logger(__name__)

# The ids stand in fields of their own, where they can be searched for.
activity.logger.activity_info_on_message = False
workflow.logger.workflow_info_on_message = False


UNUSABLE = (MetricsAddressError, TracingUnavailable)
"""Metrics or traces that the settings ask for and cannot be had; a process says so in one sentence and ends."""


@dataclass(frozen=True)
class Telemetry:
    """Metrics and traces of one worker: its Temporal client's runtime, and a meter for use outside of activities."""

    runtime: Runtime
    meter: SdkMeter
    tracing: Tracing


def run_worker(
    process: Literal["worker_cpu", "worker_gpu"], run: Callable[[Settings, Telemetry], Coroutine[Any, Any, Answer]]
) -> Answer:
    """Run a worker with the environment's settings, behind other processes of the machine.

    Raises:
        SystemExit: Metrics or traces that the settings ask for cannot be had; the log has the sentence.
    """
    settings = load_settings()
    configure_logs(settings.logs, process)
    os.nice(settings.workers.niceness)  # before there are threads
    addresses = {"worker_cpu": settings.metrics.worker_cpu_address, "worker_gpu": settings.metrics.worker_gpu_address}
    try:
        tracing = start_tracing(settings.tracing, process)
        runtime = sdk_runtime(addresses[process])
    except UNUSABLE as error:
        log.error("worker cannot be started", reason=str(error))  # noqa: TRY400  # the sentence says it all
        raise SystemExit(1) from None
    try:
        return asyncio.run(run(settings, Telemetry(runtime, SdkMeter(runtime.metric_meter), tracing)))
    finally:
        tracing.close()


def stop_event() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, event.set)
    return event


async def unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, Answer]) -> Answer | None:
    """Do ``work`` to its end; None where ``stop`` is set before that."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        stopping.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)


async def serve_workers(
    workers: Sequence[Worker], stop: asyncio.Event, *background: Callable[[], Awaitable[None]], name: str
) -> None:
    """Poll until ``stop`` is set, then let the work at hand finish within the workers' graceful timeout.

    Endless loops run beside the workers, in the ``background``.

    Raises:
        Exception: The error that ended a worker or a loop before ``stop`` was set.
    """
    tasks = [asyncio.ensure_future(loop()) for loop in background]
    stopping = asyncio.create_task(stop.wait())
    running = [asyncio.create_task(worker.run()) for worker in workers]
    log.info("polling", worker=name)
    await asyncio.wait([*running, stopping, *tasks], return_when=asyncio.FIRST_COMPLETED)
    log.info("draining", worker=name)
    for task in [*tasks, stopping]:
        task.cancel()
    await asyncio.gather(*(worker.shutdown() for worker in workers))
    results = await asyncio.gather(*running, *tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result
    log.info("stopped", worker=name)
