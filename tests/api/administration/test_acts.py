"""Every act is written down once, in the transaction that does it, with who did it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from temporalio.client import Client

from api.administration import blocking, erasing, terms
from domain import accounts
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.jobs import jobs
from domain.operation import audit
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.settings import TemporalSettings
from tests.factories import PLANS, Caller, create_job
from tests.ledger_entries import entries_of_job
from workflows.queues import erasure_workflow_id

pytestmark = pytest.mark.databases("sqlite", "postgresql")

HOUR = timedelta(hours=1)
NOW = datetime.now(UTC)
OPERATOR = uuid.uuid4()


async def acts(database: Database, caller: Caller) -> list[tuple[str, uuid.UUID | None, dict[str, Any]]]:
    """What was written down, oldest first."""
    found = await database.read(audit.page, limit=100, account_id=caller.account_id)
    return [(entry.action, entry.operator_id, entry.details) for entry in reversed(found)]


async def blocked(database: Database, caller: Caller, reason: str = "abuse") -> list[uuid.UUID]:
    return await blocking.block(database, account_id=caller.account_id, reason=reason, operator_id=OPERATOR, keep=HOUR)


async def test_blocking_ends_what_is_in_progress_and_is_told_once(database: Database, caller: Caller) -> None:
    job_id = await create_job(database, caller)
    assert await blocked(database, caller) == [job_id]
    assert await blocked(database, caller, "again") == []
    with database.reading() as session:
        assert jobs.get_job(session, job_id=job_id).error_code == "cancelled"
        assert sorted(entries_of_job(session, job_id=job_id)) == ["release", "reserve"]
    assert await acts(database, caller) == [("account.blocked", OPERATOR, {"reason": "abuse"})]


@pytest.mark.parametrize("reason", ["", "x" * 201])
async def test_a_reason_that_cannot_be_shown_blocks_nobody(database: Database, caller: Caller, reason: str) -> None:
    with pytest.raises(ValueError, match="characters"):
        await blocked(database, caller, reason)
    assert await acts(database, caller) == []


async def test_unblocking_is_told_where_there_was_a_block(database: Database, caller: Caller) -> None:
    await blocked(database, caller)
    for _ in range(2):
        with database.transaction() as session:
            now = datetime.now(UTC)
            blocking.unblock(session, account_id=caller.account_id, operator_id=OPERATOR, now=now)
    assert [action for action, _, _ in await acts(database, caller)] == ["account.blocked", "account.unblocked"]


async def test_a_plan_and_a_pack_are_told_with_their_terms(database: Database, caller: Caller) -> None:
    own = OwnTerms(included=40_000, daily_cap=5_000, monthly_price=Decimal("4000.00"), extra_price=Decimal("0.08"))
    await database.write(
        terms.change_plan,
        PLANS,
        account_id=caller.account_id,
        plan="enterprise",
        own_terms=own,
        operator_id=OPERATOR,
        now=NOW,
    )
    await database.write(
        terms.credit_pack,
        PLANS,
        account_id=caller.account_id,
        generations=50,
        reason="goodwill",
        operator_id=None,
        now=NOW + timedelta(seconds=1),
    )
    agreed = {"included": 40_000, "dailyCap": 5_000, "monthlyCents": 400_000, "extraCents": 8}
    assert await acts(database, caller) == [
        ("account.plan_changed", OPERATOR, {"plan": "enterprise", **agreed}),
        ("account.topped_up", None, {"generations": 50, "priceCents": 400, "reason": "goodwill"}),
    ]


async def test_what_is_refused_is_not_told(database: Database, caller: Caller) -> None:
    with pytest.raises(ValueError, match="pack"), database.transaction() as session:
        terms.credit_pack(
            session,
            PLANS,
            account_id=caller.account_id,
            generations=7,
            reason=None,
            operator_id=OPERATOR,
            now=NOW,
        )
    assert await acts(database, caller) == []


async def test_an_erasure_is_told_once_and_started(
    database: Database, digester: KeyDigester, caller: Caller, idle_temporal: Client
) -> None:
    begun = []
    for _ in range(2):
        with database.transaction() as session:
            begun.append(
                erasing.begin(session, digester, account_id=caller.account_id, erased_by=caller.account_id, now=NOW)
            )
    assert begun == [True, False]
    assert await acts(database, caller) == [("account.erased", caller.account_id, {})]
    assert await erasing.start(TemporalGateway(idle_temporal), caller.account_id)
    run = await idle_temporal.get_workflow_handle(erasure_workflow_id(str(caller.account_id))).describe()
    assert run.workflow_type == "EraseAccountWorkflow"


async def test_without_temporal_the_start_is_left_to_the_reconciler(caller: Caller) -> None:
    nowhere = await TemporalGateway.connect(TemporalSettings(address="127.0.0.1:1"), for_requests=True)
    assert not await erasing.start(nowhere, caller.account_id)


async def test_how_long_results_are_kept_is_the_owners_within_bounds(database: Database, caller: Caller) -> None:
    async def kept_for(seconds: int | None, longest_seconds: int = 3600) -> timedelta:
        await database.write(
            accounts.set_result_ttl, account_id=caller.account_id, seconds=seconds, longest_seconds=longest_seconds
        )
        job_id = await create_job(database, caller)
        with database.transaction() as session:
            jobs.fail_job(session, job_id=job_id, error_code="timed_out", keep=HOUR, now=NOW)
            job = jobs.get_job(session, job_id=job_id)
            session.refresh(job)
        assert job.expires_at is not None
        return job.expires_at - NOW

    assert [await kept_for(seconds) for seconds in (None, 60, 3600)] == [HOUR, HOUR / 60, HOUR]
    assert await kept_for(7200, 7200) == HOUR, "no longer than the service keeps any"
    assert await kept_for(30, 30) == timedelta(seconds=30), "a service that keeps them shorter than a minute"
    for seconds in (59, 3601, 0, -1):
        with pytest.raises(ValueError, match="60 to 3600 seconds"):
            await kept_for(seconds)
