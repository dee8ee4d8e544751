"""One attempt: what is sent, what counts as delivered, and what a receiver cannot do."""

from __future__ import annotations

import asyncio
import json
import uuid
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy.event import listen
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from standardwebhooks import Webhook, WebhookVerificationError
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.webhooks import WebhookActivities, WebhookSender
from api.webhooks.schemas import MESSAGES
from domain import webhooks
from domain.access.keys import KeyDigester
from domain.mails import Letterhead
from domain.tables import WebhookDelivery
from domain.webhooks import EndpointTerms, Outgoing, Standing
from runtime.database import Database
from runtime.settings import DatabaseSettings
from tests.factories import Caller, create_caller
from tests.servers.receiver import Receiver
from workflows.contracts import DeliverWebhookInput, WebhookReport

HEAD = Letterhead("Fitting Room", "https://tryon.example")

pytestmark = pytest.mark.databases("sqlite")


async def delivery_to(database: Database, caller: Caller, url: str) -> WebhookDelivery:
    terms = EndpointTerms(url, ["product.ready"])
    made = await database.write(webhooks.create_endpoint, account_id=caller.account_id, terms=terms)
    return await database.write(webhooks.send_example, account_id=caller.account_id, endpoint_id=made.id)


async def attempt(work: WebhookActivities, delivery: WebhookDelivery, tries: int = 1) -> WebhookReport:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, attempt=tries)
    return await environment.run(work.attempt_webhook, DeliverWebhookInput(delivery_id=str(delivery.id)))


def row(database: Database, delivery: WebhookDelivery) -> WebhookDelivery:
    with database.reading() as session:
        return session.get_one(WebhookDelivery, delivery.id)


def outgoing(url: str, *secrets: str) -> Outgoing:
    return Outgoing("msg_1", url, '{"type":"product.ready"}', secrets or [webhooks.new_secret()], uuid.uuid4())


async def test_a_message_is_signed_as_standard_webhooks_says_and_sent_once(
    database: Database, caller: Caller, receiver: Receiver
) -> None:
    delivery = await delivery_to(database, caller, receiver.url)
    with database.transaction() as session:
        old = webhooks.find_endpoint(session, account_id=caller.account_id, endpoint_id=delivery.endpoint_id).secret
        new = webhooks.rotate_secret(session, account_id=caller.account_id, endpoint_id=delivery.endpoint_id).secret
    work = WebhookActivities(database, HEAD, receiver.sender())
    for _ in range(2):
        assert await attempt(work, delivery) == WebhookReport(outcome="delivered", attempts=1)
    (body,), (headers,) = receiver.bodies, receiver.headers
    for secret in (old, new):
        message = Webhook(secret).verify(body, headers)
    assert message == {
        "type": "product.ready",
        "timestamp": message["timestamp"],
        "data": {**webhooks.EXAMPLES["product.ready"], "mode": "test"},
    }
    with pytest.raises(WebhookVerificationError):
        Webhook(webhooks.new_secret()).verify(body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(new).verify(body.replace(b"SHIRT", b"JEANS"), headers)
    assert headers["webhook-id"] == webhooks.message_id(delivery.message_id)
    assert headers["content-type"] == "application/json"
    (tried,) = row(database, delivery).attempts
    assert (tried["status"], tried["fault"]) == (204, "")
    await work.sender.close()


async def test_a_failed_attempt_is_noted_and_the_next_has_the_same_id(
    database: Database, caller: Caller, receiver: Receiver
) -> None:
    delivery = await delivery_to(database, caller, receiver.url)
    work = WebhookActivities(database, HEAD, receiver.sender())
    receiver.answers = [web.Response(status=503, text="later", headers={"Retry-After": "90"})]
    assert await attempt(work, delivery) == WebhookReport(outcome="waiting", attempts=1, pause_seconds=90)
    assert await attempt(work, delivery) == WebhookReport(outcome="delivered", attempts=2)
    assert len(set(receiver.ids)) == 1
    first, _ = row(database, delivery).attempts
    assert (first["status"], first["fault"], first["answer"]) == (503, "The endpoint answered 503.", "later")
    await work.sender.close()


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (web.Response(status=302, headers={"Location": "https://shop.example/"}), "Redirects are not followed"),
        (web.Response(status=410), "wants no more events"),
        (web.Response(status=404), "The endpoint answered 404."),
        (0.5, "no answer within 0.2 seconds"),
    ],
    ids=["redirect", "gone", "not found", "silence"],
)
async def test_what_does_not_count_as_delivered(receiver: Receiver, answer: web.Response | float, fault: str) -> None:
    receiver.answers = [answer]
    sender = receiver.sender(timeout_s=0.2)
    tried, _ = await sender.send(outgoing(receiver.url))
    assert fault in tried.fault
    assert len(receiver.bodies) == 1
    await sender.close()


async def test_of_an_answer_its_beginning_is_kept(receiver: Receiver) -> None:
    receiver.answers = [web.Response(body=b"\0\xff" + b"x" * 100_000)]
    sender = receiver.sender()
    tried, _ = await sender.send(outgoing(receiver.url))
    assert tried.fault == ""
    assert len(tried.answer) <= webhooks.LONGEST_ANSWER
    assert tried.answer.startswith("��x")  # PostgreSQL's JSON takes no null character
    await sender.close()


