"""How much there is of what, and what waits: for those who watch the service, and for backups.

The first is asked often, so every question about what may be much has an index of its own; mail is a week's at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, inspect, select
from sqlalchemy.orm import Session

from domain.billing.payments import OPEN
from domain.jobs.jobs import IS_OPEN
from domain.tables import (
    Account,
    Allowance,
    ApiKey,
    BackfillItem,
    Job,
    LedgerEntry,
    Mail,
    Payment,
    Product,
    Watermark,
    WebhookDelivery,
)
from domain.webhooks import HEAD_START


@dataclass(frozen=True)
class JobCounts:
    """The state at one moment.

    Attributes:
        waiting: Accepted jobs that Temporal does not have yet, the outbox; without any, the oldest has an age of 0.
        running: Jobs that Temporal has.
        kept: Completed jobs whose picture can be fetched, or is due to be deleted.
        reserved: Generations that are neither settled nor released.
    """

    waiting: int
    oldest_waiting_seconds: float
    running: int
    kept: int
    reserved: int


def count_jobs(session: Session, *, now: datetime) -> JobCounts:
    """Count."""
    waiting, oldest = session.execute(
        select(func.count(), func.min(Job.created_at)).where(Job.started_at.is_(None), IS_OPEN)
    ).one()
    unfinished = session.scalar(select(func.count()).where(IS_OPEN))
    kept = session.scalar(select(func.count()).where(Job.result_key.is_not(None)))
    reserved = session.scalar(select(func.sum(Allowance.reserved)).where(Allowance.reserved > 0))
    return JobCounts(
        waiting=waiting,
        oldest_waiting_seconds=max((now - oldest).total_seconds(), 0.0) if oldest else 0.0,
        running=(unfinished or 0) - waiting,
        kept=kept or 0,
        reserved=int(reserved or 0),
    )


@dataclass(frozen=True)
class WaitingCounts:
    """What owners wait for at one moment.

    Attributes:
        mails: Messages that no server has taken or refused yet; without any, the oldest has an age of 0.
        late_webhooks: Deliveries whose next attempt should have been made by now.
        erasures: Accounts that are being erased.
        orders: Payments that nobody has decided about.
    """

    mails: int
    oldest_mail_seconds: float
    late_webhooks: int
    erasures: int
    orders: int


def count_what_waits(session: Session, *, now: datetime) -> WaitingCounts:
    """Count."""
    mails, oldest = session.execute(
        select(func.count(), func.min(Mail.created_at)).where(Mail.sent_at.is_(None), Mail.refused_at.is_(None))
    ).one()
    late = session.scalar(select(func.count()).where(WebhookDelivery.next_attempt_at <= now - HEAD_START))
    unfinished = (Account.erased_at.is_not(None), Account.erasure_finished_at.is_(None))
    erasures = session.scalar(select(func.count()).select_from(Account).where(*unfinished))
    orders = session.scalar(select(func.count()).where(Payment.status == OPEN))
    return WaitingCounts(
        mails=mails,
        oldest_mail_seconds=max((now - oldest).total_seconds(), 0.0) if oldest else 0.0,
        late_webhooks=late or 0,
        erasures=erasures or 0,
        orders=orders or 0,
    )


def newest_job(session: Session) -> datetime | None:
    """When the newest job was accepted; looks at every row."""
    newest: datetime | None = session.scalar(select(func.max(Job.created_at)))
    return newest


_COUNTED = {"accounts": Account, "apiKeys": ApiKey, "products": Product, "jobs": Job, "ledgerEntries": LedgerEntry}


def count_rows(connection: Connection) -> dict[str, int]:
    """Rows by what they are, for people; also of a database that has not seen every migration."""
    counts = {
        name: _number(connection, select(func.count()).select_from(table))
        for name, table in _COUNTED.items()
        if inspect(connection).has_table(table.__tablename__)
    }
    return counts | {"openJobs": _number(connection, select(func.count(Job.id)).where(IS_OPEN))}


def referenced_keys(connection: Connection) -> set[str]:
    """Keys of the objects that rows speak of, inputs of jobs left out; also of an older database."""
    present = set(inspect(connection).get_table_names())
    found = set[str]()
    for column in (Job.result_key, Product.front, Product.back, Watermark.logo, BackfillItem.result_key):
        if column.class_.__tablename__ in present:
            told = [each for each in connection.scalars(select(column)) if each]
            found |= {each if isinstance(each, str) else each["key"] for each in told}
    return found


def _number(connection: Connection, question: Select[Any]) -> int:
    return int(connection.scalar(question) or 0)
