"""Accounts: who they are, what plan they have, and whether they may call."""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeGuard

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from domain.money.plans import PlanBook, RequestRate, cents_of, terms_of
from domain.money.quota import end_period, lock_account
from domain.tables import Account

SHORTEST_RESULT_TTL = 60
"""Seconds; a client that polls every few seconds, and one that fails once, still get their picture."""

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


@dataclass(frozen=True)
class OwnTerms:
    """What was agreed with one account alone; ``None`` leaves the plan's value. Prices are US dollars."""

    included: int | None = None
    daily_cap: int | None = None
    monthly_price: Decimal | None = None
    extra_price: Decimal | None = None
    request_rate: RequestRate | None = None


PLAN_AS_IT_IS = OwnTerms()


class AddressTakenError(ValueError):
    """There is an account with this address, or there has just come to be one."""


def normalise_email(email: str) -> str:
    """Lower case and without surrounding space.

    Raises:
        ValueError: It is not an e-mail address.
    """
    email = email.strip().lower()
    if not _EMAIL.fullmatch(email) or len(email) > 320:
        raise ValueError(f"{email!r} is not an e-mail address")
    return email


def create_account(
    session: Session,
    plans: PlanBook,
    *,
    email: str,
    plan: str,
    now: datetime,
    own_terms: OwnTerms = PLAN_AS_IT_IS,
) -> Account:
    """Add an account, whose first period or trial begins now.

    Raises:
        AddressTakenError: The transaction is over then; another one finds that account.
        ValueError: The address is not one, there is no such plan, or it needs terms of the account's own.
    """
    email = normalise_email(email)
    taken = AddressTakenError(f"there is an account for {email} already")
    if find_account_by_email(session, email=email):
        raise taken
    account = Account(id=uuid.uuid4(), email=email, created_at=now)
    _put_on(account, plans, plan, own_terms, now)
    session.add(account)
    try:
        session.flush()
    except IntegrityError as error:  # somebody else was first by a moment
        raise taken from error
    return account


def change_plan(
    session: Session,
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
    account = lock_account(session, account_id=account_id)
    _put_on(account, plans, plan, own_terms, now)
    end_period(session, account_id=account_id, now=now)
    return account


def _put_on(account: Account, plans: PlanBook, plan: str, own: OwnTerms, now: datetime) -> None:
    account.plan, account.plan_started_at = plan, now
    account.custom_included, account.custom_daily_cap = own.included, own.daily_cap
    account.custom_monthly_cents, account.custom_extra_cents = cents_of(own.monthly_price), cents_of(own.extra_price)
    rate = own.request_rate
    account.custom_requests, account.custom_window_seconds = (
        (rate.requests, rate.window_seconds) if rate else (None,) * 2
    )
    terms = terms_of(account, plans)
    if min(terms.included, terms.daily_cap, terms.monthly_cents, terms.extra_cents or 0) < 0:
        raise ValueError("volumes, caps and prices cannot be negative")


def set_result_ttl(session: Session, *, account_id: uuid.UUID, seconds: int | None, longest_seconds: int) -> None:
    """Have results of jobs that end from now on kept for so long; with ``None`` as long as the service keeps them.

    Raises:
        ValueError: It is less than `SHORTEST_RESULT_TTL`, or more than the service's setting allows.
    """
    shortest = min(SHORTEST_RESULT_TTL, longest_seconds)
    if seconds is not None and not shortest <= seconds <= longest_seconds:
        raise ValueError(f"results are kept for {shortest} to {longest_seconds} seconds")
    lock_account(session, account_id=account_id).result_ttl_seconds = seconds


def find_account(session: Session, *, account_id: uuid.UUID) -> Account | None:
    """The account with this id."""
    return session.get(Account, account_id)


def is_there(account: Account | None) -> TypeGuard[Account]:
    """Whether it was found and not erased; whether it may call is another question."""
    return account is not None and account.erased_at is None


def addresses_of(session: Session, *, account_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Addresses of those of the accounts that there are."""
    rows = session.execute(select(Account.id, Account.email).where(Account.id.in_(account_ids)))
    return {row.id: row.email for row in rows}


def get_account(session: Session, *, account_id: uuid.UUID) -> Account:
    """An account that is known to be there."""
    return session.get_one(Account, account_id)


def find_account_by_email(session: Session, *, email: str) -> Account | None:
    """The account of this address, in whatever spelling."""
    return session.scalar(select(Account).where(Account.email == normalise_email(email)))


def find_account_named(session: Session, *, name: str) -> Account | None:
    """The account of this id or e-mail address, whichever the text is."""
    try:
        return find_account(session, account_id=uuid.UUID(name))
    except ValueError:
        return find_account_by_email(session, email=name)


def block_account(session: Session, *, account_id: uuid.UUID, reason: str, now: datetime) -> bool:
    """Refuse every call from now on, after a job that is being accepted just now; whether this call blocked it."""
    account = lock_account(session, account_id=account_id)
    if account.blocked_at is not None:
        return False
    account.blocked_at, account.blocked_reason = now, reason
    return True


def unblock_account(session: Session, *, account_id: uuid.UUID) -> bool:
    """Let the account call again, with the keys it had; says whether it was blocked.

    Raises:
        ValueError: It was erased.
    """
    account = lock_account(session, account_id=account_id)
    if account.erased_at is not None:
        raise ValueError("the account was erased")
    was_blocked = account.blocked_at is not None
    account.blocked_at = account.blocked_reason = None
    return was_blocked
