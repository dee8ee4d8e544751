"""Accounts that somebody signed up for and nobody confirmed: forgotten after a while, so that the address is free."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, exists, select
from sqlalchemy.orm import Session

from domain.tables import Account, AuditEntry, EmailToken, Login, LoginSession, Mail, Table

KEPT = timedelta(days=7)
"""Longer than any link that confirms an address."""

_OWN = (EmailToken, LoginSession, Mail, Login)
"""What signing up leaves behind, in the order in which it can be deleted."""


def delete_unverified(session: Session, *, now: datetime, limit: int) -> int:
    """Delete accounts that were never confirmed and hold nothing; returns how many there were.

    Where an operator has done something about such an account (a key, terms of its own, a block), it stays.
    """
    found = session.scalars(
        select(Login.account_id)
        .where(
            Login.verified_at.is_(None),
            Login.password_hash.is_not(None),
            Login.operator.is_(False),
            Login.created_at <= now - KEPT,
            *(~each for each in _uses()),
            # The audit log outlives accounts, so no foreign key leads from it to them.
            ~exists().where(AuditEntry.account_id == Login.account_id),
        )
        .order_by(Login.created_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    ).all()
    if not found:
        return 0
    for table in _OWN:
        session.execute(delete(table).where(table.account_id.in_(found)).execution_options(synchronize_session=False))
    session.execute(delete(Account).where(Account.id.in_(found)).execution_options(synchronize_session=False))
    return len(found)


def _uses() -> list[ColumnElement[bool]]:
    """Whether any other table has a row of the account, for each table there is."""
    own = {each.__tablename__ for each in _OWN}
    return [
        exists().where(key.parent == Login.account_id)
        for table in Table.metadata.tables.values()
        if table.name not in own
        for key in table.foreign_keys
        if key.column.table.name == Account.__tablename__
    ]
