"""What an account's owner sees of its jobs afterwards: pages of them, one in full, and figures of late.

A poll forgets a job an hour after it ended; its row stays for the owner, without a picture, for ninety days. Figures
leave out jobs of test keys: nothing is drawn for them.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, String, and_, cast, func, select, tuple_
from sqlalchemy.orm import Session

from domain.jobs.jobs import COMPLETED, FAILED, IS_OPEN, PROCESSING
from domain.products import parse_public_id, public_id
from domain.tables import Allowance, ApiKey, BackfillItem, Job, LedgerEntry, Place, Product, beyond


@dataclass(frozen=True)
class Day:
    """Jobs that count under one day (UTC), by what became of them."""

    day: date
    completed: int = 0
    failed: int = 0
    processing: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.completed + self.failed + self.processing


@dataclass(frozen=True)
class Durations:
    """How long so many completed jobs took, from acceptance to the end.

    Half of them did not exceed ``p50`` milliseconds, 95 of 100 not ``p95``; there is none of no jobs.
    """

    count: int
    p50: int | None
    p95: int | None


@dataclass(frozen=True)
class Failure:
    """A job that failed, and why, as in its row."""

    job_id: uuid.UUID
    at: datetime
    error_code: str
    error_advice: str | None


@dataclass(frozen=True)
class FirstSteps:
    """What a new account has done by now."""

    tried: bool
    has_key: bool
    has_product: bool

    @property
    def done(self) -> bool:
        """All of it."""
        return self.tried and self.has_key and self.has_product


def jobs_per_day(session: Session, *, account_id: uuid.UUID, first: date, last: date) -> list[Day]:
    """Every day from ``first`` to ``last``, those without a job too."""
    rows = session.execute(
        select(Job.counted_on, Job.status, func.count().label("jobs"))
        .where(Job.account_id == account_id, Job.counted_on >= first, Job.counted_on <= last)
        .group_by(Job.counted_on, Job.status)
    )
    counts = {(row.counted_on, row.status): row.jobs for row in rows}
    days = [first + timedelta(days=offset) for offset in range((last - first).days + 1)]
    return [Day(day, *(counts.get((day, status), 0) for status in (COMPLETED, FAILED, PROCESSING))) for day in days]


def durations_since(session: Session, *, account_id: uuid.UUID, first: date) -> Durations:
    """Of completed jobs from this day on: the nearest ranks, which are times that a job really took."""
    rank = func.row_number().over(order_by=Job.generation_ms).label("rank")
    completed = (Job.account_id == account_id, Job.counted_on >= first, Job.status == COMPLETED)
    ranked = (
        select(Job.generation_ms, rank, func.count().over().label("jobs"))
        .where(*completed, Job.generation_ms.is_not(None))
        .subquery()
    )
    ranks = [(ranked.c.jobs * percent + 99) // 100 for percent in (50, 95)]
    rows = session.execute(
        select(ranked.c.generation_ms, ranked.c.jobs).where(ranked.c.rank.in_(ranks)).order_by(ranked.c.rank)
    ).all()
    # Of a single job both ranks are the same.
    return Durations(rows[0].jobs, rows[0].generation_ms, rows[-1].generation_ms) if rows else Durations(0, None, None)


def last_failures(session: Session, *, account_id: uuid.UUID, limit: int) -> Sequence[Failure]:
    """The newest jobs that failed, newest first."""
    rows = session.execute(
        select(Job.id, Job.created_at, Job.error_code, Job.error_advice)
        .where(Job.account_id == account_id, Job.status == FAILED, Job.allowance_id.is_not(None))
        .order_by(Job.created_at.desc())
        .limit(limit)
    )
    return [Failure(row.id, row.created_at, row.error_code or "", row.error_advice) for row in rows]


def first_steps(session: Session, *, account_id: uuid.UUID) -> FirstSteps:
    """Whether the account has ever had a job, a key and a product, as far as rows are kept."""
    rows = session.execute(
        select(*(select(table.id).where(table.account_id == account_id).exists() for table in (Job, ApiKey, Product)))
    )
    return FirstSteps(*(bool(each) for each in rows.one()))


MOST_SEARCHED = 10_000
"""Jobs that one page looks through for what no index finds: 30 to 75 ms, on either database and on a busy machine."""


@dataclass(frozen=True)
class JobFilter:
    """Which jobs are wanted; ``None`` asks for nothing.

    They were accepted ``since`` then or later, and before ``until``; ``test`` asks for those that cost nothing, or for
    those that cost something; ``product`` is the public id of a registered garment that they used, and ``metadata``
    what their callers gave them, or a part of it.
    """

    status: str | None = None
    kind: str | None = None
    error_code: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    test: bool | None = None
    product: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def indexed(self) -> list[ColumnElement[bool]]:
        """What an index finds, for the database."""
        asked: list[ColumnElement[bool] | None] = [
            None if self.status is None else Job.status == self.status,
            # That such a job failed leads to the index of failed ones.
            None if self.error_code is None else and_(Job.status == FAILED, Job.error_code == self.error_code),
            None if self.since is None else Job.created_at >= self.since,
            None if self.until is None else Job.created_at < self.until,
        ]
        return [condition for condition in asked if condition is not None]

    def searched(self) -> list[ColumnElement[bool]]:
        """What rows have to be looked into for."""
        used = None if self.product is None else f'"id": "{self.product}"'  # as `json` writes it
        asked: list[ColumnElement[bool] | None] = [
            None if self.kind is None else Job.kind == self.kind,
            None if self.test is None else Job.allowance_id.is_(None) == self.test,
            None if used is None else cast(Job.products, String).contains(used, autoescape=True),
            *(Job.caller_metadata[name].as_string() == value for name, value in self.metadata.items()),
        ]
        return [condition for condition in asked if condition is not None]


ALL_JOBS = JobFilter()

SHOWN_DIGITS = 8
"""Of a job's id, on pages and in letters; fewer would lead through many accounts' rows."""


@dataclass(frozen=True)
class UsedProduct:
    """A registered garment of a job: which of its garments, in which revision.

    Attributes:
        id: The public one.
        name: As it is now; none for a product that is not there any more.
    """

    index: int
    id: str
    revision: int
    name: str | None


@dataclass(frozen=True)
class ListedJob:
    """A line of the list.

    Attributes:
        test: Whether it cost nothing whatever became of it.
        products: The registered garments it used.
        metadata: What its caller gave it.
    """

    id: uuid.UUID
    created_at: datetime
    status: str
    kind: str
    engine: str | None
    generation_ms: int | None
    error_code: str | None
    error_advice: str | None
    finished_at: datetime | None
    expires_at: datetime | None
    erased_at: datetime | None
    result_key: str | None
    test: bool
    metadata: dict[str, str] | None
    products: Sequence[UsedProduct]


@dataclass(frozen=True)
class Booking:
    """An entry of the ledger, and what it was booked on: since when that counts, and until when; a pack for ever."""

    kind: str
    at: datetime
    source: str
    starts_at: datetime
    ends_at: datetime | None


@dataclass(frozen=True)
class JobRecord:
    """Everything that is known of one job.

    Attributes:
        backfill_id: The backfill that had it accepted, as far as that is still known.
        copied: Whether a backfill keeps a copy of its picture.
        bookings: Oldest first; none for one that cost nothing whatever became of it.
    """

    job: Job
    key: ApiKey | None
    backfill_id: str | None
    copied: bool
    bookings: Sequence[Booking]
    product_names: dict[str, str]

    @property
    def test(self) -> bool:
        """Whether it cost nothing whatever became of it."""
        return self.job.allowance_id is None


@dataclass(frozen=True)
class JobPage:
    """Some lines of the list, and where the next page begins; none after the last one."""

    jobs: Sequence[ListedJob]
    next: Place | None


_LISTED = (
    *(Job.id, Job.created_at, Job.status, Job.kind, Job.engine, Job.generation_ms, Job.error_code, Job.error_advice),
    *(Job.finished_at, Job.expires_at, Job.erased_at, Job.result_key),
    Job.allowance_id.is_(None).label("test"),
    Job.caller_metadata.label("metadata"),
    Job.products,
)
_NEWEST_FIRST = (Job.created_at.desc(), Job.id.desc())


def list_jobs(
    session: Session, *, account_id: uuid.UUID, limit: int, wanted: JobFilter = ALL_JOBS, before: Place | None = None
) -> JobPage:
    """A page of an account's jobs, newest first, from the one after ``before``.

    Where no index leads to what is wanted, a page looks through `MOST_SEARCHED` jobs and no further: it may hold fewer
    than ``limit``, or none, with more to come.
    """
    conditions = [Job.account_id == account_id, *wanted.indexed(), *beyond(before, Job.created_at, Job.id, newer=False)]
    end: Place | None = None
    searched = wanted.searched()
    if searched:
        last = select(Job.created_at, Job.id).where(*conditions).order_by(*_NEWEST_FIRST).offset(MOST_SEARCHED - 1)
        found = session.execute(last.limit(1)).one_or_none()
        end = None if found is None else (found.created_at, found.id)
    if end is not None:
        conditions.append(tuple_(Job.created_at, Job.id) >= end)
    query = select(*_LISTED).where(*conditions, *searched).order_by(*_NEWEST_FIRST).limit(limit + 1)
    rows = session.execute(query).mappings().all()
    shown = rows[:limit]
    names = product_names(session, account_id=account_id, public_ids=_products_of(row["products"] for row in shown))

    def used(products: Sequence[dict[str, Any]] | None) -> list[UsedProduct]:
        return [UsedProduct(**each, name=names.get(each["id"])) for each in products or ()]

    jobs = [ListedJob(**{**row, "products": used(row["products"])}) for row in shown]
    return JobPage(jobs, (jobs[-1].created_at, jobs[-1].id) if len(rows) > limit else end)


def with_prefix(session: Session, *, account_id: uuid.UUID, prefix: str, limit: int) -> Sequence[uuid.UUID]:
    """The account's jobs whose id begins with these hexadecimal digits, dashes or not; at most ``limit``.

    Raises:
        ValueError: It is no beginning of an id, or shorter than what pages show of one.
    """
    digits = prefix.replace("-", "")
    if len(digits) < SHOWN_DIGITS:
        raise ValueError(f"at least {SHOWN_DIGITS} digits are needed")
    first, last = uuid.UUID(digits.ljust(32, "0")), uuid.UUID(digits.ljust(32, "f"))
    return session.scalars(
        select(Job.id).where(Job.account_id == account_id, Job.id >= first, Job.id <= last).limit(limit)
    ).all()


def find_record(session: Session, *, account_id: uuid.UUID, job_id: uuid.UUID) -> JobRecord | None:
    """A job of this account; another account's is as unknown as one that never was."""
    row = session.execute(
        select(Job, ApiKey)
        .outerjoin(ApiKey, ApiKey.id == Job.api_key_id)
        .where(Job.id == job_id, Job.account_id == account_id)
    ).one_or_none()
    if row is None:
        return None
    bookings = session.execute(
        select(LedgerEntry.kind, LedgerEntry.at, Allowance.source, Allowance.starts_at, Allowance.ends_at)
        .join(Allowance, Allowance.id == LedgerEntry.allowance_id)
        .where(LedgerEntry.job_id == job_id)
        .order_by(LedgerEntry.at, LedgerEntry.kind)
    )
    items = select(BackfillItem).where(BackfillItem.job_id == job_id, BackfillItem.account_id == account_id)
    item = session.scalar(items.limit(1))
    return JobRecord(
        row.Job,
        row.ApiKey,
        None if item is None else item.backfill_id,
        item is not None and item.result_key is not None,
        [Booking(*each) for each in bookings],
        product_names(session, account_id=account_id, public_ids=_products_of([row.Job.products])),
    )


def newest_open_of_owner(session: Session, *, account_id: uuid.UUID) -> uuid.UUID | None:
    """The newest job in progress that the owner started without a key and no backfill did, if there is one."""
    of_backfill = select(BackfillItem.job_id).where(BackfillItem.account_id == account_id)
    own = (Job.account_id == account_id, IS_OPEN, Job.api_key_id.is_(None))
    query = select(Job.id).where(*own, Job.id.not_in(of_backfill))
    return session.scalar(query.order_by(Job.created_at.desc()).limit(1))


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
