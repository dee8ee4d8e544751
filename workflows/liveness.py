"""Whether the run of an open job is still alive."""

from __future__ import annotations

from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from domain.errors import ErrorCode
from workflows.queues import tryon_workflow_id

_CODES: dict[WorkflowExecutionStatus, ErrorCode] = {
    WorkflowExecutionStatus.TERMINATED: "cancelled",
    WorkflowExecutionStatus.CANCELED: "cancelled",
    WorkflowExecutionStatus.TIMED_OUT: "timed_out",
}


async def end_of_run(client: Client, job_id: str) -> ErrorCode | None:
    """Why an open job's run can no longer finish it.

    A run ends its job before it closes, so a job that is still open when its run is closed was left behind.

    Returns:
        The reason, or ``None`` while the run is open or unknown to Temporal (it may not have
        been handed over yet; the deadline decides then).

    Raises:
        RPCError: Temporal cannot be reached.
    """
    try:
        description = await client.get_workflow_handle(tryon_workflow_id(job_id)).describe()
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return None
        raise
    if description.status in (None, WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.CONTINUED_AS_NEW):
        return None
    return _CODES.get(description.status, "generation_failed")
