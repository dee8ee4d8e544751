"""Mail: written in the transaction that it tells about, sent afterwards, and never lost in between.

Where a server is set, `workflows.mail` sends it; where none is, it stays here for the operator to read. Either way it
is deleted after a week.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from domain.mail.letters import Letter
from domain.tables import Mail

KEPT = timedelta(days=7)
"""How long a message is kept, sent or not."""

WRITTEN = "written_mail"
"""Where in a session's ``info`` lies what it has written, for whoever commits it."""


def write_mail(session: Session, letter: Letter, *, to: str, account_id: uuid.UUID | None, now: datetime) -> Mail:
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
    session.flush()
    session.info.setdefault(WRITTEN, []).append(mail)
    return mail


def written_in(session: Session) -> list[Mail]:
    """The messages that this session has written."""
    return list(session.info.get(WRITTEN, ()))


def find_mail(session: Session, *, mail_id: uuid.UUID) -> Mail | None:
    """The message with this id, if it is still there."""
    return session.get(Mail, mail_id)


def list_mail(session: Session, *, limit: int = 50) -> Sequence[Mail]:
    """The newest messages, sent or not."""
    return (session.scalars(select(Mail).order_by(Mail.created_at.desc(), Mail.id.desc()).limit(limit))).all()


def list_waiting(session: Session, *, written_before: datetime, limit: int) -> Sequence[uuid.UUID]:
    """Messages that should have been sent by now, the oldest first."""
    waiting = (Mail.sent_at.is_(None), Mail.refused_at.is_(None), Mail.created_at <= written_before)
    oldest_first = select(Mail.id).where(*waiting).order_by(Mail.created_at, Mail.id)
    return (session.scalars(oldest_first.limit(limit))).all()


def count_refused(session: Session) -> int:
    """How many of the messages that are kept no server will ever take."""
    return session.scalar(select(func.count()).where(Mail.refused_at.is_not(None))) or 0


def mark_sent(session: Session, *, mail_id: uuid.UUID, now: datetime) -> None:
    """Note that a server has taken the message; its text, which holds links, goes."""
    _close(session, mail_id, sent_at=now)


def mark_refused(session: Session, *, mail_id: uuid.UUID, now: datetime) -> None:
    """Note that no server will ever take the message; its text goes."""
    _close(session, mail_id, refused_at=now)


def delete_old(session: Session, *, now: datetime) -> int:
    """Delete what was kept long enough; returns how many there were."""
    old = session.scalars(
        delete(Mail)
        .where(Mail.created_at <= now - KEPT)
        .returning(Mail.id)
        .execution_options(synchronize_session=False)
    )
    return len(old.all())


def _close(session: Session, mail_id: uuid.UUID, **values: datetime) -> None:
    session.execute(
        update(Mail).where(Mail.id == mail_id).values(body="", **values).execution_options(synchronize_session=False)
    )
