"""Accounts: who they are, and whether they may call."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from domain.tables import Account

PLANS = ("trial", "starter", "growth", "scale", "enterprise")

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def normalise_email(email: str) -> str:
    """Lower case and without surrounding space.

    Raises:
        ValueError: It is not an e-mail address.
    """
    email = email.strip().lower()
    if not _EMAIL.fullmatch(email) or len(email) > 320:
        raise ValueError(f"{email!r} is not an e-mail address")
    return email


async def create_account(session: AsyncSession, *, email: str, plan: str) -> Account:
    """Add an account.

    Raises:
        ValueError: The address is not one or is taken, or there is no such plan.
    """
    email = normalise_email(email)
    if plan not in PLANS:
        raise ValueError(f"there is no plan {plan!r}; plans are {', '.join(PLANS)}")
    if await find_account_by_email(session, email=email):
        raise ValueError(f"there is an account for {email} already")
    account = Account(id=uuid.uuid4(), email=email, plan=plan, created_at=datetime.now(UTC), blocked_at=None)
    session.add(account)
    await session.flush()
    return account


async def find_account(session: AsyncSession, *, account_id: uuid.UUID) -> Account | None:
    """The account with this id."""
    return await session.get(Account, account_id)


async def find_account_by_email(session: AsyncSession, *, email: str) -> Account | None:
    """The account of this address, in whatever spelling."""
    return await session.scalar(select(Account).where(Account.email == normalise_email(email)))


async def block_account(session: AsyncSession, *, account_id: uuid.UUID) -> None:
    """Refuse every call of this account from now on."""
    account = await session.get_one(Account, account_id)
    account.blocked_at = account.blocked_at or datetime.now(UTC)
