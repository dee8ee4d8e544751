from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from domain import products
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.jobs.job_history import (
    Day,
    Durations,
    FirstSteps,
    durations_since,
    first_steps,
    jobs_per_day,
    last_failures,
)
from runtime.database import Database
from tests.factories import PLANS, Caller, create_caller, new_job

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def caller(database: Database, digester: KeyDigester) -> Caller:
    return await create_caller(database, digester, plan="scale", now=NOW - timedelta(days=20))


async def ended(
    database: Database,
    caller: Caller,
    *,
    at: datetime = NOW,
    milliseconds: int | None = None,
    error_code: str | None = None,
    test: bool = False,
) -> uuid.UUID:
    """A job that was accepted ``at`` and, if it ended, took so long or failed for this reason."""
    new = new_job(caller, test=test)
    with database.transaction() as session:
        jobs.accept_job(session, PLANS, new, now=at)
        if milliseconds is not None:
            jobs.complete_job(
                session,
                job_id=new.job_id,
                result_key="r",
                engine="warp",
                report={},
                keep=HOUR,
                now=at + timedelta(milliseconds=milliseconds),
            )
        if error_code is not None:
            jobs.fail_job(session, job_id=new.job_id, error_code=error_code, keep=HOUR, now=at)
    return new.job_id


async def test_jobs_are_counted_by_day_and_outcome(database: Database, digester: KeyDigester, caller: Caller) -> None:
    stranger = await create_caller(database, digester, now=NOW - timedelta(days=20))
    yesterday, today = NOW - timedelta(days=1), NOW.date()
    await ended(database, caller, milliseconds=1000)
    await ended(database, caller, error_code="timed_out")
    await ended(database, caller)
    await ended(database, caller, at=yesterday.replace(hour=23, minute=59, second=59), milliseconds=2000)
    await ended(database, caller, milliseconds=1000, test=True)
    await ended(database, caller, at=NOW - timedelta(days=3), milliseconds=1000)
    await ended(database, stranger, milliseconds=1000)
    days = await database.read(jobs_per_day, account_id=caller.account_id, first=today - timedelta(days=2), last=today)
    assert days == [
        Day(today - timedelta(days=2)),
        Day(yesterday.date(), completed=1),
        Day(today, completed=1, failed=1, processing=1),
    ]
    assert [day.total for day in days] == [0, 1, 3]


@pytest.mark.parametrize(
    ("taken", "p50", "p95"),
    [
        ([700], 700, 700),
        ([100, 300], 100, 300),
        ([300, 100, 200], 200, 300),
        (list(range(10, 210, 10)), 100, 190),
        ([5] * 19 + [9000] * 2, 5, 9000),
    ],
)
async def test_percentiles_are_nearest_ranks(
    database: Database, caller: Caller, taken: list[int], p50: int, p95: int
) -> None:
    for milliseconds in taken:
        await ended(database, caller, milliseconds=milliseconds)
    found = await database.read(durations_since, account_id=caller.account_id, first=NOW.date())
    assert found == Durations(len(taken), p50, p95)


async def test_percentiles_leave_out_what_was_not_drawn(database: Database, caller: Caller) -> None:
    await ended(database, caller, milliseconds=1, test=True)
    await ended(database, caller, error_code="timed_out")
    await ended(database, caller)
    await ended(database, caller, at=NOW - timedelta(days=2), milliseconds=1)
    found = await database.read(durations_since, account_id=caller.account_id, first=NOW.date())
    assert found == Durations(0, None, None)


async def test_the_last_failures_are_told_with_their_reasons(database: Database, caller: Caller) -> None:
    old, _, new = [
        await ended(database, caller, at=NOW + timedelta(seconds=offset), error_code=code, test=test)
        for offset, code, test in ((0, "timed_out", False), (2, "cancelled", True), (1, "person_not_found", False))
    ]
    await ended(database, caller, milliseconds=1)
    with database.reading() as session:
        found = last_failures(session, account_id=caller.account_id, limit=5)
        newest = last_failures(session, account_id=caller.account_id, limit=1)
    assert [(each.job_id, each.error_code) for each in found] == [(new, "person_not_found"), (old, "timed_out")]
    assert newest == found[:1]


async def test_first_steps_are_seen(database: Database, digester: KeyDigester, caller: Caller) -> None:
    with database.reading() as session:
        assert first_steps(session, account_id=caller.account_id) == FirstSteps(
            tried=False, has_key=True, has_product=False
        )
    await ended(database, caller, test=True)
    values = {"name": "Shirt", "category": "upper_body", "front": {"key": "k", "sha256": "0" * 64}}
    await database.write(products.register_product, account_id=caller.account_id, new_id=uuid.uuid4(), values=values)
    steps = await database.read(first_steps, account_id=caller.account_id)
    assert steps.done
