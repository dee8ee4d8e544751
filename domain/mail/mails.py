"""Mail: written in the transaction that it tells about, sent afterwards, and never lost in between.

Where a server is set, `workflows.mail` sends it; where none is, it stays here for the operator to read. Either way it
is deleted after a week.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from domain.mail.letters import Letter
from domain.tables import Mail

KEPT = timedelta(days=7)
"""How long a message is kept, sent or not."""

WRITTEN = "written_mail"
"""Where in a session's ``info`` lies what it has written, for whoever commits it."""


async def write_mail(
    session: AsyncSession, letter: Letter, *, to: str, account_id: uuid.UUID | None, now: datetime
) -> Mail:
    """Add a message; whoever commits the transaction hands it over to be sent."""
    mail = Mail(
        id=uuid.uuid4(),
        account_id=account_id,
        to_address=to,
        subject=letter.subject,
        body=letter.body,
        created_at=now,
        sent_at=None,
        refused_at=None,
    )
    session.add(mail)
    await session.flush()
    session.info.setdefault(WRITTEN, []).append(mail)
    return mail


def written_in(session: AsyncSession) -> list[Mail]:
    """The messages that this session has written."""
    return list(session.info.get(WRITTEN, ()))


async def find_mail(session: AsyncSession, *, mail_id: uuid.UUID) -> Mail | None:
    """The message with this id, if it is still there."""
    return await session.get(Mail, mail_id)


async def list_mail(session: AsyncSession, *, limit: int = 50) -> Sequence[Mail]:
    """The newest messages, sent or not."""
    return (await session.scalars(select(Mail).order_by(Mail.created_at.desc(), Mail.id.desc()).limit(limit))).all()


async def list_waiting(session: AsyncSession, *, written_before: datetime, limit: int) -> Sequence[uuid.UUID]:
    """Messages that should have been sent by now, the oldest first."""
    waiting = (Mail.sent_at.is_(None), Mail.refused_at.is_(None), Mail.created_at <= written_before)
    oldest_first = select(Mail.id).where(*waiting).order_by(Mail.created_at, Mail.id)
    return (await session.scalars(oldest_first.limit(limit))).all()


async def count_refused(session: AsyncSession) -> int:
    """How many of the messages that are kept no server will ever take."""
    return await session.scalar(select(func.count()).where(Mail.refused_at.is_not(None))) or 0


async def mark_sent(session: AsyncSession, *, mail_id: uuid.UUID, now: datetime) -> None:
    """Note that a server has taken the message; its text, which holds links, goes."""
    await _close(session, mail_id, sent_at=now)


async def mark_refused(session: AsyncSession, *, mail_id: uuid.UUID, now: datetime) -> None:
    """Note that no server will ever take the message; its text goes."""
    await _close(session, mail_id, refused_at=now)


async def delete_old(session: AsyncSession, *, now: datetime) -> int:
    """Delete what was kept long enough; returns how many there were."""
    old = await session.scalars(
        delete(Mail)
        .where(Mail.created_at <= now - KEPT)
        .returning(Mail.id)
        .execution_options(synchronize_session=False)
    )
    return len(old.all())


async def _close(session: AsyncSession, mail_id: uuid.UUID, **values: datetime) -> None:
    await session.execute(
        update(Mail).where(Mail.id == mail_id).values(body="", **values).execution_options(synchronize_session=False)
    )
