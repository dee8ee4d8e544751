"""The schedules: there, as the code has them, not paused, run lately, and their last run went well."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

from temporalio.client import (
    Client,
    ScheduleActionExecutionStartWorkflow,
    ScheduleDescription,
    WorkflowExecutionStatus,
)
from temporalio.service import RPCError, RPCStatusCode

from cli.diagnosis.findings import Finding, Subject
from runtime.settings import TemporalSettings
from workflows.schedules import SCHEDULES, Scheduled, follows_the_code

SCHEDULE = Subject("schedules")

LATE_AFTER_ROUNDS = 3
"""So many rounds without a run are no delay any more."""

ENDED_BADLY = (
    WorkflowExecutionStatus.FAILED,
    WorkflowExecutionStatus.TIMED_OUT,
    WorkflowExecutionStatus.TERMINATED,
)


async def look(client: Client, settings: TemporalSettings) -> AsyncGenerator[Finding, None]:
    """One finding for each schedule of the code."""
    options = f"--address {settings.address} --namespace {settings.namespace}"
    for scheduled in SCHEDULES:
        yield await _finding(client, scheduled, f"{options} --schedule-id {scheduled.name}")


async def _finding(client: Client, scheduled: Scheduled, options: str) -> Finding:
    name = scheduled.name
    try:
        found = await client.get_schedule_handle(name).describe()
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise
        return SCHEDULE.error(f"{name} is not there", "Start a CPU worker; it makes them: python -m worker_cpu.main")
    if found.schedule.state.paused:
        note = found.schedule.state.note or "no note"
        return SCHEDULE.warning(
            f"{name} is paused ({note})", f"temporal schedule toggle {options} --unpause --reason 'back to work'"
        )
    if not await follows_the_code(client, scheduled, found):
        return SCHEDULE.warning(
            f"{name} is not as this version has it", "Restart a CPU worker of the newest version; it updates them."
        )
    last = found.info.recent_actions[-1] if found.info.recent_actions else None
    begun = last.started_at if last else found.info.created_at
    silent = datetime.now(UTC) - begun
    if silent > LATE_AFTER_ROUNDS * scheduled.every:
        return SCHEDULE.error(
            f"{name} {'last ran' if last else 'has never run; it was made'} {_ago(silent)}, and runs every "
            f"{_ago(scheduled.every, suffix='')}",
            f"temporal schedule trigger {options}; if no run begins, see Temporal's log",
        )
    if last is None:
        return SCHEDULE.ok(f"{name}: no run was due yet")
    return await _last_run(client, scheduled, found, _ago(silent))


async def _last_run(client: Client, scheduled: Scheduled, found: ScheduleDescription, ago: str) -> Finding:
    """How the last run of a schedule stands."""
    action = found.info.recent_actions[-1].action
    if not isinstance(action, ScheduleActionExecutionStartWorkflow):
        return SCHEDULE.ok(f"{scheduled.name}: last run {ago}")
    try:
        run = await client.get_workflow_handle(action.workflow_id, run_id=action.first_execution_run_id).describe()
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise
        return SCHEDULE.ok(f"{scheduled.name}: last run {ago}; it is not kept any more")
    status = run.status.name.lower() if run.status else "unknown"
    if run.status in ENDED_BADLY:
        return SCHEDULE.warning(
            f"{scheduled.name}: last run {ago}, {status}",
            f"temporal workflow show --namespace {client.namespace} --workflow-id {action.workflow_id}",
        )
    return SCHEDULE.ok(f"{scheduled.name}: last run {ago}, {status}")


def _ago(length: timedelta, suffix: str = " ago") -> str:
    """In the largest unit that says something."""
    seconds = length.total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}{suffix}"
    return f"{seconds:.0f} s{suffix}"