@pytest.mark.parametrize(
    "url",
    ["http://shop.example/", "https://127.0.0.1/", "https://10.0.0.1/", "https://printer.local/", "https://[::1]/"],
)
async def test_addresses_that_are_not_public_are_not_dialled(url: str) -> None:
    sender = WebhookSender()
    tried, _ = await sender.send(outgoing(url))
    assert tried.status is None
    assert "address of the endpoint" in tried.fault
    await sender.close()


async def test_a_name_that_leads_inside_is_not_dialled(receiver: Receiver) -> None:
    sender = receiver.sender(trusted_networks=())
    tried, _ = await sender.send(outgoing(receiver.url))
    assert tried.fault == "The address of the endpoint is not one that we may send to."
    assert receiver.bodies == []
    await sender.close()


async def test_an_account_has_a_share_of_the_places(
    database: Database, digester: KeyDigester, caller: Caller, receiver: Receiver
) -> None:
    other = await create_caller(database, digester)
    slow, next_one = [await delivery_to(database, caller, receiver.url) for _ in range(2)]
    of_other = await delivery_to(database, other, receiver.url)
    work = WebhookActivities(database, HEAD, receiver.sender(timeout_s=20), at_once=1)
    receiver.answers = [30.0]
    under_way = asyncio.create_task(attempt(work, slow))
    async with asyncio.timeout(10):
        while not receiver.bodies:
            await asyncio.sleep(0.01)
    with pytest.raises(ApplicationError) as refused:
        await attempt(work, next_one)
    assert refused.value.type == "NotItsTurn"
    assert refused.value.next_retry_delay
    assert refused.value.next_retry_delay <= timedelta(seconds=2)
    with pytest.raises(ApplicationError) as refused:
        await attempt(work, next_one, tries=1000)
    assert refused.value.next_retry_delay
    assert refused.value.next_retry_delay >= timedelta(seconds=150), "thousands that wait are not asked all the time"
    assert (await attempt(work, of_other)).outcome == "delivered"
    under_way.cancel()
    await asyncio.gather(under_way, return_exceptions=True)
    assert (await attempt(work, next_one)).outcome == "delivered"
    assert row(database, slow).attempts == []  # it was cut off, as by a worker that is killed, so it is made again
    assert (await attempt(work, slow)).outcome == "delivered"
    assert receiver.ids[-1] == receiver.ids[0]
    await work.sender.close()


async def test_what_is_gone_or_switched_off_is_not_sent(database: Database, caller: Caller, receiver: Receiver) -> None:
    deliveries = [await delivery_to(database, caller, receiver.url) for _ in range(2)]
    own = [{"account_id": caller.account_id, "endpoint_id": each.endpoint_id} for each in deliveries]
    await database.write(webhooks.delete_endpoint, **own[0])
    await database.write(webhooks.change_endpoint, **own[1], changes={"enabled": False})
    work = WebhookActivities(database, HEAD, receiver.sender())
    assert [(await attempt(work, each)).outcome for each in deliveries] == ["gone", "failed"]
    assert receiver.bodies == []
    late = datetime.now(UTC) + timedelta(days=1)
    overdue = await database.read(webhooks.list_overdue, now=late, limit=1000)
    assert deliveries[1].id not in {delivery_id for delivery_id, _ in overdue}


async def test_what_is_switched_off_after_it_was_read_is_not_sent(
    database: Database, caller: Caller, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    delivery, read = await delivery_to(database, caller, receiver.url), webhooks.next_attempt

    def read_before(session: Session, **asked: Any) -> Outgoing | Standing | None:
        monkeypatch.setattr(webhooks, "next_attempt", read)
        found, own = read(session, **asked), {"account_id": caller.account_id, "endpoint_id": delivery.endpoint_id}
        with database.transaction() as meanwhile:
            webhooks.change_endpoint(meanwhile, **own, changes={"enabled": False})
        return found

    monkeypatch.setattr(webhooks, "next_attempt", read_before)
    work = WebhookActivities(database, HEAD, receiver.sender())
    assert await attempt(work, delivery) == WebhookReport(outcome="failed")
    assert receiver.bodies == []
    assert row(database, delivery).status == "failed"


async def test_a_database_that_takes_no_writes_sends_nothing(
    database: Database, database_url: str, caller: Caller, receiver: Receiver
) -> None:
    delivery, sender = await delivery_to(database, caller, receiver.url), receiver.sender()
    with closing(Database(DatabaseSettings(url=database_url))) as full:
        listen(full.engine, "begin", lambda connection: connection.exec_driver_sql("PRAGMA query_only = ON"))
        work = WebhookActivities(full, HEAD, sender, at_once=1)
        for _ in range(2):
            with pytest.raises(DBAPIError, match="readonly"):
                await attempt(work, delivery)
    assert receiver.bodies == []
    assert await attempt(WebhookActivities(database, HEAD, sender), delivery) == WebhookReport(
        outcome="delivered", attempts=1
    )
    await sender.close()


def test_examples_are_of_the_events_that_there_are() -> None:
    assert list(webhooks.EXAMPLES) == list(webhooks.EVENTS)
    for event, data in webhooks.EXAMPLES.items():
        told = {"type": event, "timestamp": "2026-03-01T09:30:12.090Z", "data": {**data, "mode": "test"}}
        MESSAGES[event].model_validate_json(json.dumps(told))
