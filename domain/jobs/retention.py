"""What is kept of a job that ended, and for how long: its picture, its answer to polls, and its row."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, or_, select, update
from sqlalchemy.orm import Session

from domain.tables import BackfillItem, Job


def end_access(session: Session, *, job_id: uuid.UUID, now: datetime) -> None:
    """Make the job unknown to polls from now on, as its caller asked, and forget where its pictures came from.

    What is left is the billing record, and the key of a picture that is due to be deleted.
    """
    session.execute(
        update(Job)
        .where(Job.id == job_id)
        .values(erased_at=now, expires_at=now, workflow_input={}, products=None, report=None)
    )


def list_expired(session: Session, *, limit: int, unkept_for: timedelta) -> Sequence[Job]:
    """Completed jobs whose picture is due to be deleted and still has a key.

    One that a backfill has yet to take its copy of is due ``unkept_for`` after the job was accepted.
    """
    now = datetime.now(UTC)
    unkept = select(BackfillItem.job_id).where(
        BackfillItem.job_id == Job.id, BackfillItem.result_key.is_(None), BackfillItem.touched_at > now - unkept_for
    )
    return session.scalars(
        select(Job)
        .where(
            Job.expires_at <= now,
            Job.result_key.is_not(None),
            or_(Job.erased_at.is_not(None), ~unkept.exists()),
        )
        .order_by(Job.expires_at)
        .limit(limit)
    ).all()


def forget_results(session: Session, *, job_ids: Collection[uuid.UUID]) -> None:
    """Note that the pictures are gone."""
    session.execute(
        update(Job).where(Job.id.in_(job_ids)).values(result_key=None).execution_options(synchronize_session=False)
    )


def delete_old(session: Session, *, finished_before: datetime, limit: int) -> int:
    """Delete rows of jobs that ended before then and whose picture is gone; returns how many."""
    old = session.scalars(
        select(Job.id).where(Job.finished_at < finished_before, Job.result_key.is_(None)).limit(limit)
    ).all()
    session.execute(delete(Job).where(Job.id.in_(old)).execution_options(synchronize_session=False))
    return len(old)
