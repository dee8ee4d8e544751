"""Browsers that are signed in. A cookie holds a random token, of which only a digest is kept.

A session ends by itself when nothing was looked at for a while, and after a longest time in any case. It never changes
hands: signing in, or changing the password, makes a new token.
"""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.orm import Session

from domain.tables import Account, Login, LoginSession, rows_changed

LONGEST_ADDRESS, LONGEST_AGENT = 45, 200
"""Characters that are kept of where a browser is, and of what it calls itself."""

MOST_SESSIONS = 100
"""Of one account at a time: somebody who knows a password can sign in as often as a machine is fast."""

LONGEST_IDLE, LONGEST_SESSION = timedelta(days=14), timedelta(days=90)
"""The most that the settings of the dashboard take."""


@dataclass(frozen=True)
class SignedIn:
    """A session that is in use, and whose it is.

    Attributes:
        verified: Whether mail to the owner's address has been shown to arrive.
        blocked_reason: Why the account is blocked; ``None`` where it is not.
        seen_at: When it was last used, to the minute.
    """

    session_id: uuid.UUID
    account_id: uuid.UUID
    email: str
    verified: bool
    operator: bool
    blocked_reason: str | None
    seen_at: datetime


def digest_of(token: str) -> str:
    """64 hexadecimal digits. Tokens are 256 random bits, so a plain digest can be neither guessed nor reversed."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> str:
    """256 random bits in 43 characters that may stand in a cookie and in an address."""
    return secrets.token_urlsafe(32)


def open_session(session: Session, *, account_id: uuid.UUID, address: str, user_agent: str, now: datetime) -> str:
    """Sign a browser in; returns the token for its cookie, which exists nowhere else.

    Beyond `MOST_SESSIONS` the one that was not used for longest ends.
    """
    token, new_id = new_token(), uuid.uuid4()
    session.add(
        LoginSession(
            id=new_id,
            account_id=account_id,
            digest=digest_of(token),
            created_at=now,
            seen_at=now,
            address=address[:LONGEST_ADDRESS],
            user_agent=user_agent[:LONGEST_AGENT],
        )
    )
    session.flush()
    others = (LoginSession.account_id == account_id, LoginSession.id != new_id)
    newest = select(LoginSession.id).where(*others).order_by(LoginSession.seen_at.desc(), LoginSession.id)
    _end(session, *others, LoginSession.id.not_in(newest.limit(MOST_SESSIONS - 1)))
    return token


def find_session(
    session: Session, *, token: str, now: datetime, idle: timedelta, longest: timedelta
) -> SignedIn | None:
    """Whose session this is; ``None`` if it is unknown or over."""
    row = session.execute(
        select(
            LoginSession.id.label("session_id"),
            LoginSession.account_id,
            LoginSession.seen_at,
            Account.email,
            Account.blocked_at,
            Account.blocked_reason,
            Login.verified_at,
            Login.operator,
        )
        .join(Account, Account.id == LoginSession.account_id)
        .join(Login, Login.account_id == LoginSession.account_id)
        .where(LoginSession.digest == digest_of(token), *_in_use(now, idle, longest), Account.erased_at.is_(None))
    ).one_or_none()
    if row is None:
        return None
    return SignedIn(
        session_id=row.session_id,
        account_id=row.account_id,
        email=row.email,
        verified=row.verified_at is not None,
        operator=row.operator,
        blocked_reason=None if row.blocked_at is None else row.blocked_reason or "",
        seen_at=row.seen_at,
    )


def note_seen(session: Session, *, session_id: uuid.UUID, address: str, now: datetime) -> None:
    """Remember that the session was used, and from where."""
    seen = {"seen_at": now, "address": address[:LONGEST_ADDRESS]}
    rows_changed(session, update(LoginSession).where(LoginSession.id == session_id).values(seen))


def list_sessions(
    session: Session, *, account_id: uuid.UUID, now: datetime, idle: timedelta, longest: timedelta
) -> Sequence[LoginSession]:
    """The account's sessions that are in use, the last used first."""
    return session.scalars(
        select(LoginSession)
        .where(LoginSession.account_id == account_id, *_in_use(now, idle, longest))
        .order_by(LoginSession.seen_at.desc(), LoginSession.id)
    ).all()


def addresses_of_email(session: Session, *, email: str) -> Sequence[str]:
    """IP addresses that the owner of an address of mail has been signed in from of late."""
    found = select(LoginSession.address).join(Account, Account.id == LoginSession.account_id)
    return session.scalars(found.where(Account.email == email).distinct()).all()


def end_session(session: Session, *, account_id: uuid.UUID, session_id: uuid.UUID) -> bool:
    """Sign one browser of the account out; says whether it was signed in."""
    return _end(session, LoginSession.account_id == account_id, LoginSession.id == session_id) == 1


def end_session_of(session: Session, *, token: str) -> None:
    """Sign out the browser that holds this token, if it is signed in."""
    _end(session, LoginSession.digest == digest_of(token))


def end_sessions(session: Session, *, account_id: uuid.UUID, but: uuid.UUID | None = None) -> int:
    """Sign out every browser of the account, or all others than the session ``but``; returns how many there were."""
    others = () if but is None else (LoginSession.id != but,)
    return _end(session, LoginSession.account_id == account_id, *others)


def renew_session(session: Session, *, session_id: uuid.UUID) -> str | None:
    """Give a session another token, whatever becomes of the old one; ``None`` if it has ended meanwhile."""
    token = new_token()
    renewed = update(LoginSession).where(LoginSession.id == session_id).values(digest=digest_of(token))
    return token if rows_changed(session, renewed) else None


def delete_over(session: Session, *, now: datetime) -> int:
    """Forget sessions that are over whatever the settings are; returns how many there were."""
    idle = LoginSession.seen_at <= now - LONGEST_IDLE
    return _end(session, or_(idle, LoginSession.created_at <= now - LONGEST_SESSION))


def _in_use(now: datetime, idle: timedelta, longest: timedelta) -> tuple[ColumnElement[bool], ...]:
    return LoginSession.seen_at > now - idle, LoginSession.created_at > now - longest


def _end(session: Session, *which: ColumnElement[bool]) -> int:
    return rows_changed(session, delete(LoginSession).where(*which))
