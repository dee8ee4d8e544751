"""`SetWatermarkWorkflow`: fetch a logo and make it the account's watermark.

It is a workflow because only the CPU worker dials addresses that strangers chose.
"""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ActivityError, ApplicationError, WorkflowAlreadyStartedError

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from domain.errors import ErrorCode, TryOnError, known_code
    from workflows import steps
    from workflows.logo_contracts import FetchLogoInput, SaveWatermarkInput, SetWatermarkInput, WatermarkSetting
    from workflows.queues import CPU_QUEUE, watermark_workflow_id

LONGEST_SETTING = timedelta(minutes=2)
"""Three downloads that run into their limit take half a minute; the rest is for a worker that restarts."""


@workflow.defn(name="SetWatermarkWorkflow", failure_exception_types=[ValidationError])
class SetWatermarkWorkflow:
    """Fetch, then save. Where the fetch fails, what was set before stays as it was."""

    @workflow.run
    async def run(self, wanted: SetWatermarkInput) -> WatermarkSetting:
        """Set the watermark; a logo that cannot be used fails the run with its code of the catalogue."""
        logo = await steps.FETCH_LOGO.run(
            FetchLogoInput(account_id=wanted.account_id, logo_url=wanted.logo_url), "logo"
        )
        return await steps.SAVE_WATERMARK.run(
            SaveWatermarkInput(
                account_id=wanted.account_id, logo_url=wanted.logo_url, logo=logo, enabled=wanted.enabled
            ),
            f"logo of {logo.width} x {logo.height} pixels, {'on' if wanted.enabled else 'off'}",
        )


async def set_watermark(client: Client, wanted: SetWatermarkInput) -> WatermarkSetting:
    """Run the workflow and wait for its end.

    One runs at a time for an account: two could each delete the other's logo.

    Raises:
        TryOnError: One of the ``logo_…`` codes; ``busy`` when no worker got to it in time, ``internal`` otherwise.
        temporalio.service.RPCError: Temporal cannot be reached.
    """
    try:
        return await client.execute_workflow(
            SetWatermarkWorkflow.run,
            wanted,
            id=watermark_workflow_id(wanted.account_id),
            task_queue=CPU_QUEUE,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            execution_timeout=LONGEST_SETTING,
            static_summary="watermark",
        )
    except WorkflowAlreadyStartedError:
        raise TryOnError("logo_being_set") from None
    except WorkflowFailureError as failure:
        raise TryOnError(_code_of(failure.cause)) from failure


def _code_of(cause: BaseException) -> ErrorCode:
    if isinstance(cause, ActivityError) and isinstance(cause.cause, ApplicationError):
        return known_code(cause.cause.type, "internal")
    return "busy"
