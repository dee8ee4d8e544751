"""Accounts that are erased."""

from __future__ import annotations

import uuid
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowHandle

from gateway.temporal import ERASURE
from tests.workflows.recording.case import Activities, Case
from workflows import steps
from workflows.accounts import EraseAccountWorkflow
from workflows.contracts import EraseAccountInput, ErasedAccount, ErasureReport
from workflows.queues import CPU_QUEUE, erasure_workflow_id


@activity.defn(name=steps.END_ACCOUNT_RUNS.name)
async def end_account_runs(_request: ErasedAccount) -> ErasureReport:
    return ErasureReport(cancelled=1)


@activity.defn(name=steps.DELETE_ACCOUNT_OBJECTS.name)
async def delete_account_objects(_request: ErasedAccount) -> ErasureReport:
    return ErasureReport(deleted=10)


@activity.defn(name=steps.FORGET_ACCOUNT_ROWS.name)
async def forget_account_rows(_request: ErasedAccount) -> ErasureReport:
    return ErasureReport(forgotten=100)


def activities() -> Activities:
    return {CPU_QUEUE: [end_account_runs, delete_account_objects, forget_account_rows]}


async def start(client: Client) -> WorkflowHandle[Any, Any]:
    erasure = EraseAccountInput(account_id=str(uuid.uuid4()), aftermath_seconds=1)
    return await client.start_workflow(
        EraseAccountWorkflow.run,
        erasure,
        id=erasure_workflow_id(erasure.account_id),
        task_queue=CPU_QUEUE,
        execution_timeout=ERASURE.longest,
    )


CASES = (Case("EraseAccountWorkflow", "erased", activities, start),)
