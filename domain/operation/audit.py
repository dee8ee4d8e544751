"""The audit log: what operators did, and to whose account. Rows are only ever added, in the transaction of the act.

The log outlives accounts, so nothing that names a person belongs into its details: no address of mail, no name.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from sqlalchemy import and_, or_, select
from sqlalchemy.orm import Session

from domain.tables import AuditEntry


class Act(StrEnum):
    """Every act that is written down."""

    ACCOUNT_CREATED = "account.created"
    ACCOUNT_BLOCKED = "account.blocked"
    ACCOUNT_UNBLOCKED = "account.unblocked"
    ACCOUNT_ERASED = "account.erased"
    PLAN_CHANGED = "account.plan_changed"
    TOPPED_UP = "account.topped_up"
    OPERATOR_ADDED = "operator.added"
    OPERATOR_REMOVED = "operator.removed"
    KEY_CREATED = "key.created"
    KEY_REVOKED = "key.revoked"
    PAYMENT_APPROVED = "payment.approved"
    PAYMENT_REJECTED = "payment.rejected"
    LEDGER_CHECK_STARTED = "ledger.check_started"


Detail = str | int | None
"""A fact about an act."""


def add_entry(
    session: Session,
    *,
    action: Act,
    operator_id: uuid.UUID | None,
    account_id: uuid.UUID | None,
    details: Mapping[str, Detail],
    now: datetime,
) -> None:
    """Write down an act.

    Args:
        session: The transaction of the act itself.
        action: What was done.
        operator_id: Account of who did it; ``None`` for the command line.
        account_id: To whose account, if to any.
        details: Names in camelCase and what is worth knowing; nothing that names a person, and no secret.
        now: When.
    """
    session.add(
        AuditEntry(
            id=uuid.uuid4(),
            at=now,
            operator_id=operator_id,
            action=action.value,
            account_id=account_id,
            details=dict(details),
        )
    )


def page(
    session: Session,
    *,
    limit: int,
    account_id: uuid.UUID | None = None,
    after: tuple[datetime, uuid.UUID] | None = None,
) -> Sequence[AuditEntry]:
    """Entries, newest first.

    Args:
        session: A transaction.
        limit: How many at most.
        account_id: Only what was done to this account.
        after: ``at`` and ``id`` of the last entry of the page before.
    """
    query = select(AuditEntry)
    if account_id is not None:
        query = query.where(AuditEntry.account_id == account_id)
    if after is not None:
        at, entry_id = after
        query = query.where(or_(AuditEntry.at < at, and_(AuditEntry.at == at, AuditEntry.id < entry_id)))
    return session.scalars(query.order_by(AuditEntry.at.desc(), AuditEntry.id.desc()).limit(limit)).all()
