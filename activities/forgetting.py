"""What the purge forgets of people who sign in: sessions that are over, links, counts of failures, mail."""

from __future__ import annotations

from datetime import datetime

from domain import unverified
from domain.entrance import email_tokens, sessions, throttles
from domain.mail import mails
from runtime.database import Database


async def forget_sign_ins(database: Database, *, now: datetime, limit: int) -> int:
    """Delete what is past its time, and at most ``limit`` accounts that nobody confirmed; returns how many rows."""
    async with database.transaction() as session:
        forgotten = await sessions.delete_over(session, now=now)
        forgotten += await email_tokens.delete_expired(session, now=now)
        forgotten += await session.run_sync(lambda sync_session: throttles.forget_old(sync_session, now=now))
        forgotten += await mails.delete_old(session, now=now)
        forgotten += await unverified.delete_unverified(session, now=now, limit=limit)
    return forgotten
