"""Temporal: reachable, its namespace and search attributes; then its schedules and queues."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

from temporalio.api.enums.v1 import IndexedValueType, NamespaceState
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest, GetSystemInfoRequest
from temporalio.client import Client, ScheduleActionExecutionStartWorkflow, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from cli.diagnosis.findings import Case, Finding, Stop, Subject, counted, in_one_line, options_of
from gateway.calls import RunNotFoundError, TemporalAwayError, temporal_calls
from gateway.queues import QUEUES, QueueState, queue_state
from gateway.schedules import SCHEDULES, Scheduled
from gateway.temporal import TemporalGateway
from runtime.settings import TemporalSettings
from workflows.queues import CPU_QUEUE, GPU_BULK_QUEUE, GPU_QUEUE, SEARCH_ATTRIBUTES, WEBHOOK_QUEUE

TEMPORAL = Subject("temporal")
NAMESPACE = Subject("namespace")
ATTRIBUTES = Subject("search attributes")
RUNS = Subject("runs")
SCHEDULE = Subject("schedules")
QUEUE = Subject("queues")
NEEDING_A_NAMESPACE = (ATTRIBUTES, RUNS, SCHEDULE, QUEUE)

CONNECT_SECONDS = 5.0

STUCK_RUNS = (
    "ExecutionStatus = 'Running' AND TemporalReportedProblems IN "
    "('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut')"
)
"""Runs whose workflow task fails over and over, by the attribute that Temporal itself sets on them."""

LEAST_RETENTION_HOURS = 24
"""A closed run has to be kept longer than its job can be polled, and for questions on the next day."""

LATE_AFTER_ROUNDS = 3  # after so many rounds without a run a schedule has stopped

ENDED_BADLY = (
    WorkflowExecutionStatus.FAILED,
    WorkflowExecutionStatus.TIMED_OUT,
    WorkflowExecutionStatus.TERMINATED,
)

QUIET_AFTER = timedelta(seconds=75)
"""A poll is held for a minute. Temporal forgets a poller five minutes after its last one."""

LONG_WAIT = timedelta(minutes=1)  # a task that waits for longer says that there are too few workers
WORKERS = {
    CPU_QUEUE: "worker_cpu",
    WEBHOOK_QUEUE: "worker_cpu",
    GPU_QUEUE: "worker_gpu",
    GPU_BULK_QUEUE: "worker_gpu",
}
"""The process that should poll a queue."""

PATIENT = {GPU_BULK_QUEUE, WEBHOOK_QUEUE}  # queues where tasks may wait for hours, because no customer waits


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask the Temporal of the settings."""
    settings = case.settings.temporal
    try:
        temporal = await asyncio.wait_for(TemporalGateway.connect(settings), CONNECT_SECONDS)
        client = temporal.client
        with temporal_calls():
            version = (await client.workflow_service.get_system_info(GetSystemInfoRequest())).server_version
    except (TimeoutError, TemporalAwayError) as error:
        away = TEMPORAL.error(
            f"{settings.address} does not answer: {in_one_line(error)}",
            "Look at TRYON_TEMPORAL_ADDRESS and whether the server runs: "
            f"temporal operator cluster health --address {settings.address}",
        )
        raise Stop(away, "Temporal does not answer", (NAMESPACE, *NEEDING_A_NAMESPACE)) from None
    yield TEMPORAL.ok(f"{version} at {settings.address}")
    namespace = await _namespace(client, settings)
    if namespace.level == "error":
        raise Stop(namespace, "the namespace cannot be used", NEEDING_A_NAMESPACE)
    yield namespace
    yield await _attributes(client, settings)
    yield await _runs(client, settings)
    for scheduled in SCHEDULES:
        yield await judged_schedule(temporal, scheduled, settings)
    for queue, kind in QUEUES:
        yield judged_queue(await queue_state(client, queue, kind), datetime.now(UTC))


async def _namespace(client: Client, settings: TemporalSettings) -> Finding:
    name = settings.namespace
    try:
        found = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=name))
    except RPCError as error:
        create = f"temporal operator namespace create --address {settings.address} --namespace {name} --retention 72h"
        remedy = create if error.status == RPCStatusCode.NOT_FOUND else "Look at TRYON_TEMPORAL_API_KEY and its rights."
        return NAMESPACE.error(f"{name} cannot be used: {in_one_line(error)}", remedy)
    if found.namespace_info.state != NamespaceState.NAMESPACE_STATE_REGISTERED:
        return NAMESPACE.error(f"{name} is being deleted", "Choose another: TRYON_TEMPORAL_NAMESPACE")
    hours = found.config.workflow_execution_retention_ttl.ToTimedelta().total_seconds() / 3600
    if hours < LEAST_RETENTION_HOURS:
        return NAMESPACE.warning(
            f"{name} keeps closed runs for {hours:.0f} h only",
            f"temporal operator namespace update {options_of(settings)} --retention 72h",
        )
    return NAMESPACE.ok(f"{name}, closed runs are kept for {hours:.0f} h")


