"""Items of backfills by their keys: which job was accepted for an item, and where its picture is kept."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from domain.jobs.jobs import COMPLETED
from domain.tables import BackfillItem, Job


@dataclass(frozen=True)
class ItemStanding:
    """How an item stands that was taken up before; its newest job is None once that row was deleted."""

    item: BackfillItem
    job: Job | None

    @property
    def picture(self) -> str | None:
        """Where the picture is kept; of a job that was erased there is none, though its copy may be yet to go."""
        return None if self.job is not None and self.job.erased_at is not None else self.item.result_key


def find_item(session: Session, *, account_id: uuid.UUID, key: str, lock: bool = False) -> ItemStanding | None:
    """The item of this key, if any backfill of the account has taken it up; held, if so asked, until the end."""
    item = session.get(BackfillItem, (account_id, key), with_for_update=lock)
    return None if item is None else ItemStanding(item, session.get(Job, item.job_id))


def note_job(
    session: Session, *, account_id: uuid.UUID, key: str, job_id: uuid.UUID, backfill_id: str, now: datetime
) -> None:
    """Tie the item to its job, in the transaction that accepts the job and so holds the account."""
    item = session.get(BackfillItem, (account_id, key))
    if item is None:
        item = BackfillItem(account_id=account_id, key=key)
        session.add(item)
    item.job_id, item.backfill_id, item.result_key, item.touched_at = job_id, backfill_id, None, now
    session.flush()


def note_result(
    session: Session, *, account_id: uuid.UUID, key: str, job_id: uuid.UUID, result_key: str, now: datetime
) -> str | None:
    """Note where the picture is kept.

    Returns:
        Where it is: here, or where another backfill has kept it already; nothing if the item is another job's by
        now, or the job was erased. A copy that lies elsewhere has to go, for an erasure would not find it.
    """
    standing = find_item(session, account_id=account_id, key=key, lock=True)
    if standing is None or standing.job is None or standing.job.id != job_id or standing.job.erased_at is not None:
        return None
    if standing.item.result_key is None:
        standing.item.result_key, standing.item.touched_at = result_key, now
    return standing.item.result_key


def forget_result(session: Session, *, account_id: uuid.UUID, key: str, result_key: str) -> None:
    """Note that the picture is not there any more."""
    session.execute(
        update(BackfillItem)
        .where(BackfillItem.account_id == account_id, BackfillItem.key == key, BackfillItem.result_key == result_key)
        .values(result_key=None)
    )


def count_done(session: Session, *, account_id: uuid.UUID, keys: Collection[str]) -> int:
    """How many of these items have a picture."""
    done = session.scalar(
        select(func.count())
        .select_from(BackfillItem)
        .join(Job, Job.id == BackfillItem.job_id)
        .where(BackfillItem.account_id == account_id, BackfillItem.key.in_(keys), Job.status == COMPLETED)
    )
    return int(done or 0)


def copies_of(session: Session, *, job_ids: Collection[uuid.UUID], lock: bool = False) -> list[str]:
    """Where backfills keep the pictures of these jobs; the items held, if so asked, until the end."""
    items = select(BackfillItem.result_key).where(BackfillItem.job_id.in_(job_ids))
    # Items without a key are asked for too: one that is just being noted is waited for, rather than passed over.
    return [key for key in session.scalars(items.with_for_update() if lock else items) if key is not None]


def delete_old_items(session: Session, *, touched_before: datetime, limit: int) -> int:
    """Forget items that nothing has touched since then; returns how many."""
    old = session.execute(
        select(BackfillItem.account_id, BackfillItem.key).where(BackfillItem.touched_at < touched_before).limit(limit)
    ).all()
    for account_id, key in old:
        session.execute(delete(BackfillItem).where(BackfillItem.account_id == account_id, BackfillItem.key == key))
    return len(old)
