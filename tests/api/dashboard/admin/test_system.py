"""The page about the service itself: what each part says, and nothing that hangs when one says nothing."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from activities.bookkeeping import BookkeepingActivities
from api.dashboard.admin import system as state
from domain.operation import audit
from engines.catalogue import OFFERED
from gateway.temporal import TemporalGateway
from runtime.object_store import ObjectStoreUnavailableError
from runtime.settings import TemporalSettings
from tests.api.conftest import Api, OpenApi
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import create_caller
from workflows.queues import CPU_QUEUE
from workflows.sweeps import LedgerCheckWorkflow

PAGE = "/admin/system"


async def operator_of(api: Api) -> Browser:
    caller = await create_caller(api.parts.database, api.parts.digester)
    return await signed_in(api, caller.account_id, operator=True)


async def test_every_part_is_told(api: Api, operator: Browser) -> None:
    await api.parts.temporal.schedules.ensure()
    async with asyncio.timeout(20):  # the server's list follows a moment later
        while "not there" in (shown := words(await operator.get(PAGE))):
            await asyncio.sleep(0.1)
    assert "Database ok Object store ok Temporal ok" in shown
    for each in ("tryon-cpu workflow nobody", "tryon-gpu-bulk", "tryon-ledger-check on", "CPU without a build id"):
        assert each in shown
    assert "TRYON_ENGINE=auto" in shown
    for engine in OFFERED.values():
        assert f"{engine.info.name} {engine.info.device}" in shown
    assert "flat" not in shown, "it is for tests"


async def test_what_is_away_is_told_and_holds_up_nothing(open_api: OpenApi, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = await TemporalGateway.connect(TemporalSettings(address="127.0.0.1:1"), for_requests=True)

    async def away() -> None:
        raise ObjectStoreUnavailableError("no bucket")

    async def silent() -> None:
        await asyncio.sleep(3600)

    async with open_api(client=nowhere) as api:
        monkeypatch.setattr(state, "PROBE_SECONDS", 0.3)
        monkeypatch.setattr(api.store, "ping", away)
        monkeypatch.setattr(api.parts.database, "ping", silent)
        operator = await operator_of(api)
        answer = await operator.get(PAGE)
        shown = words(answer)
        assert answer.status_code == 200
        assert "Database away no answer within 0.3 s" in shown
        assert "Object store away ObjectStoreUnavailableError" in shown
        assert "Temporal away" in shown
        assert "tryon-reconcile" in shown
        answer = await operator.post("/admin/ledger-check", page="/keys")
        assert "the check was not started" in words(await operator.follow(answer))
        with api.parts.database.reading() as session:
            assert operator.account_id not in {each.operator_id for each in audit.page(session, limit=1000)}
        await operator.client.aclose()


async def test_a_ledger_check_is_started_and_its_result_shown(open_api: OpenApi, temporal: Client) -> None:
    await TemporalGateway(temporal).schedules.ensure()
    async with open_api(client=temporal) as api:
        operator = await operator_of(api)
        activities = [BookkeepingActivities(api.parts.database, api.store, timedelta(hours=1)).check_ledger]
        worker = Worker(temporal, task_queue=CPU_QUEUE, workflows=[LedgerCheckWorkflow], activities=activities)
        async with worker:
            answer = await operator.post("/admin/ledger-check", page=PAGE)
            assert "The ledger check has started" in words(await operator.follow(answer))
            async with asyncio.timeout(20):
                while "adds up" not in (shown := words(await operator.get(PAGE))):
                    await asyncio.sleep(0.2)
        assert "Checked" in shown
        with api.parts.database.reading() as session:
            entry = next(each for each in audit.page(session, limit=1000) if each.operator_id == operator.account_id)
        assert entry.action == "ledger.check_started"
        await operator.client.aclose()
