"""`SendMailWorkflow`: a message to an owner, handed to the server that takes mail, however long that is away."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic import ValidationError

    from workflows import steps
    from workflows.mail_contracts import MailReport, SendMailInput


@workflow.defn(name="SendMailWorkflow", failure_exception_types=[ValidationError])
class SendMailWorkflow:
    """One step. The row in the database says whether it has to be done."""

    @workflow.run
    async def run(self, mail: SendMailInput) -> MailReport:
        """Send the message."""
        return await steps.SEND_MAIL.run(mail)
