"""From the commit that makes an event true to the receiver, through Temporal, whatever is away in between."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web
from standardwebhooks import Webhook
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from activities.reconciling import ReconcilingActivities
from activities.webhooks import WebhookActivities
from domain import webhooks
from domain.jobs import jobs
from domain.mails import Letterhead
from domain.tables import WebhookDelivery, WebhookEndpoint
from domain.webhooks import EndpointTerms
from gateway.calls import TemporalAwayError
from gateway.outbox import Outbox
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.settings import DatabaseSettings
from tests.factories import Caller, create_job
from tests.memory_store import MemoryObjectStore
from tests.servers.receiver import Receiver
from workflows.accounts import DeliverWebhookWorkflow
from workflows.contracts import SweepInput
from workflows.queues import CPU_QUEUE, WEBHOOK_QUEUE, webhook_workflow_id

HEAD = Letterhead("Fitting Room", "https://tryon.example")

pytestmark = pytest.mark.databases("sqlite")


async def endpoint(database: Database, caller: Caller, url: str) -> WebhookEndpoint:
    terms = EndpointTerms(url, ["tryon.failed"])
    return await database.write(webhooks.create_endpoint, account_id=caller.account_id, terms=terms)


async def fail_a_job(database: Database, caller: Caller, age: timedelta = timedelta(0)) -> None:
    job_id = await create_job(database, caller)
    values = {"job_id": job_id, "keep": timedelta(hours=1), "now": datetime.now(UTC) - age}
    await database.write(jobs.fail_job, error_code="timed_out", **values)  # type: ignore[arg-type]


async def delivered(database: Database, made: WebhookEndpoint) -> WebhookDelivery:
    """The one delivery to the endpoint, once nothing more is to be done."""
    async with asyncio.timeout(20):
        while True:
            found = await database.read(webhooks.list_deliveries, endpoint_id=made.id, limit=10)
            if found and found[0].next_attempt_at is None:
                (one,) = found
                return one
            await asyncio.sleep(0.02)


async def test_what_is_committed_arrives_though_the_receiver_is_down_for_an_hour(
    *,
    database: Database,
    database_url: str,
    caller: Caller,
    temporal: Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses, within_the_hour = webhooks.PAUSES, 4  # at once, after 5 s, 5 min and 35 min; the fifth after 2 h 35 min
    assert sum(pauses[: within_the_hour - 1], timedelta(0)) < timedelta(hours=1)
    assert sum(pauses[:within_the_hour], timedelta(0)) > timedelta(hours=1)
    monkeypatch.setattr(webhooks, "PAUSES", tuple(timedelta(0) for _ in pauses))
    receiver.answers = [web.Response(status=502) for _ in range(within_the_hour)]
    made = await endpoint(database, caller, receiver.url)
    work = WebhookActivities(database, HEAD, receiver.sender())
    outbox = Outbox(TemporalGateway(temporal))
    settings = DatabaseSettings(url=database_url)
    async with (
        Worker(temporal, task_queue=CPU_QUEUE, workflows=[DeliverWebhookWorkflow]),
        Worker(temporal, task_queue=WEBHOOK_QUEUE, activities=[work.attempt_webhook]),
    ):
        with closing(Database(settings, on_commit=outbox.committed)) as committing:
            await fail_a_job(committing, caller)
        delivery = await delivered(database, made)
        run = temporal.get_workflow_handle_for(DeliverWebhookWorkflow.run, webhook_workflow_id(str(delivery.id)))
        report = await run.result()
    await outbox.close()
    await work.sender.close()
    assert (report.outcome, report.attempts) == ("delivered", within_the_hour + 1)
    assert [each["status"] for each in delivery.attempts] == [502] * within_the_hour + [204]
    assert len(receiver.ids) == within_the_hour + 1
    assert set(receiver.ids) == {webhooks.message_id(delivery.message_id)}
    assert Webhook(made.secret).verify(receiver.bodies[-1], receiver.headers[-1])["type"] == "tryon.failed"
    history = (await run.fetch_history()).to_json()
    for secret in ("s3cret", made.secret, "timed_out"):  # the address, what signs, and what is told
        assert secret not in history


class AwayTemporal(TemporalGateway):
    """Does not answer."""

    def __init__(self) -> None:
        self.asked = 0

    async def deliver_webhook(self, delivery_id: str, account_id: str) -> None:
        self.asked += 1
        raise TemporalAwayError("away")


async def test_what_could_not_be_started_is_started_by_the_reconciler(
    database: Database, database_url: str, caller: Caller, temporal: Client, receiver: Receiver
) -> None:
    made = await endpoint(database, caller, receiver.url)
    away = AwayTemporal()
    outbox = Outbox(away)
    with closing(Database(DatabaseSettings(url=database_url), on_commit=outbox.committed)) as committing:
        await fail_a_job(committing, caller, age=webhooks.HEAD_START)
    await asyncio.sleep(0)
    await outbox.close()
    assert away.asked == 1
    work = WebhookActivities(database, HEAD, receiver.sender())
    sweep = ReconcilingActivities(database, MemoryObjectStore(), TemporalGateway(temporal), timedelta(hours=1))
    async with (
        Worker(temporal, task_queue=CPU_QUEUE, workflows=[DeliverWebhookWorkflow]),
        Worker(temporal, task_queue=WEBHOOK_QUEUE, activities=[work.attempt_webhook]),
    ):
        for _ in range(2):
            await ActivityEnvironment().run(sweep.reconcile, SweepInput())
        delivery = await delivered(database, made)
    await work.sender.close()
    assert delivery.status == "delivered"
    assert len(receiver.ids) == 1


async def test_a_delivery_that_is_gone_ends_its_run(database: Database, temporal: Client, receiver: Receiver) -> None:
    work = WebhookActivities(database, HEAD, receiver.sender())
    delivery_id = str(uuid.uuid4())
    async with (
        Worker(temporal, task_queue=CPU_QUEUE, workflows=[DeliverWebhookWorkflow]),
        Worker(temporal, task_queue=WEBHOOK_QUEUE, activities=[work.attempt_webhook]),
    ):
        await TemporalGateway(temporal).deliver_webhook(delivery_id, str(uuid.uuid4()))
        run = temporal.get_workflow_handle_for(DeliverWebhookWorkflow.run, webhook_workflow_id(delivery_id))
        assert (await run.result()).outcome == "gone"
    await work.sender.close()
