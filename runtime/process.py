"""A worker process from its signals to its end: run until told to stop, then drain."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Sequence

import structlog
from temporalio import activity, workflow
from temporalio.worker import Worker

log = structlog.get_logger(__name__)

# The ids stand in fields of their own, where they can be searched for.
activity.logger.activity_info_on_message = False
workflow.logger.workflow_info_on_message = False


def yield_to_others(niceness: int) -> None:
    """Let other processes of the machine go first; has to come before the process starts threads."""
    os.nice(niceness)


def stop_event() -> asyncio.Event:
    """An event that SIGTERM and SIGINT set."""
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, event.set)
    return event


async def serve_workers(
    workers: Sequence[Worker], stop: asyncio.Event, *background: Callable[[], Awaitable[None]], name: str
) -> None:
    """Poll until ``stop`` is set, then let the work at hand finish within the workers' graceful timeout.

    Args:
        workers: Not yet running.
        stop: Set by a signal.
        background: Endless loops that run beside the workers.
        name: For the log.

    Raises:
        Exception: Whatever ended a worker or a loop before ``stop`` was set.
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
