"""`SendMailWorkflow`: a message to an owner, handed to the server that takes mail, however long that is away."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.client import Client
from temporalio.common import WorkflowIDConflictPolicy, WorkflowIDReusePolicy

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import steps
    from workflows.mail_contracts import MailReport, SendMailInput
    from workflows.queues import CPU_QUEUE, mail_workflow_id

LONGEST_SENDING = timedelta(hours=25)
"""The step is tried for a day."""


@workflow.defn(name="SendMailWorkflow", failure_exception_types=[ValidationError])
class SendMailWorkflow:
    """One step. The row in the database says whether it has to be done."""

    @workflow.run
    async def run(self, mail: SendMailInput) -> MailReport:
        """Send the message."""
        return await steps.SEND_MAIL.run(mail)


async def start_mail(client: Client, mail_id: str) -> None:
    """Start sending a message, unless that is under way.

    A message whose run has ended without sending it may be started again: the row says what is left to do.

    Raises:
        temporalio.service.RPCError: Temporal cannot be reached; see `workflows.start.start_tryon`.
    """
    await client.start_workflow(
        SendMailWorkflow.run,
        SendMailInput(mail_id=mail_id),
        id=mail_workflow_id(mail_id),
        task_queue=CPU_QUEUE,
        id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE,
        execution_timeout=LONGEST_SENDING,
        static_summary="mail",
    )
