"""The task queues: who polls them, what waits there, and which build of the workers is given what is new."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import structlog
from temporalio.api.deployment.v1 import WorkerDeploymentVersion as VersionMessage
from temporalio.api.enums.v1 import TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import WorkerDeploymentConfig

from gateway.calls import TemporalAwayError, temporal_calls
from runtime.settings import TemporalSettings
from workflows.queues import CPU_QUEUE, GPU_BULK_QUEUE, GPU_QUEUE, WEBHOOK_QUEUE

Kind = Literal["workflow", "activity"]

KINDS = {"workflow": TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW, "activity": TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY}

QUEUES: tuple[tuple[str, Kind], ...] = (
    (CPU_QUEUE, "workflow"),
    (CPU_QUEUE, "activity"),
    (GPU_QUEUE, "activity"),
    (GPU_BULK_QUEUE, "activity"),
    (WEBHOOK_QUEUE, "activity"),
)
"""Queue and kind of task: all that have to be polled."""

Part = Literal["cpu", "gpu"]
"""CPU and GPU workers are deployments of their own: a render goes to the GPU build that is current when it is due, so
a GPU can be given over to a new build while runs that began on an older CPU build are still open."""

LOOK_EVERY_SECONDS = 15.0  # how long after a ``set-current-version`` a worker's log says so

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Routing:
    """Which builds get what comes anew to a queue.

    Attributes:
        current: None stands for workers without a build id.
        ramping: The build that gets a share of it beforehand, if any; None likewise where ``percentage`` is above 0.
        percentage: That share, 0 to 100.
    """

    current: WorkerDeploymentVersion | None
    ramping: WorkerDeploymentVersion | None = None
    percentage: float = 0

    def gives_to(self, version: WorkerDeploymentVersion | None) -> bool:
        """Whether workers of this build get anything new; None asks for those without a build id."""
        return (version == self.current and self.percentage < 100) or (version == self.ramping and self.percentage > 0)


def version_of(settings: TemporalSettings, part: Part) -> WorkerDeploymentVersion | None:
    """The build that the settings say a worker is; None where workers are not versioned."""
    return WorkerDeploymentVersion(f"{settings.deployment}-{part}", settings.build_id) if settings.build_id else None


def deployment_config(version: WorkerDeploymentVersion | None) -> WorkerDeploymentConfig | None:
    """What a `temporalio.worker.Worker` is told about its build.

    A run is pinned: it ends on the build on which it began. That is said here and not at each workflow, because the
    server refuses what a worker that is not versioned does with a workflow that says it itself.
    """
    if version is None:
        return None
    return WorkerDeploymentConfig(
        version=version, use_worker_versioning=True, default_versioning_behavior=VersioningBehavior.PINNED
    )


@dataclass(frozen=True)
class QueueState:
    """One queue and kind of task.

    Attributes:
        pollers: Identities of the workers that asked for a task within the last minutes, the last at ``polled_at``.
        waiting: Tasks that nobody has taken yet, roughly; likewise how long the oldest of them has waited.
    """

    queue: str
    kind: Kind
    pollers: tuple[str, ...]
    polled_at: datetime | None
    waiting: int
    oldest_seconds: float
    routing: Routing


async def queue_state(client: Client, queue: str, kind: Kind) -> QueueState:
    """How a queue stands; raises `TemporalAwayError` where Temporal cannot be reached."""
    asked = TaskQueue(name=queue)
    request = DescribeTaskQueueRequest(
        namespace=client.namespace, task_queue=asked, task_queue_type=KINDS[kind], report_stats=True
    )
    with temporal_calls():
        found = await client.workflow_service.describe_task_queue(request)
    told = found.versioning_info
    return QueueState(
        queue=queue,
        kind=kind,
        pollers=tuple(poller.identity for poller in found.pollers),
        polled_at=max((poller.last_access_time.ToDatetime(UTC) for poller in found.pollers), default=None),
        waiting=found.stats.approximate_backlog_count,
        oldest_seconds=found.stats.approximate_backlog_age.ToTimedelta().total_seconds(),
        routing=Routing(
            _version(told.current_deployment_version),
            _version(told.ramping_deployment_version),
            told.ramping_version_percentage,
        ),
    )


async def watch_routing(
    client: Client,
    task_queue: str,
    kind: Kind,
    version: WorkerDeploymentVersion | None,
    *,
    every_seconds: float = LOOK_EVERY_SECONDS,
) -> None:
    """Log whether this worker's build gets anything, at first and whenever that changes; never returns."""
    said: Routing | None = None
    while True:
        try:
            routing = (await queue_state(client, task_queue, kind)).routing
        except TemporalAwayError as error:
            log.debug("routing not known", reason=str(error)[:200])
        else:
            if routing != said:
                _say(routing, task_queue, version, was_given=said is not None and said.gives_to(version))
            said = routing
        await asyncio.sleep(every_seconds)


def _say(routing: Routing, task_queue: str, version: WorkerDeploymentVersion | None, *, was_given: bool) -> None:
    facts = {
        "task_queue": task_queue,
        "build": _name(version),
        "current": _name(routing.current),
        **({"ramping": _name(routing.ramping), "percentage": routing.percentage} if routing.percentage else {}),
    }
    if routing.gives_to(version):
        log.info("this build gets new work", **facts)
    elif was_given:
        log.info("this build only ends what it began; stop it once Temporal calls it drained", **facts)
    elif version is None:
        log.warning(
            "this worker gets no new work: it has no build id, and another build is current; see docs/versions.md",
            **facts,
        )
    else:
        log.warning(
            "this worker gets no new work: its build is neither current nor ramping",
            remedy="temporal worker deployment set-current-version "
            f"--deployment-name {version.deployment_name} --build-id {version.build_id}",
            **facts,
        )


def _name(version: WorkerDeploymentVersion | None) -> str:
    return version.to_canonical_string() if version else "unversioned"


def _version(message: VersionMessage) -> WorkerDeploymentVersion | None:
    return WorkerDeploymentVersion(message.deployment_name, message.build_id) if message.build_id else None
