"""How much of its volume an account has used: what ``GET /api/v1/usage`` and the dashboard show."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from domain.money.plans import Period, PlanBook, terms_of
from domain.money.quota import TOPUP, period_of, reserved_by, spendable, used_today
from domain.tables import Account


@dataclass(frozen=True)
class Usage:
    """An account's standing at one moment; every count is in generations.

    Attributes:
        plan: Its name.
        period: The current one; a trial that is over shows its only one.
        included: What the plan gives for the period.
        used: Completed jobs that were taken from it.
        reserved: Jobs in progress, whatever they are taken from.
        topup_remaining: Left in top-up packs.
        daily_cap: What may be started today (UTC).
        daily_used: What was started today and did not fail.
        trial_ends_at: Only for a trial.
    """

    plan: str
    period: Period
    included: int
    used: int
    reserved: int
    topup_remaining: int
    daily_cap: int
    daily_used: int
    trial_ends_at: datetime | None


def usage_of(session: Session, plans: PlanBook, *, account_id: uuid.UUID, now: datetime) -> Usage:
    """Read the account's standing; nothing is changed by looking."""
    account = session.get_one(Account, account_id)
    terms = terms_of(account, plans)
    period = period_of(account, terms, now)
    # A trial that is over still shows what was used of it.
    at = min(now, period.start) if period.end <= now else now
    allowances = spendable(session, account_id=account_id, now=at)
    packs = [each for each in allowances if each.source == TOPUP]
    volume = [each for each in allowances if each.source != TOPUP]
    return Usage(
        plan=account.plan,
        period=period,
        included=terms.included,
        used=sum(each.settled for each in volume),
        reserved=reserved_by(session, account_id=account_id),
        topup_remaining=sum(each.left for each in packs),
        daily_cap=terms.daily_cap,
        daily_used=used_today(session, account_id=account_id, now=now),
        trial_ends_at=period.end if terms.trial_days is not None else None,
    )
