"""An account is erased while it is at work, by the real worker, over real servers: what is left is what docs say."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle

from api.administration import erasing
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.money.ledger import check_ledger
from domain.tables import Table
from gateway.temporal import TemporalGateway
from tests.account_rows import FullAccount, full_account, rows_that_hold
from tests.api.conftest import single
from tests.factories import create_caller
from tests.integration.conftest import Servers, Service
from tests.pictures import data_uri, encoded, photo
from workflows.accounts import EraseAccountWorkflow
from workflows.backfills.contracts import BackfillInput
from workflows.backfills.workflow import BackfillWorkflow
from workflows.contracts import EraseAccountInput
from workflows.queues import erasure_workflow_id

KEPT = {
    *("account", "allowance", "api_key", "audit_entry", "daily_usage", "job", "ledger", "payment", "trial_taken"),
}
"""Tables that still have rows of the account: what docs/privacy.md says."""


async def erase(
    temporal: Client, service: Service, digester: KeyDigester, account_id: uuid.UUID
) -> WorkflowHandle[Any, Any]:
    """Erase it as an owner does, but for the wait."""
    with service.database.transaction() as session:
        now = datetime.now(UTC)
        assert erasing.begin(session, digester, account_id=account_id, erased_by=account_id, now=now)
    await TemporalGateway(temporal).erase_account(EraseAccountInput(account_id=str(account_id), aftermath_seconds=1))
    return temporal.get_workflow_handle_for(EraseAccountWorkflow.run, erasure_workflow_id(str(account_id)))


async def objects_of(service: Service, *marks: str) -> list[str]:
    return [key for key in await service.store.list_keys("") if any(mark in key for mark in marks)]


@pytest.fixture
async def full(service: Service, servers: Servers) -> FullAccount:
    other = await create_caller(servers.database, servers.digester)
    return await full_account(servers.database, servers.digester, servers.store, other)


async def test_what_is_left_is_the_bill_and_tells_nothing(
    service: Service, servers: Servers, full: FullAccount, temporal: Client
) -> None:
    owner, names = full.caller.account_id, full.names(servers.digester)
    before = await rows_that_hold(service.database, *names)
    assert before.keys() == set(Table.metadata.tables), "a full account has a row in every table that there is"
    await (await erase(temporal, service, servers.digester, owner)).result()
    assert (await rows_that_hold(service.database, *names)).keys() == KEPT
    assert await rows_that_hold(service.database, full.word) == {}
    left = await objects_of(service, full.word[:20], str(owner), *map(str, full.job_ids))
    assert len(left) == 2, "another account's, in a folder of the same name"
    with service.database.reading() as session:
        assert [each for each in check_ledger(session) if each.account_id == owner] == []


async def test_an_account_at_work_is_stopped_and_erased(service: Service, servers: Servers, temporal: Client) -> None:
    owner, secret = service.caller.account_id, "a-very-private-choice"
    picture = {"garmentImageUrl": data_uri(encoded(photo(seed=3)))}
    product = {"name": secret, "externalId": secret, "category": "upper_body", **picture}
    assert (await service.client.post("/api/v1/products", json=product)).status_code == 201
    done = await service.post(single(garmentImageUrl=f"https://shop.example/picture?who={secret}"))
    assert (await service.finished(done))["status"] == "completed"
    await service.store.put(f"backfills/{secret}/pictures/photo", encoded(photo()), "image/png")
    item = {"key": secret, "person": f"backfills/{secret}/pictures/photo", "productId": secret}
    backfill = BackfillInput.model_validate({"account": str(owner), "items": [item]})
    await TemporalGateway(temporal).start_backfill(secret, backfill)
    mass = temporal.get_workflow_handle_for(BackfillWorkflow.run, secret)
    running = await service.post(single())
    run = await erase(temporal, service, servers.digester, owner)
    assert (await service.client.get(f"/api/v1/tryon/{done}")).status_code == 401
    assert (await service.client.get("/api/v1/products")).status_code == 401
    await run.result()
    await mass.result()
    async with asyncio.timeout(10):  # a run that was under way cleans up after itself
        while left := await objects_of(service, str(owner), done, running):
            assert not [key for key in left if not key.startswith("jobs/")]
            await asyncio.sleep(0.1)
    assert (await rows_that_hold(service.database, secret)) == {}
    with service.database.reading() as session:
        for job_id in (done, running):
            job = jobs.get_job(session, job_id=uuid.UUID(job_id))
            assert (job.status != jobs.PROCESSING, job.workflow_input, job.result_key) == (True, {}, None)
        assert [each for each in check_ledger(session) if each.account_id == owner] == []
