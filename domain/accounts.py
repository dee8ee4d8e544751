"""Accounts: who they are, what plan they have, and whether they may call."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from domain.plans import PlanBook, cents_of, terms_of
from domain.quota import end_period, lock_account
from domain.tables import Account

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


@dataclass(frozen=True)
class OwnTerms:
    """What was agreed with one account alone; ``None`` leaves the plan's value. Prices are US dollars."""

    included: int | None = None
    daily_cap: int | None = None
    monthly_price: Decimal | None = None
    extra_price: Decimal | None = None


PLAN_AS_IT_IS = OwnTerms()


def normalise_email(email: str) -> str:
    """Lower case and without surrounding space.

    Raises:
        ValueError: It is not an e-mail address.
    """
    email = email.strip().lower()
    if not _EMAIL.fullmatch(email) or len(email) > 320:
        raise ValueError(f"{email!r} is not an e-mail address")
    return email


async def create_account(
    session: AsyncSession,
    plans: PlanBook,
    *,
    email: str,
    plan: str,
    now: datetime,
    own_terms: OwnTerms = PLAN_AS_IT_IS,
) -> Account:
    """Add an account, whose first period or trial begins now.

    Raises:
        ValueError: The address is not one or is taken, there is no such plan, or it needs terms of the account's own.
    """
    email = normalise_email(email)
    if await find_account_by_email(session, email=email):
        raise ValueError(f"there is an account for {email} already")
    account = Account(id=uuid.uuid4(), email=email, created_at=now)
    _put_on(account, plans, plan, own_terms, now)
    session.add(account)
    await session.flush()
    return account


async def change_plan(
    session: AsyncSession,
    plans: PlanBook,
    *,
    account_id: uuid.UUID,
    plan: str,
    now: datetime,
    own_terms: OwnTerms = PLAN_AS_IT_IS,
) -> Account:
    """Put the account on a plan. Its period ends and a new one begins, with the whole volume; packs stay.

    Raises:
        ValueError: As in `create_account`, and for going back to a trial.
    """
    if plans.get(plan).trial_days is not None:
        raise ValueError("a trial is for new accounts only")
    account = await lock_account(session, account_id=account_id)
    _put_on(account, plans, plan, own_terms, now)
    await end_period(session, account_id=account_id, now=now)
    return account


def _put_on(account: Account, plans: PlanBook, plan: str, own: OwnTerms, now: datetime) -> None:
    account.plan, account.plan_started_at = plan, now
    account.custom_included, account.custom_daily_cap = own.included, own.daily_cap
    account.custom_monthly_cents, account.custom_extra_cents = cents_of(own.monthly_price), cents_of(own.extra_price)
    terms = terms_of(account, plans)
    if min(terms.included, terms.daily_cap, terms.monthly_cents, terms.extra_cents or 0) < 0:
        raise ValueError("volumes, caps and prices cannot be negative")


async def find_account(session: AsyncSession, *, account_id: uuid.UUID) -> Account | None:
    """The account with this id."""
    return await session.get(Account, account_id)


async def find_account_by_email(session: AsyncSession, *, email: str) -> Account | None:
    """The account of this address, in whatever spelling."""
    return await session.scalar(select(Account).where(Account.email == normalise_email(email)))


async def find_account_named(session: AsyncSession, *, name: str) -> Account | None:
    """The account of this id or e-mail address, whichever the text is."""
    try:
        return await find_account(session, account_id=uuid.UUID(name))
    except ValueError:
        return await find_account_by_email(session, email=name)


async def block_account(session: AsyncSession, *, account_id: uuid.UUID, reason: str, now: datetime) -> None:
    """Refuse every call of this account from now on; a job that is being accepted at this moment comes before."""
    account = await lock_account(session, account_id=account_id)
    if account.blocked_at is None:
        account.blocked_at, account.blocked_reason = now, reason


async def unblock_account(session: AsyncSession, *, account_id: uuid.UUID) -> None:
    """Let the account call again, with the keys it had."""
    account = await lock_account(session, account_id=account_id)
    account.blocked_at = account.blocked_reason = None
