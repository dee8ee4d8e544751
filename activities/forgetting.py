"""What the purge forgets of people who sign in: sessions that are over, links, counts of failures, mail."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from domain import unverified
from domain.authentication import email_tokens, sessions, throttles
from domain.mail import mails


def forget_sign_ins(session: Session, *, now: datetime, limit: int) -> int:
    """Delete what is past its time, and at most ``limit`` accounts that nobody confirmed; returns how many rows."""
    return (
        sessions.delete_over(session, now=now)
        + email_tokens.delete_expired(session, now=now)
        + throttles.forget_old(session, now=now)
        + mails.delete_old(session, now=now)
        + unverified.delete_unverified(session, now=now, limit=limit)
    )