async def _runs(client: Client, settings: TemporalSettings) -> Finding:
    try:
        stuck = (await client.count_workflows(STUCK_RUNS)).count
    except RPCError as error:
        if error.status != RPCStatusCode.INVALID_ARGUMENT:
            raise
        return RUNS.skipped(f"this Temporal does not mark runs that are stuck: {in_one_line(error)}")
    if not stuck:
        return RUNS.ok("none whose workflow task fails over and over")
    return RUNS.error(
        f"{counted(stuck, 'run')} whose workflow task fails over and over",
        f'temporal workflow list {options_of(settings)} --query "{STUCK_RUNS}"; then see docs/temporal.md',
    )


async def _attributes(client: Client, settings: TemporalSettings) -> Finding:
    try:
        answer = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=settings.namespace)
        )
    except RPCError as error:
        if error.status not in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED):
            raise
        return ATTRIBUTES.skipped(f"this Temporal does not list them to us: {in_one_line(error)}")
    registered = answer.custom_attributes
    missing = [key.name for key in SEARCH_ATTRIBUTES if key.name not in registered]
    keyword = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
    wrong = [key.name for key in SEARCH_ATTRIBUTES if key.name not in missing and registered[key.name] != keyword]
    if missing:
        names = " ".join(f"--name {name} --type Keyword" for name in missing)
        return ATTRIBUTES.error(
            f"not registered: {', '.join(missing)}; no job can be started",
            f"temporal operator search-attribute create {options_of(settings)} {names}",
        )
    if wrong:
        return ATTRIBUTES.error(
            f"not of the type Keyword: {', '.join(wrong)}; no job can be started",
            f"temporal operator search-attribute remove {options_of(settings)} --name {wrong[0]}, then create it anew",
        )
    return ATTRIBUTES.ok(", ".join(key.name for key in SEARCH_ATTRIBUTES))


async def judged_schedule(temporal: TemporalGateway, scheduled: Scheduled, settings: TemporalSettings) -> Finding:
    """Whether a schedule is there, is that of this version, and runs."""
    name, options = scheduled.name, f"{options_of(settings)} --schedule-id {scheduled.name}"
    try:
        with temporal_calls():
            found = await temporal.client.get_schedule_handle(name).describe()
    except RunNotFoundError:
        return SCHEDULE.error(f"{name} is not there", "Start a CPU worker; it makes them: python -m worker_cpu.main")
    if found.schedule.state.paused:
        note = found.schedule.state.note or "no note"
        return SCHEDULE.warning(
            f"{name} is paused ({note})", f"temporal schedule toggle {options} --unpause --reason 'back to work'"
        )
    if not await temporal.schedules.follows_the_code(scheduled, found):
        return SCHEDULE.warning(
            f"{name} is not as this version has it", "Restart a CPU worker of the newest version; it updates them."
        )
    last = found.info.recent_actions[-1] if found.info.recent_actions else None
    silent = datetime.now(UTC) - (last.started_at if last else found.info.created_at)
    ago = f"{_length(silent)} ago"
    if silent > LATE_AFTER_ROUNDS * scheduled.every:
        return SCHEDULE.error(
            f"{name} {'last ran' if last else 'has never run; it was made'} {ago}, and runs every "
            f"{_length(scheduled.every)}",
            f"temporal schedule trigger {options}; if no run begins, see Temporal's log",
        )
    if last is None:
        return SCHEDULE.ok(f"{name}: no run was due yet")
    action = last.action
    if not isinstance(action, ScheduleActionExecutionStartWorkflow):
        return SCHEDULE.ok(f"{name}: last run {ago}")
    try:
        handle = temporal.client.get_workflow_handle(action.workflow_id, run_id=action.first_execution_run_id)
        with temporal_calls():
            run = await handle.describe()
    except RunNotFoundError:
        return SCHEDULE.ok(f"{name}: last run {ago}; it is not kept any more")
    status = run.status.name.lower() if run.status else "unknown"
    if run.status in ENDED_BADLY:
        return SCHEDULE.warning(
            f"{name}: last run {ago}, {status}",
            f"temporal workflow show {options_of(settings)} --workflow-id {action.workflow_id}",
        )
    return SCHEDULE.ok(f"{name}: last run {ago}, {status}")


def _length(length: timedelta) -> str:
    """In the largest unit that says something."""
    seconds = length.total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def judged_queue(found: QueueState, now: datetime) -> Finding:
    """Whether somebody polls, and whether they keep up."""
    name, command = f"{found.queue}, {found.kind} tasks", f"python -m {WORKERS[found.queue]}.main"
    backlog = f"; {counted(found.waiting, 'task')} waiting" if found.waiting else ""
    if found.polled_at is None:
        judge = QUEUE.warning if found.queue in PATIENT else QUEUE.error
        return judge(f"nobody polls {name}{backlog}", f"Start a worker; its log says why it ends: {command}")
    newest = now - found.polled_at
    pollers = counted(len(found.pollers), "poller")
    polled = f"{name}: {pollers}, the last one {newest.total_seconds():.0f} s ago{backlog}"
    if newest > QUIET_AFTER:
        return QUEUE.warning(polled, f"Its workers are gone, or all of them are busy; start one: {command}")
    if found.waiting and found.oldest_seconds > LONG_WAIT.total_seconds() and found.queue not in PATIENT:
        return QUEUE.warning(f"{polled} for {found.oldest_seconds:.0f} s", f"Start more workers: {command}")
    return QUEUE.ok(polled)
