from __future__ import annotations

import uuid
from datetime import UTC, datetime

from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from activities.mail import MailActivities
from domain import mails
from domain.mails import Letter
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.settings import MailSettings
from tests.servers.mail import running_mail_server
from workflows import steps
from workflows.accounts import SendMailWorkflow
from workflows.contracts import MailReport, SendMailInput
from workflows.queues import CPU_QUEUE, mail_workflow_id


async def test_a_message_goes_through_temporal_by_its_id_alone(database: Database, temporal: Client) -> None:
    email = f"{uuid.uuid4().hex}@example.com"
    with database.transaction() as session:
        letter = Letter("Hello", "https://tryon.example/dashboard/verify?token=s3cret")
        mail = mails.write_mail(session, letter, to=email, account_id=None, now=datetime.now(UTC))
    async with running_mail_server() as server:
        server.answers.append("451 later")
        settings = MailSettings(host="127.0.0.1", port=server.port, security="none")
        sending = MailActivities(database, settings, "Fitting Room")
        async with Worker(temporal, task_queue=CPU_QUEUE, workflows=[SendMailWorkflow], activities=[sending.send_mail]):
            for _ in range(2):
                await TemporalGateway(temporal).send_mail(str(mail.id))
            run = temporal.get_workflow_handle_for(SendMailWorkflow.run, mail_workflow_id(str(mail.id)))
            assert (await run.result()).outcome == "sent"
    assert [taken["To"] for taken in server.taken] == [email]
    history = (await run.fetch_history()).to_json()
    assert email not in history
    assert "s3cret" not in history


async def test_a_run_that_ended_without_sending_may_begin_again(temporal: Client) -> None:
    tries = []

    @activity.defn(name=steps.SEND_MAIL.name)
    async def send_mail(_request: SendMailInput) -> MailReport:
        tries.append(1)
        if len(tries) == 1:
            raise ApplicationError("away", type="internal", non_retryable=True)
        return MailReport(outcome="sent")

    mail_id = str(uuid.uuid4())
    run = temporal.get_workflow_handle_for(SendMailWorkflow.run, mail_workflow_id(mail_id))
    async with Worker(temporal, task_queue=CPU_QUEUE, workflows=[SendMailWorkflow], activities=[send_mail]):
        await TemporalGateway(temporal).send_mail(mail_id)
        try:
            await run.result()
        except Exception:
            await TemporalGateway(temporal).send_mail(mail_id)
        assert (await run.result()).outcome == "sent"
    assert len(tries) == 2
