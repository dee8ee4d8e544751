"""Mail: a message that is sent, and one for which no server was found in a day."""

from __future__ import annotations

import uuid
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowHandle
from temporalio.exceptions import ApplicationError

from gateway.temporal import MAIL
from tests.workflows.recording.case import Activities, Case
from workflows import steps
from workflows.accounts import SendMailWorkflow
from workflows.contracts import MailReport, SendMailInput
from workflows.queues import CPU_QUEUE, mail_workflow_id


@activity.defn(name=steps.SEND_MAIL.name)
async def send_mail(_request: SendMailInput) -> MailReport:
    return MailReport(outcome="sent")


@activity.defn(name=steps.SEND_MAIL.name)
async def fail_to_send(_request: SendMailInput) -> MailReport:
    raise ApplicationError("ConnectionRefusedError", type="ConnectionRefusedError", non_retryable=True)


def case(name: str, send: Any) -> Case:
    """A message that fares like this."""

    def activities() -> Activities:
        return {CPU_QUEUE: [send]}

    async def start(client: Client) -> WorkflowHandle[Any, Any]:
        mail = SendMailInput(mail_id=str(uuid.uuid4()))
        return await client.start_workflow(
            SendMailWorkflow.run,
            mail,
            id=mail_workflow_id(mail.mail_id),
            task_queue=CPU_QUEUE,
            execution_timeout=MAIL.longest,
        )

    return Case("SendMailWorkflow", name, activities, start)


CASES = (case("sent", send_mail), case("failed", fail_to_send))
