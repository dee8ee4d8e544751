"""Mail to owners: its letters, written in the transaction that they tell about, sent afterwards, never lost in between.

Where a server is set, `workflows.accounts` sends it; where none is, it stays here for the operator to read. Either way
it is deleted after a week.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from domain.tables import Mail, rows_changed

PAGES = "/dashboard"


@dataclass(frozen=True)
class Letter:
    """A message before it has somebody to go to."""

    subject: str
    body: str


@dataclass(frozen=True)
class Letterhead:
    """Who writes: what the service calls itself, and where browsers find it, without a slash at the end."""

    name: str
    base_url: str

    def link(self, page: str, **query: str) -> str:
        """Address of a page of the dashboard."""
        return f"{self.base_url}{PAGES}/{page}{'?' + urlencode(query) if query else ''}"

    def letter(self, subject: str, *paragraphs: str) -> Letter:
        """A letter of these paragraphs."""
        return Letter(subject, "\n\n".join([*paragraphs, f"{self.name}\n{self.base_url}"]) + "\n")


def verify_letter(head: Letterhead, *, token: str, trial: str) -> Letter:
    """To a person who has signed up. ``trial`` says in a sentence what comes free; it may be empty."""
    return head.letter(
        f"Confirm your address for {head.name}",
        f"You (or someone using this address) signed up for {head.name}. Confirm the address within 48 hours:",
        head.link("verify", token=token),
        *([trial] if trial else []),
        "If you did not sign up, ignore this message: the link is useless without the password chosen at sign-up, and "
        "we delete the address after a week.",
    )


def have_account_letter(head: Letterhead) -> Letter:
    """To a person who has signed up again, or asked for somebody else's account to be moved here."""
    return head.letter(
        f"You have an account with {head.name}",
        f"You (or someone using this address) tried to open an account with {head.name}, but there already is one. "
        "Sign in here:",
        head.link("log-in"),
        "If you have no password or forgot it, choose a new one here:",
        head.link("forgot"),
        "If it was not you, ignore this message. Nothing has changed.",
    )


def reset_letter(head: Letterhead, *, token: str) -> Letter:
    """To a person who does not know the password."""
    return head.letter(
        f"Choose a new password for {head.name}",
        "Choose a new password here within an hour. This signs out every browser.",
        head.link("reset", token=token),
        "If you did not ask for this, ignore this message. Your password stays as it is.",
    )


def password_changed_letter(head: Letterhead) -> Letter:
    """To the owner, after the password was changed."""
    return head.letter(
        f"Your password for {head.name} was changed",
        "The password of your account was just changed, and all other browsers were signed out.",
        "If it was not you, choose a new password now:",
        head.link("forgot"),
    )


def confirm_address_letter(head: Letterhead, *, token: str) -> Letter:
    """To the new address of an account."""
    return head.letter(
        f"Confirm your new address for {head.name}",
        f"The owner of an account with {head.name} wants to use this address for it. Confirm it here within 24 hours:",
        head.link("change-address", token=token),
        "If this is not your account, ignore this message.",
    )


def address_change_asked_letter(head: Letterhead, *, new_email: str) -> Letter:
    """To the present address, before anything is changed."""
    return head.letter(
        f"Your address for {head.name} is about to change",
        f"Somebody who is signed in to your account wants to change its address to {new_email}. It changes once that "
        "address is confirmed.",
        "If it was not you, choose a new password now. That stops the change and signs out every browser:",
        head.link("forgot"),
    )


def address_changed_letter(head: Letterhead, *, new_email: str) -> Letter:
    """To the address that an account had until now."""
    return head.letter(
        f"Your address for {head.name} was changed",
        f"The address of your account is now {new_email}. Mail about it goes there.",
        f"If it was not you, contact the operator of {head.name}.",
    )


def webhook_switched_off_letter(head: Letterhead, *, url: str, endpoint_id: uuid.UUID, gone: bool, days: int) -> Letter:
    """To the owner of an endpoint that is told of nothing more. ``url`` is shown, so it has no query."""
    why = (
        "It answered 410 (Gone), which says that it wants no more events."
        if gone
        else f"Every event that we sent to it in the last {days} days failed, each after a day of attempts."
    )
    return head.letter(
        f"A webhook endpoint of {head.name} was switched off",
        f"We do not send events to this address of yours any more:\n{url}",
        why,
        "See what it answered, and switch it on again, here:",
        head.link(f"webhooks/{endpoint_id}"),
    )


KEPT = timedelta(days=7)  # how long a message is kept, sent or not

WRITTEN = "written_mail"
"""Key of a session's ``info``: the messages it has written, for the code that commits it."""


def write_mail(session: Session, letter: Letter, *, to: str, account_id: uuid.UUID | None, now: datetime) -> Mail:
    """Add a message; the code that commits the transaction hands it over to be sent."""
    mail = Mail(
        id=uuid.uuid4(), account_id=account_id, to_address=to, subject=letter.subject, body=letter.body, created_at=now
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
    return session.scalars(select(Mail).order_by(Mail.created_at.desc(), Mail.id.desc()).limit(limit)).all()


def list_waiting(session: Session, *, written_before: datetime, limit: int) -> Sequence[uuid.UUID]:
    """Messages that should have been sent by now, the oldest first."""
    waiting = (Mail.sent_at.is_(None), Mail.refused_at.is_(None), Mail.created_at <= written_before)
    oldest_first = select(Mail.id).where(*waiting).order_by(Mail.created_at, Mail.id)
    return session.scalars(oldest_first.limit(limit)).all()


def count_refused(session: Session) -> int:
    """How many of the messages that are kept no server will ever take."""
    return session.scalar(select(func.count()).where(Mail.refused_at.is_not(None))) or 0


def begin_sending(session: Session, *, mail_id: uuid.UUID, now: datetime) -> bool:
    """Say whether the message still waits; to be committed before it is sent.

    A database that takes no writes, with a full disk, say, fails at this: what is sent could not be noted, and would be
    sent again and again. So the row is changed and changed back; an update that changes nothing writes nothing in
    SQLite.
    """
    this = update(Mail).where(Mail.id == mail_id)
    waiting = this.where(Mail.sent_at.is_(None), Mail.refused_at.is_(None))
    if not rows_changed(session, waiting.values(sent_at=now)):
        return False
    rows_changed(session, this.values(sent_at=None))
    return True


def mark_sent(session: Session, *, mail_id: uuid.UUID, now: datetime) -> None:
    """Note that a server has taken the message; its text, which holds links, goes."""
    rows_changed(session, update(Mail).where(Mail.id == mail_id).values(body="", sent_at=now))


def mark_refused(session: Session, *, mail_id: uuid.UUID, now: datetime) -> None:
    """Note that no server will ever take the message; its text goes."""
    rows_changed(session, update(Mail).where(Mail.id == mail_id).values(body="", refused_at=now))


def delete_old(session: Session, *, now: datetime) -> int:
    """Delete what was kept long enough; returns how many there were."""
    return rows_changed(session, delete(Mail).where(Mail.created_at <= now - KEPT))
