from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from domain.access.idempotency import LEASE, Claim, claim_key, complete_claim, give_up_claim
from domain.access.keys import KeyDigester
from domain.errors import TryOnError
from runtime.database import Database
from tests.factories import create_caller, create_job


async def test_whoever_was_slow_neither_completes_nor_gives_up_what_another_took_over(
    database: Database, digester: KeyDigester
) -> None:
    """The slow one accepts no job then: its transaction ends with the refusal."""
    caller, now = await create_caller(database, digester), datetime.now(UTC)
    request = {"account_id": caller.account_id, "key": uuid.uuid4().hex, "fingerprint": "0" * 64}
    slow = await database.write(claim_key, **request, now=now)
    with pytest.raises(TryOnError, match="idempotency_in_progress"):
        await database.write(claim_key, **request, now=now + LEASE / 2)
    quick = await database.write(claim_key, **request, now=now + LEASE)
    assert isinstance(slow, Claim)
    assert isinstance(quick, Claim)
    job_id = await create_job(database, caller)
    with pytest.raises(TryOnError, match="idempotency_in_progress"):
        await database.write(complete_claim, slow, job_id=job_id)
    await database.write(give_up_claim, slow)
    await database.write(complete_claim, quick, job_id=job_id)
    assert await database.write(claim_key, **request, now=now + 2 * LEASE) == job_id


async def test_who_comes_again_when_told_gets_a_dead_processs_key_in_a_few_requests(
    database: Database, digester: KeyDigester
) -> None:
    caller, now = await create_caller(database, digester), datetime.now(UTC)
    request = {"account_id": caller.account_id, "key": uuid.uuid4().hex, "fingerprint": "0" * 64}
    await database.write(claim_key, **request, now=now)
    waits = []
    while sum(waits) < LEASE.total_seconds():
        with pytest.raises(TryOnError, match="idempotency_in_progress") as refused:
            await database.write(claim_key, **request, now=now + timedelta(seconds=sum(waits)))
        waits.append(refused.value.retry_after or 0)
    assert waits == [1, 1, 2, 4, 8, 16, 28]
    assert isinstance(await database.write(claim_key, **request, now=now + timedelta(seconds=sum(waits))), Claim)
