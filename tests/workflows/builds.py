"""Workers of several builds side by side, and the commands that an operator types about them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.common import WorkerDeploymentVersion
from temporalio.worker import Worker

from gateway.queues import Kind, Part, deployment_config, queue_state
from runtime.embedded.servers import find_program
from tests.servers.temporal import running_temporal
from tests.workflows.fakes import FakeSteps
from workflows.queues import CPU_QUEUE, GPU_QUEUE
from workflows.tryon import TryOnWorkflow

QUEUES: dict[Part, tuple[str, Kind]] = {"cpu": (CPU_QUEUE, "workflow"), "gpu": (GPU_QUEUE, "activity")}

AT_ONCE = (
    # One partition a queue, or a new routing reaches them one after the other.
    "matching.numTaskqueueReadPartitions=1",
    "matching.numTaskqueueWritePartitions=1",
    # Three minutes each by default.
    'matching.wv.VersionDrainageStatusRefreshInterval="1s"',
    'matching.wv.VersionDrainageStatusVisibilityGracePeriod="1s"',
)


def build(part: Part, build_id: str) -> WorkerDeploymentVersion:
    return WorkerDeploymentVersion(f"tryon-{part}", build_id)


class Operator:
    """Types ``temporal worker deployment …``."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def command(self, *words: str) -> tuple[int, str]:
        """Exit status and what was said."""
        process = await asyncio.create_subprocess_exec(
            find_program("temporal"),
            *("worker", "deployment", *words),
            *("--address", self.client.service_client.config.target_host, "--namespace", self.client.namespace),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await process.communicate()
        assert process.returncode is not None
        return process.returncode, said.decode()

    async def until_done(self, *words: str) -> str:
        """Type it again until the server knows the build."""
        async with asyncio.timeout(20):
            while True:
                status, said = await self.command(*words)
                if status == 0:
                    return said
                await asyncio.sleep(0.1)

    async def set_current(self, part: Part, build_id: str | None) -> None:
        """Make a build current, or the workers without one; ends when the queue knows it."""
        target = ("--build-id", build_id) if build_id else ("--unversioned",)
        await self.until_done("set-current-version", "--deployment-name", f"tryon-{part}", *target, "--yes")
        await self.until_routed(part, build_id)

    async def until_routed(self, part: Part, build_id: str | None) -> None:
        wanted = build(part, build_id) if build_id else None
        async with asyncio.timeout(20):
            while not (await queue_state(self.client, *QUEUES[part])).routing.gives_to(wanted):
                await asyncio.sleep(0.05)

    async def until_a_task_waits(self, queue: str) -> None:
        """Until a run's first task lies in a queue that workers poll, and none of them has taken it."""
        request = DescribeTaskQueueRequest(
            namespace=self.client.namespace,
            task_queue=TaskQueue(name=queue),
            task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
            report_stats=True,
        )
        async with asyncio.timeout(20):
            while True:
                answer = await self.client.workflow_service.describe_task_queue(request)
                if answer.pollers and answer.stats.approximate_backlog_count:
                    return
                await asyncio.sleep(0.05)

    async def drainage_of(self, part: Part, build_id: str) -> str:
        said = await self.until_done(
            "describe-version", "--deployment-name", f"tryon-{part}", "--build-id", build_id, "--output", "json"
        )
        drainage: dict[str, Any] = json.loads(said).get("drainageInfo", {})
        return str(drainage.get("drainageStatus"))


@asynccontextmanager
async def operated_temporal() -> AsyncIterator[Operator]:
    """A server of its own: what is current holds for a whole queue."""
    async with running_temporal(*AT_ONCE) as client:
        yield Operator(client)


def worker_of(client: Client, part: Part, build_id: str | None, fakes: FakeSteps, *more_workflows: type) -> Worker:
    """A worker of a build, or one without."""
    activities = fakes.cpu_activities() if part == "cpu" else fakes.gpu_activities()
    return Worker(
        client,
        task_queue=QUEUES[part][0],
        workflows=[TryOnWorkflow, *more_workflows] if part == "cpu" else [],
        activities=activities,
        deployment_config=deployment_config(build(part, build_id) if build_id else None),
    )
