"""What the GPU worker registers, and with which bounds."""

from __future__ import annotations

from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from activities.inference import InferenceActivities
from workflows.queues import GPU_QUEUE
from workflows.steps import CANCELLATION_DELAY

GRACEFUL_SHUTDOWN = timedelta(seconds=60)
"""Longer than one render, so that a deploy does not interrupt it."""

FETCHED_MEANWHILE = 1
"""Jobs whose pictures are fetched and decoded while others are on the device."""


def build_worker(client: Client, inference: InferenceActivities, parallel: int) -> Worker:
    """Put the worker together; it polls once it is run.

    Args:
        client: Of the namespace.
        inference: The steps.
        parallel: How many of them the device takes at a time.
    """
    return Worker(
        client,
        task_queue=GPU_QUEUE,
        activities=[inference.segment_person, inference.render],
        max_concurrent_activities=parallel + FETCHED_MEANWHILE,
        graceful_shutdown_timeout=GRACEFUL_SHUTDOWN,
        max_heartbeat_throttle_interval=CANCELLATION_DELAY,
    )
