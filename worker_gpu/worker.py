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

CONCURRENT_JOBS = 2
"""One on the device, and one whose pictures are fetched and decoded meanwhile."""


def build_worker(client: Client, inference: InferenceActivities) -> Worker:
    """Put the worker together; it polls once it is run."""
    return Worker(
        client,
        task_queue=GPU_QUEUE,
        activities=[inference.segment_person, inference.render],
        max_concurrent_activities=CONCURRENT_JOBS,
        graceful_shutdown_timeout=GRACEFUL_SHUTDOWN,
        max_heartbeat_throttle_interval=CANCELLATION_DELAY,
    )
