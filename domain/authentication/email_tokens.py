"""Links that are mailed: each works once and for a while, and only a digest of it is kept.

A new link of a kind makes the account's older ones of that kind useless.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from domain.authentication.sessions import digest_of, new_token
from domain.money.quota import lock_account
from domain.tables import EmailToken, rows_changed


class Purpose(StrEnum):
    """What a link is for."""

    VERIFY = "verify"
    RESET = "reset"
    CHANGE = "change"


LIFETIMES = {
    Purpose.VERIFY: timedelta(hours=48),
    Purpose.RESET: timedelta(minutes=60),
    Purpose.CHANGE: timedelta(hours=24),
}


def make_token(session: Session, *, purpose: Purpose, account_id: uuid.UUID, email: str, now: datetime) -> str:
    """A token for a link to be mailed to ``email``; it exists nowhere else."""
    drop_tokens(session, account_id=account_id, purpose=purpose)
    token = new_token()
    session.add(
        EmailToken(
            digest=digest_of(token),
            account_id=account_id,
            purpose=purpose.value,
            email=email,
            created_at=now,
            expires_at=now + LIFETIMES[purpose],
        )
    )
    session.flush()
    return token


def look_at(session: Session, *, purpose: Purpose, token: str, now: datetime) -> EmailToken | None:
    """What a link stands for, without using it up; ``None`` if it is unknown, used or too old."""
    digest = digest_of(token)
    held = (EmailToken.digest == digest, EmailToken.purpose == purpose.value, EmailToken.expires_at > now)
    return session.scalar(select(EmailToken).where(*held))


def use_up(session: Session, *, purpose: Purpose, token: str, now: datetime) -> tuple[uuid.UUID, str] | None:
    """The account and the address that a link stands for; from here on it is worth nothing to anybody.

    The account is held until the transaction ends, before the link: whoever makes its links useless does the same.
    """
    found = look_at(session, purpose=purpose, token=token, now=now)
    if found is None:
        return None
    lock_account(session, account_id=found.account_id)
    used = rows_changed(session, delete(EmailToken).where(EmailToken.digest == found.digest))
    return (found.account_id, found.email) if used else None


def drop_tokens(session: Session, *, account_id: uuid.UUID, purpose: Purpose | None = None) -> None:
    """Make the account's links useless: those of a kind, or all of them."""
    kind = () if purpose is None else (EmailToken.purpose == purpose.value,)
    rows_changed(session, delete(EmailToken).where(EmailToken.account_id == account_id, *kind))


def delete_expired(session: Session, *, now: datetime) -> int:
    """Forget links that are too old; returns how many there were."""
    return rows_changed(session, delete(EmailToken).where(EmailToken.expires_at <= now))
