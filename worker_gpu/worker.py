"""What the GPU worker registers, and with which bounds."""

from __future__ import annotations

from datetime import timedelta

from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion
from temporalio.worker import Worker

from activities.inference import InferenceActivities
from gateway.queues import deployment_config
from workflows.queues import GPU_BULK_QUEUE, GPU_QUEUE
from workflows.steps import CANCELLATION_DELAY

GRACEFUL_SHUTDOWN = timedelta(seconds=60)  # longer than one render, so that a deploy does not interrupt it
FETCHED_MEANWHILE = 1  # jobs whose pictures are fetched and decoded while others are on the device


def build_workers(
    client: Client, inference: InferenceActivities, parallel: int, version: WorkerDeploymentVersion | None = None
) -> list[Worker]:
    """Put the workers of both queues together, for as many steps as the device takes at a time (``parallel``)."""
    return [
        Worker(
            client,
            task_queue=queue,
            activities=[inference.segment_person, inference.render],
            max_concurrent_activities=parallel + FETCHED_MEANWHILE,
            graceful_shutdown_timeout=GRACEFUL_SHUTDOWN,
            max_heartbeat_throttle_interval=CANCELLATION_DELAY,
            deployment_config=deployment_config(version),
        )
        for queue in (GPU_QUEUE, GPU_BULK_QUEUE)
    ]
