"""Who runs the service, owners of accounts who see the admin pages as well; and how they find accounts."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from domain.authentication import sessions
from domain.money.quota import lock_account
from domain.operation.audit import Act, add_entry
from domain.tables import Account, Login


def set_operator(
    session: Session, *, account_id: uuid.UUID, operator: bool, now: datetime, by: uuid.UUID | None = None
) -> bool:
    """Make the owner of an account an operator, or no longer one; says whether anything changed.

    The owner is signed out everywhere: a session never gains or keeps rights that it was not opened with. Whoever has
    no password yet chooses one with "Forgot your password". ``by`` is the account of the operator who decided, ``None``
    stands for the command line.

    Raises:
        ValueError: The account was erased.
    """
    account = lock_account(session, account_id=account_id)
    if account.erased_at is not None:
        raise ValueError("the account was erased")
    login = session.get(Login, account_id)
    if (login is not None and login.operator) == operator:
        return False
    if login is None:
        login = Login(account_id=account_id, password_hash=None, verified_at=None, operator=operator, created_at=now)
        session.add(login)
    login.operator = operator
    sessions.end_sessions(session, account_id=account_id)
    action = Act.OPERATOR_ADDED if operator else Act.OPERATOR_REMOVED
    add_entry(session, action=action, operator_id=by, account_id=account_id, details={}, now=now)
    return True


def login_of(session: Session, *, account_id: uuid.UUID) -> Login | None:
    """The login of an account; none for one that was made on the command line and never signed in."""
    return session.get(Login, account_id)


def list_operators(session: Session) -> Sequence[tuple[Account, Login]]:
    """Every operator, by address."""
    found = select(Account, Login).join(Login, Login.account_id == Account.id).where(Login.operator.is_(True))
    return [(account, login) for account, login in session.execute(found.order_by(Account.email))]


@dataclass(frozen=True)
class FoundAccount:
    """A line of the list; ``standing`` as of `standing_of`."""

    id: uuid.UUID
    email: str
    plan: str
    created_at: datetime
    standing: str
    operator: bool


def search_accounts(session: Session, *, text: str, limit: int, after: str | None = None) -> list[FoundAccount]:
    """Accounts in the order of their addresses, from the one after the address ``after``.

    ``text`` is an account's id, or how its address begins, in whatever spelling; nothing asks for all.
    """
    if "\0" in text or "\0" in (after or ""):
        return []  # PostgreSQL does not take a null character even in a question
    query = select(Account, Login.operator).outerjoin(Login, Login.account_id == Account.id)
    try:
        query = query.where(Account.id == uuid.UUID(text.strip()))
    except ValueError:
        if prefix := text.strip().lower():
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
