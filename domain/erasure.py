"""Accounts that go: those that their owners have erased, and those that nobody ever confirmed.

An erasure begins with one transaction, after which nobody can call or sign in any more and the address is free again;
the rest is carried out by `workflows.accounts`. The account's row, its allowances, closed payments and the ledger stay,
for money is not thrown away; none of them tells anything about a person.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Column, ColumnElement, delete, exists, func, or_, select, tuple_, update
from sqlalchemy import Table as SqlTable
from sqlalchemy.orm import Session

from domain.billing.payments import reject_open_of_account
from domain.money.quota import lock_account
from domain.tables import (
    Account,
    Allowance,
    ApiKey,
    AuditEntry,
    BackfillItem,
    DailyUsage,
    EmailToken,
    Job,
    LedgerEntry,
    Login,
    LoginSession,
    Mail,
    Payment,
    Place,
    RateWindow,
    Table,
    beyond,
    rows_changed,
)
from domain.webhooks import switch_all_off

REASON = "This account was erased."  # why it is blocked from then on

KEPT = frozenset(table.__tablename__ for table in (Account, ApiKey, Job, Allowance, DailyUsage, LedgerEntry, Payment))
"""Tables with rows of an account that stay: what the bill is made of. Rows of every other table go."""

KEPT_UNVERIFIED = timedelta(days=7)  # longer than any link that confirms an address

_DOORS = (EmailToken, LoginSession, Mail, Login)
"""What signing up leaves behind, in the order in which it can be deleted."""


def erased_address(account_id: uuid.UUID) -> str:
    """What stands in place of the address; no mail can ever arrive there."""
    return f"erased-{account_id}@erased.invalid"


def begin_erasure(session: Session, *, account_id: uuid.UUID, now: datetime) -> bool:
    """Shut the account for good: no key is valid, nobody is signed in, and the address is free again.

    A job that is being accepted at this moment comes before. Says whether this call did it.

    Raises:
        ValueError: There is no such account.
    """
    account = session.get(Account, account_id)
    if account is None:
        raise ValueError(f"there is no account {account_id}")
    account = lock_account(session, account_id=account_id)
    session.refresh(account)
    if account.erased_at is not None:
        return False
    # First, while others may write rows of the account: an attempt holds its endpoint, and may have to mail the owner.
    switch_all_off(session, account_id=account_id, now=now)
    account.erased_at, account.blocked_at, account.blocked_reason = now, account.blocked_at or now, REASON
    account.email, account.result_ttl_seconds = erased_address(account_id), None
    nothing: dict[str, Any] = {"name": None, "origins": None, "publishable_key": None}  # what they tell of their owner
    session.execute(
        update(ApiKey)
        .where(ApiKey.account_id == account_id)
        .values(revoked_at=func.coalesce(ApiKey.revoked_at, now), **nothing)
    )
    # The rest goes in pages; this opens doors.
    for table in _DOORS:
        session.execute(delete(table).where(table.account_id == account_id))
    return True


def list_unfinished(session: Session, *, older_than: timedelta, now: datetime, limit: int) -> list[uuid.UUID]:
    """Accounts whose erasure began longer ago than that and is not done, oldest first."""
    found = session.scalars(
        select(Account.id)
        .where(
            Account.erased_at.is_not(None), Account.erasure_finished_at.is_(None), Account.erased_at <= now - older_than
        )
        .order_by(Account.erased_at)
        .limit(limit)
    )
    return list(found)


def jobs_with_objects(
    session: Session, *, account_id: uuid.UUID, ended_since: datetime, after: uuid.UUID | None, limit: int
) -> Sequence[uuid.UUID]:
    """The next jobs of the account, by id, that may have objects: with a result, in progress, or ended since then."""
    may_have = or_(Job.result_key.is_not(None), Job.finished_at.is_(None), Job.finished_at >= ended_since)
    own = [Job.account_id == account_id, may_have, *([] if after is None else [Job.id > after])]
    return session.scalars(select(Job.id).where(*own).order_by(Job.id).limit(limit)).all()


def backfills_of(session: Session, *, account_id: uuid.UUID) -> set[str]:
    """Backfills that accepted jobs of the account."""
    return set(
        session.scalars(select(BackfillItem.backfill_id).where(BackfillItem.account_id == account_id).distinct())
    )


def shared_backfills(session: Session, *, account_id: uuid.UUID, backfill_ids: Collection[str]) -> set[str]:
    """Those of these names under which another account has pictures too."""
    return set(
        session.scalars(
            select(BackfillItem.backfill_id)
            .where(BackfillItem.account_id != account_id, BackfillItem.backfill_id.in_(backfill_ids))
            .distinct()
        )
    )


def backfill_results(session: Session, *, account_id: uuid.UUID, after: str, limit: int) -> Sequence[tuple[str, str]]:
    """Names of the account's next items with a picture that a backfill keeps, and the pictures' keys."""
    found = session.execute(
        select(BackfillItem.key, BackfillItem.result_key)
        .where(BackfillItem.account_id == account_id, BackfillItem.result_key.is_not(None), BackfillItem.key > after)
        .order_by(BackfillItem.key)
        .limit(limit)
    )
    return [(name, key) for name, key in found if key is not None]


def empty_jobs(
    session: Session, *, account_id: uuid.UUID, after: Place | None, limit: int, now: datetime
) -> Place | None:
    """Forget what the next jobs of the account were about: their rows stay for the ledger. Says where to go on."""
    query = select(Job.created_at, Job.id).where(Job.account_id == account_id)
    query = query.where(*beyond(after, Job.created_at, Job.id, newer=True))
    batch = session.execute(query.order_by(Job.created_at, Job.id).limit(limit)).all()
    if not batch:
        return None
    emptied = update(Job).values(
        workflow_input={}, products=None, caller_metadata=None, report=None, result_key=None, expires_at=now
    )
    emptied = emptied.values(erased_at=func.coalesce(Job.erased_at, now))
    rows_changed(session, emptied.where(Job.id.in_([job_id for _, job_id in batch])))
    created_at, job_id = batch[-1]
    return created_at, job_id


def delete_rows(session: Session, *, account_id: uuid.UUID, limit: int) -> int:
    """Delete some of its rows, in every table but those of `KEPT`; says how many, until there are none."""
    keys = select(ApiKey.id).where(ApiKey.account_id == account_id)
    rates, callers = Table.metadata.tables[RateWindow.__tablename__], RateWindow.caller_id
    deleted = _delete_some(session, rates, or_(callers == account_id, callers.in_(keys)), limit)
    for table, owner in _owners():
        if table.name not in KEPT:
            deleted += _delete_some(session, table, owner == account_id, limit)
    return deleted


def finish_erasure(session: Session, *, account_id: uuid.UUID, now: datetime) -> None:
    """Note that it is done, once everything else is gone. Orders that nobody decided about are rejected.

    What operators wrote to other orders may name a person, so it goes.
    """
    reject_open_of_account(session, account_id=account_id, note=REASON, now=now)
    session.execute(update(Payment).where(Payment.account_id == account_id, Payment.note != REASON).values(note=None))
    session.execute(
        update(Account)
        .where(Account.id == account_id, Account.erasure_finished_at.is_(None))
        .values(erasure_finished_at=now)
    )


def delete_unverified(session: Session, *, now: datetime, limit: int) -> int:
    """Delete accounts that were never confirmed and hold nothing; returns how many there were.

    Where an operator has done something about such an account (a key, terms of its own, a block), it stays.
    """
    doors = {each.__tablename__ for each in _DOORS}
    found = session.scalars(
        select(Login.account_id)
        .join(Account, Account.id == Login.account_id)
        .where(
            Login.verified_at.is_(None),
            Login.password_hash.is_not(None),
            Login.operator.is_(False),
            Login.created_at <= now - KEPT_UNVERIFIED,
            *(~exists().where(owner == Login.account_id) for table, owner in _owners() if table.name not in doors),
            # The audit log outlives accounts, so no foreign key leads from it to them.
            ~exists().where(AuditEntry.account_id == Login.account_id),
        )
        .order_by(Login.created_at)
        .limit(limit)
        # Their accounts too: others hold these before they ask for the login.
        .with_for_update(skip_locked=True)
    ).all()
    for table in _DOORS if found else ():
        rows_changed(session, delete(table).where(table.account_id.in_(found)))
    return rows_changed(session, delete(Account).where(Account.id.in_(found))) if found else 0


def _owners() -> list[tuple[SqlTable, Column[Any]]]:
    """Every table with rows of accounts, and its column that says whose; those that point at others come first."""
    return [
        (table, key.parent)
        for table in reversed(Table.metadata.sorted_tables)
        for key in table.foreign_keys
        if key.column.table.name == Account.__tablename__
    ]


def _delete_some(session: Session, table: SqlTable, own: ColumnElement[bool], limit: int) -> int:
    key = tuple_(*table.primary_key)
    some = session.execute(select(*table.primary_key).where(own).limit(limit)).all()
    if some:
        session.execute(delete(table).where(key.in_([tuple(row) for row in some])))
    return len(some)
