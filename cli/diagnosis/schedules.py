"""The schedules: there, as the code has them, not paused, run lately, and their last run went well."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

from temporalio.client import (
    ScheduleActionExecutionStartWorkflow,
    ScheduleDescription,
    WorkflowExecutionStatus,
)

from cli.diagnosis.findings import Finding, Subject
from gateway.calls import RunNotFoundError, temporal_calls
from gateway.schedules import SCHEDULES, Scheduled
from gateway.temporal import TemporalGateway
from runtime.settings import TemporalSettings

SCHEDULE = Subject("schedules")

LATE_AFTER_ROUNDS = 3
"""So many rounds without a run are no delay any more."""

ENDED_BADLY = (
    WorkflowExecutionStatus.FAILED,
    WorkflowExecutionStatus.TIMED_OUT,
    WorkflowExecutionStatus.TERMINATED,
)


async def look(temporal: TemporalGateway, settings: TemporalSettings) -> AsyncGenerator[Finding, None]:
    """One finding for each schedule of the code."""
    options = f"--address {settings.address} --namespace {settings.namespace}"
    for scheduled in SCHEDULES:
        yield await _finding(temporal, scheduled, f"{options} --schedule-id {scheduled.name}")


async def _finding(temporal: TemporalGateway, scheduled: Scheduled, options: str) -> Finding:
    name = scheduled.name
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
    return await _last_run(temporal, scheduled, found, _ago(silent))


async def _last_run(temporal: TemporalGateway, scheduled: Scheduled, found: ScheduleDescription, ago: str) -> Finding:
    """How the last run of a schedule stands."""
    action = found.info.recent_actions[-1].action
    if not isinstance(action, ScheduleActionExecutionStartWorkflow):
        return SCHEDULE.ok(f"{scheduled.name}: last run {ago}")
    try:
        handle = temporal.client.get_workflow_handle(action.workflow_id, run_id=action.first_execution_run_id)
        with temporal_calls():
            run = await handle.describe()
    except RunNotFoundError:
        return SCHEDULE.ok(f"{scheduled.name}: last run {ago}; it is not kept any more")
    status = run.status.name.lower() if run.status else "unknown"
    if run.status in ENDED_BADLY:
        return SCHEDULE.warning(
            f"{scheduled.name}: last run {ago}, {status}",
            f"temporal workflow show --namespace {temporal.client.namespace} --workflow-id {action.workflow_id}",
        )
    return SCHEDULE.ok(f"{scheduled.name}: last run {ago}, {status}")


def _ago(length: timedelta, suffix: str = " ago") -> str:
    """In the largest unit that says something."""
    seconds = length.total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}{suffix}"
    return f"{seconds:.0f} s{suffix}"
