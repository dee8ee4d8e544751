"""The audit log: what operators did, and to whose account. Rows are only ever added, in the transaction of the act.

The log outlives accounts, so nothing that names a person belongs into its details: no address of mail, no name.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from sqlalchemy import select
from sqlalchemy.orm import Session

from domain.tables import AuditEntry, Place, beyond


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


Detail = str | int | None  # a fact about an act


def add_entry(
    session: Session,
    *,
    action: Act,
    operator_id: uuid.UUID | None,
    account_id: uuid.UUID | None,
    details: Mapping[str, Detail],
    now: datetime,
) -> None:
    """Write down an act, in its own transaction.

    ``operator_id`` is the account of who did it, ``None`` for the command line; ``account_id`` to whose account, if to
    any. ``details`` have names in camelCase and hold nothing that names a person, and no secret.
    """
    session.add(
        AuditEntry(
            id=uuid.uuid4(),
            at=now,
            operator_id=operator_id,
            account_id=account_id,
            action=action.value,
            details=dict(details),
        )
    )


def page(
    session: Session, *, limit: int, account_id: uuid.UUID | None = None, after: Place | None = None
) -> Sequence[AuditEntry]:
    """Entries of all accounts or one, newest first."""
    query = select(AuditEntry).where(*beyond(after, AuditEntry.at, AuditEntry.id, newer=False))
    if account_id is not None:
        query = query.where(AuditEntry.account_id == account_id)
    return session.scalars(query.order_by(AuditEntry.at.desc(), AuditEntry.id.desc()).limit(limit)).all()
