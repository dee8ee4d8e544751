"""Who runs the service: owners of accounts who see the admin pages as well."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
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
    no password yet chooses one with "Forgot your password".

    Args:
        session: A transaction.
        account_id: Whose.
        operator: What it becomes.
        now: When.
        by: Account of the operator who decided; ``None`` for the command line.

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
    rows = session.execute(
        select(Account, Login)
        .join(Login, Login.account_id == Account.id)
        .where(Login.operator.is_(True))
        .order_by(Account.email)
    )
    return [(account, login) for account, login in rows]
