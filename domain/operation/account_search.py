"""Finding accounts by the beginning of their address, for those who run the service."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from domain.tables import Account, Login


@dataclass(frozen=True)
class FoundAccount:
    """A line of the list.

    Attributes:
        standing: ``active``, ``blocked`` or ``erased``.
        operator: Whether its owner runs the service.
    """

    id: uuid.UUID
    email: str
    plan: str
    created_at: datetime
    standing: str
    operator: bool


def search_accounts(session: Session, *, text: str, limit: int, after: str | None = None) -> list[FoundAccount]:
    """Accounts in the order of their addresses.

    Args:
        session: A transaction.
        text: An account's id, or how its address begins, in whatever spelling; nothing asks for all.
        limit: How many at most.
        after: Address of the last account of the page before.
    """
    if "\0" in text or "\0" in (after or ""):
        return []  # PostgreSQL does not take a null character even in a question
    query = select(Account, Login.operator).outerjoin(Login, Login.account_id == Account.id)
    identifier, prefix = _identifier(text), text.strip().lower()
    if identifier is not None:
        query = query.where(Account.id == identifier)
    elif prefix:
        query = query.where(Account.email.startswith(prefix, autoescape=True))
    if after is not None:
        query = query.where(Account.email > after)
    # In this order the unique index on addresses is walked, and left as soon as the page is full.
    rows = session.execute(query.order_by(Account.email).limit(limit))
    return [
        FoundAccount(
            account.id, account.email, account.plan, account.created_at, standing_of(account), operator is True
        )
        for account, operator in rows
    ]


def standing_of(account: Account) -> str:
    """``active``, ``blocked`` or ``erased``."""
    if account.erased_at is not None:
        return "erased"
    return "active" if account.blocked_at is None else "blocked"


def _identifier(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text.strip())
    except ValueError:
        return None
