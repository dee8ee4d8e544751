"""What an account's owner sees of its jobs afterwards: pages of them, and everything that is known of one.

A poll forgets a job an hour after it ended; its row stays for the owner, without a picture, for ninety days.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, or_, select
from sqlalchemy.orm import Session

from domain.jobs.jobs import FAILED, PROCESSING
from domain.products.products import parse_public_id, public_id
from domain.tables import Allowance, ApiKey, BackfillItem, Job, LedgerEntry, Product


@dataclass(frozen=True)
class JobFilter:
    """Which jobs are wanted; ``None`` asks for nothing.

    Attributes:
        since: Accepted then or later.
        until: Accepted before then.
        test: Only those that cost nothing, or only those that cost something.
    """

    status: str | None = None
    kind: str | None = None
    error_code: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    test: bool | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The same for the database."""
        asked: list[ColumnElement[bool] | None] = [
            None if self.status is None else Job.status == self.status,
            None if self.kind is None else Job.kind == self.kind,
            # That such a job failed leads to the index of failed ones.
            None if self.error_code is None else and_(Job.status == FAILED, Job.error_code == self.error_code),
            None if self.since is None else Job.created_at >= self.since,
            None if self.until is None else Job.created_at < self.until,
            None if self.test is None else Job.allowance_id.is_(None) == self.test,
        ]
        return [condition for condition in asked if condition is not None]


ALL_JOBS = JobFilter()


@dataclass(frozen=True)
class ListedJob:
    """A line of the list.

    Attributes:
        test: Whether it cost nothing whatever became of it.
        products: Public ids of the registered garments it used, and their names as they are now; none for a product
            that is not there any more.
    """

    id: uuid.UUID
    created_at: datetime
    status: str
    kind: str
    engine: str | None
    generation_ms: int | None
    error_code: str | None
    test: bool
    products: Sequence[tuple[str, str | None]]


@dataclass(frozen=True)
class Booking:
    """An entry of the ledger, and what it was booked on.

    Attributes:
        kind: ``reserve``, ``settle`` or ``release``.
        source: ``trial``, ``included`` or ``topup``.
        starts_at: When that began to count, or the pack was bought.
        ends_at: When it stops; none for a pack.
    """

    kind: str
    at: datetime
    source: str
    starts_at: datetime
    ends_at: datetime | None


@dataclass(frozen=True)
class JobRecord:
    """Everything that is known of one job.

    Attributes:
        job: Its row.
        key: The key that asked for it.
        backfill_id: The backfill that had it accepted, as far as that is still known.
        bookings: Oldest first; none for one that cost nothing whatever became of it.
        product_names: As they are now, by public id.
    """

    job: Job
    key: ApiKey | None
    backfill_id: str | None
    bookings: Sequence[Booking]
    product_names: dict[str, str]

    @property
    def test(self) -> bool:
        """Whether it cost nothing whatever became of it."""
        return self.job.allowance_id is None


def list_jobs(
    session: Session,
    *,
    account_id: uuid.UUID,
    limit: int,
    wanted: JobFilter = ALL_JOBS,
    before: tuple[datetime, uuid.UUID] | None = None,
) -> list[ListedJob]:
    """An account's jobs, newest first.

    Args:
        session: The transaction.
        account_id: Whose.
        limit: How many at most.
        wanted: Which.
        before: ``created_at`` and ``id`` of the last job of the page before.
    """
    query = select(
        Job.id,
        Job.created_at,
        Job.status,
        Job.kind,
        Job.engine,
        Job.generation_ms,
        Job.error_code,
        Job.allowance_id,
        Job.products,
    ).where(Job.account_id == account_id, *wanted.conditions())
    if before is not None:
        created_at, job_id = before
        query = query.where(Job.created_at <= created_at, or_(Job.created_at < created_at, Job.id < job_id))
    rows = (session.execute(query.order_by(Job.created_at.desc(), Job.id.desc()).limit(limit))).all()
    names = product_names(session, account_id=account_id, public_ids=_products_of(row.products for row in rows))
    return [_listed(row, names) for row in rows]


def find_record(session: Session, *, account_id: uuid.UUID, job_id: uuid.UUID) -> JobRecord | None:
    """A job of this account; another account's is as unknown as one that never was."""
    row = (
        session.execute(
            select(Job, ApiKey)
            .outerjoin(ApiKey, ApiKey.id == Job.api_key_id)
            .where(Job.id == job_id, Job.account_id == account_id)
        )
    ).one_or_none()
    if row is None:
        return None
    bookings = session.execute(
        select(LedgerEntry.kind, LedgerEntry.at, Allowance.source, Allowance.starts_at, Allowance.ends_at)
        .join(Allowance, Allowance.id == LedgerEntry.allowance_id)
        .where(LedgerEntry.job_id == job_id)
        .order_by(LedgerEntry.at, LedgerEntry.kind)
    )
    item = select(BackfillItem.backfill_id).where(BackfillItem.job_id == job_id, BackfillItem.account_id == account_id)
    return JobRecord(
        row.Job,
        row.ApiKey,
        session.scalar(item.limit(1)) if row.ApiKey is None else None,
        [Booking(*each) for each in bookings],
        product_names(session, account_id=account_id, public_ids=_products_of([row.Job.products])),
    )


def newest_open_of_owner(session: Session, *, account_id: uuid.UUID) -> uuid.UUID | None:
    """The newest job in progress that the owner started without a key and no backfill did, if there is one."""
    of_backfill = select(BackfillItem.job_id).where(BackfillItem.account_id == account_id)
    return session.scalar(
        select(Job.id)
        .where(
            Job.account_id == account_id,
            Job.status == PROCESSING,
            Job.api_key_id.is_(None),
            Job.id.not_in(of_backfill),
        )
        .order_by(Job.created_at.desc())
        .limit(1)
    )


def list_error_codes(session: Session, *, account_id: uuid.UUID) -> list[str]:
    """Codes that jobs of the account failed with, in alphabetical order."""
    codes = session.scalars(
        select(Job.error_code)
        .where(Job.account_id == account_id, Job.status == FAILED, Job.error_code.is_not(None))
        .distinct()
    )
    return sorted(code for code in codes if code is not None)


def product_names(session: Session, *, account_id: uuid.UUID, public_ids: Collection[str]) -> dict[str, str]:
    """Names of those products of the account that there are, archived ones too, by public id."""
    ids = {each for each in map(parse_public_id, public_ids) if each is not None}
    if not ids:
        return {}
    rows = session.execute(
        select(Product.id, Product.name).where(Product.account_id == account_id, Product.id.in_(ids))
    )
    return {public_id(row.id): row.name for row in rows}


def _products_of(lists: Any) -> set[str]:
    return {product["id"] for products in lists for product in products or ()}


def _listed(row: Row[Any], names: dict[str, str]) -> ListedJob:
    return ListedJob(
        row.id,
        row.created_at,
        row.status,
        row.kind,
        row.engine,
        row.generation_ms,
        row.error_code,
        row.allowance_id is None,
        [(product["id"], names.get(product["id"])) for product in row.products or ()],
    )
