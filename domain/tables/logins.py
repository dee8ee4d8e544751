"""How the owner of an account gets into the dashboard."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from domain.tables.base import Table


class Login(Table):
    """What an account's owner signs in with; the address itself is the account's."""

    __tablename__ = "login"

    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), primary_key=True)
    password_hash: Mapped[str | None] = mapped_column(String(200))
    """Argon2id, with its parameters; none until the owner has chosen a password."""
    verified_at: Mapped[datetime | None]
    """When the owner has shown that mail to the address arrives."""
    operator: Mapped[bool]
    """Whether the owner runs the service and sees the admin pages."""
    created_at: Mapped[datetime]


class LoginSession(Table):
    """A browser that is signed in, of whose cookie only a digest is kept."""

    __tablename__ = "login_session"

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), index=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[datetime]
    seen_at: Mapped[datetime] = mapped_column(index=True)
    address: Mapped[str] = mapped_column(String(45))
    """Where it was last seen."""
    user_agent: Mapped[str] = mapped_column(String(200))


class EmailToken(Table):
    """A link that was mailed, of which only a digest is kept. It goes when it is used."""

    __tablename__ = "email_token"
    __table_args__ = (CheckConstraint("purpose IN ('verify', 'reset', 'change')", name="purpose"),)

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("account.id"), index=True)
    purpose: Mapped[str] = mapped_column(String(16))
    email: Mapped[str] = mapped_column(String(320))
    """Where it was mailed to: for a change, the new address."""
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime] = mapped_column(index=True)


class LoginThrottle(Table):
    """How often something was tried in vain for one account or from one network."""

    __tablename__ = "login_throttle"

    subject: Mapped[str] = mapped_column(String(64), primary_key=True)
    """Digest of what is counted: an address of mail, or a network, and what was tried."""
    failures: Mapped[int]
    last_failed_at: Mapped[datetime] = mapped_column(index=True)


class TrialTaken(Table):
    """An address that had its trial. It stays when the account is erased, and tells nothing about the address."""

    __tablename__ = "trial_taken"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    taken_at: Mapped[datetime]


class Mail(Table):
    """A message to an owner, written in the transaction that it tells about."""

    __tablename__ = "mail"
    __table_args__ = (Index("ix_mail_created", "created_at"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("account.id"), index=True)
    to_address: Mapped[str] = mapped_column(String(320))
    subject: Mapped[str] = mapped_column(String(200))
    body: Mapped[str] = mapped_column(String(8000))
    """Plain text; emptied once a server has taken it, since it holds links that let people in."""
    created_at: Mapped[datetime]
    sent_at: Mapped[datetime | None]
    refused_at: Mapped[datetime | None]
    """When a server said that it will never take it."""
