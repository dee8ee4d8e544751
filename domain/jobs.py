"""Jobs from acceptance to their one end.

`complete_job` and `fail_job` are compare-and-sets: only the first of any number of callers ends the job and writes
its ledger row; the others learn that they came too late. Whoever finishes a job twice therefore bills it once.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from domain.ledger import add_entry
from domain.tables import Job

PROCESSING, COMPLETED, FAILED = "processing", "completed", "failed"


async def accept_job(
    session: AsyncSession,
    *,
    job_id: uuid.UUID,
    account_id: uuid.UUID,
    api_key_id: uuid.UUID,
    kind: str,
    workflow_input: dict[str, Any],
    deadline: timedelta,
) -> Job:
    """Add the job and its reservation. An empty ``started_at`` makes the row its own outbox entry."""
    now = datetime.now(UTC)
    job = Job(
        id=job_id,
        account_id=account_id,
        api_key_id=api_key_id,
        kind=kind,
        status=PROCESSING,
        workflow_input=workflow_input,
        created_at=now,
        deadline_at=now + deadline,
    )
    session.add(job)
    # No relationship ties the two tables, so the job has to be there before the entry that points at it.
    await session.flush()
    add_entry(session, account_id=account_id, job_id=job_id, kind="reserve", at=now)
    return job


async def find_job(session: AsyncSession, *, job_id: uuid.UUID, account_id: uuid.UUID) -> Job | None:
    """A job of this account; another account's job is as unknown as one that never was."""
    return await session.scalar(select(Job).where(Job.id == job_id, Job.account_id == account_id))


async def get_job(session: AsyncSession, *, job_id: uuid.UUID) -> Job:
    """A job that is known to be there."""
    return await session.get_one(Job, job_id)


async def has_ended(session: AsyncSession, *, job_id: uuid.UUID) -> bool:
    """Whether there is such a job and it is no longer in progress."""
    return await session.scalar(select(Job.id).where(Job.id == job_id, Job.status != PROCESSING)) is not None


async def mark_started(session: AsyncSession, *, job_id: uuid.UUID) -> None:
    """Take the job out of the outbox: Temporal has it."""
    await session.execute(
        update(Job).where(Job.id == job_id, Job.started_at.is_(None)).values(started_at=datetime.now(UTC))
    )


async def list_unstarted(session: AsyncSession, *, older_than: timedelta, limit: int) -> Sequence[Job]:
    """Jobs that were accepted and not handed to Temporal, oldest first.

    Those younger than ``older_than`` may still be on their way in the process that accepted them.
    """
    return (
        await session.scalars(
            select(Job)
            .where(Job.started_at.is_(None), Job.status == PROCESSING, Job.created_at <= datetime.now(UTC) - older_than)
            .order_by(Job.created_at)
            .limit(limit)
        )
    ).all()


async def list_open(session: AsyncSession, *, older_than: timedelta, limit: int) -> Sequence[Job]:
    """Jobs in progress that were accepted longer ago than ``older_than``, oldest first."""
    return (
        await session.scalars(
            select(Job)
            .where(Job.status == PROCESSING, Job.created_at <= datetime.now(UTC) - older_than)
            .order_by(Job.created_at)
            .limit(limit)
        )
    ).all()


async def list_expired(session: AsyncSession, *, limit: int) -> Sequence[Job]:
    """Completed jobs whose picture is due to be deleted and still has a key."""
    return (
        await session.scalars(
            select(Job)
            .where(Job.expires_at <= datetime.now(UTC), Job.result_key.is_not(None))
            .order_by(Job.expires_at)
            .limit(limit)
        )
    ).all()


async def forget_result(session: AsyncSession, *, job_id: uuid.UUID) -> None:
    """Note that the picture is gone."""
    await session.execute(update(Job).where(Job.id == job_id).values(result_key=None))


async def complete_job(
    session: AsyncSession,
    *,
    job_id: uuid.UUID,
    result_key: str,
    engine: str,
    report: dict[str, Any],
    keep: timedelta,
) -> bool:
    """End an open job with a picture that may be fetched for as long as ``keep``, and settle its reservation.

    Returns:
        Whether this call ended it.
    """
    now = datetime.now(UTC)
    job = await get_job(session, job_id=job_id)
    return await _end_job(
        session,
        job,
        status=COMPLETED,
        finished_at=now,
        expires_at=now + keep,
        generation_ms=round((now - job.created_at).total_seconds() * 1000),
        result_key=result_key,
        engine=engine,
        report=report,
    )


async def fail_job(session: AsyncSession, *, job_id: uuid.UUID, error_code: str, keep: timedelta) -> bool:
    """End an open job without a picture, and release its reservation.

    The reason, a code of the error catalogue, may be polled for as long as ``keep``.

    Returns:
        Whether this call ended it.
    """
    now = datetime.now(UTC)
    job = await get_job(session, job_id=job_id)
    return await _end_job(session, job, status=FAILED, finished_at=now, expires_at=now + keep, error_code=error_code)


async def _end_job(session: AsyncSession, job: Job, *, status: str, finished_at: datetime, **values: object) -> bool:
    ended = await session.execute(
        update(Job)
        .where(Job.id == job.id, Job.status == PROCESSING)
        .values(status=status, finished_at=finished_at, **values)
        .returning(Job.id)
    )
    if ended.scalar_one_or_none() is None:
        return False
    add_entry(
        session,
        account_id=job.account_id,
        job_id=job.id,
        kind="settle" if status == COMPLETED else "release",
        at=finished_at,
    )
    return True
