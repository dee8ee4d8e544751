"""Many POSTs at once: exactly as many jobs as the account may have, on both databases."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from sqlalchemy import select

from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.jobs import jobs
from domain.money.ledger import check_ledger
from domain.tables import Job
from runtime.database import Database
from tests.api.conftest import Api, single
from tests.factories import Caller, create_caller
from tests.ledger_entries import entries_of_job
from tests.pictures import data_uri, encoded, photo

pytestmark = pytest.mark.databases("sqlite", "postgresql")

SMALL = data_uri(encoded(photo(256, 256)))
BODY = json.dumps(single(customerPhotoBase64=SMALL, garmentImageUrl="https://shop.example/shirt.png"))
ALL_AT_ONCE, ALLOWED = 100, 25


async def post_all(api: Api, caller: Caller, number: int, **headers: str) -> list[httpx.Response]:
    headers = {**caller.headers, "Content-Type": "application/json", **headers}
    return await asyncio.gather(
        *(api.client.post("/api/v1/tryon", content=BODY, headers=headers, timeout=60) for _ in range(number))
    )


async def jobs_of(database: Database, caller: Caller) -> list[uuid.UUID]:
    with database.reading() as session:
        return list(session.scalars(select(Job.id).where(Job.account_id == caller.account_id)).all())


async def usage(api: Api, caller: Caller) -> tuple[int, int, int]:
    answer = (await api.client.get("/api/v1/usage", headers=caller.headers)).json()
    return answer["used"], answer["reserved"], answer["dailyUsed"]


async def test_no_more_are_accepted_than_the_volume_holds(api: Api, database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=ALLOWED, daily_cap=1000))
    answers = await post_all(api, caller, ALL_AT_ONCE)
    assert Counter(answer.status_code for answer in answers) == {202: ALLOWED, 402: ALL_AT_ONCE - ALLOWED}
    accepted = {uuid.UUID(answer.json()["jobId"]) for answer in answers if answer.status_code == 202}
    assert accepted == set(await jobs_of(database, caller))
    assert await usage(api, caller) == (0, ALLOWED, ALLOWED)
    for job_id in accepted:
        await database.write(
            jobs.fail_job, job_id=job_id, error_code="timed_out", keep=timedelta(hours=1), now=datetime.now(UTC)
        )
    assert await usage(api, caller) == (0, 0, 0)
    with database.reading() as session:
        assert [wrong for wrong in check_ledger(session) if wrong.account_id == caller.account_id] == []


async def test_no_more_are_accepted_than_the_day_holds(api: Api, database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=10_000, daily_cap=ALLOWED))
    answers = await post_all(api, caller, ALL_AT_ONCE)
    assert Counter(answer.status_code for answer in answers) == {202: ALLOWED, 429: ALL_AT_ONCE - ALLOWED}
    for answer in answers:
        if answer.status_code == 429:
            assert answer.headers["X-Error-Code"] == "daily_cap_reached"
            assert 1 <= int(answer.headers["Retry-After"]) <= 86_400
    assert await usage(api, caller) == (0, ALLOWED, ALLOWED)


async def test_one_key_sent_many_times_at_once_is_one_job(api: Api, database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    answers = await post_all(api, caller, 20, **{"Idempotency-Key": "one"})
    assert {answer.status_code for answer in answers} <= {202, 409}
    promised = {answer.json()["jobId"] for answer in answers if answer.status_code == 202}
    [job_id] = await jobs_of(database, caller)
    assert promised == {str(job_id)}
    assert await usage(api, caller) == (0, 1, 1)


async def test_workers_that_end_jobs_while_others_are_accepted(
    api: Api, database: Database, digester: KeyDigester
) -> None:
    """Counters that both sides move at once: nothing is lost, nobody waits for ever."""
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=1000, daily_cap=1000))
    first = [uuid.UUID(answer.json()["jobId"]) for answer in await post_all(api, caller, 20)]

    async def complete(job_id: uuid.UUID) -> None:
        await database.write(
            jobs.complete_job,
            job_id=job_id,
            result_key="r",
            engine="warp",
            report={},
            keep=timedelta(hours=1),
            now=datetime.now(UTC),
        )

    await asyncio.gather(post_all(api, caller, 20), *(complete(job_id) for job_id in first * 2))
    assert await usage(api, caller) == (20, 20, 40)
    with database.reading() as session:
        for job_id in first:
            assert entries_of_job(session, job_id=job_id) == ["reserve", "settle"]
