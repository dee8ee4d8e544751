"""What a run costs and what is left, said before it is started."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from domain import accounts
from domain.errors import TryOnError
from domain.money import quota
from domain.money.plans import PlanBook
from domain.money.usage import usage_of


@dataclass(frozen=True)
class Standing:
    """An account's means, in generations.

    Attributes:
        left: Of the period or the trial.
        packs: Left in top-up packs.
        today: Started today (UTC) and not failed.
        daily_cap: How many of those there may be.
        trial: Whether the account is on one.
        refusal: Why nothing can be started now; None where something can.
    """

    left: int
    packs: int
    today: int
    daily_cap: int
    trial: bool
    refusal: str | None

    @property
    def sentence(self) -> str:
        """For people."""
        period = "your trial" if self.trial else "this period"
        today = f"Used today: {self.today:,} of {self.daily_cap:,}."
        return f"{self.left:,} left in {period}, {self.packs:,} in packs. {today}"


def standing_of(session: Session, plans: PlanBook, *, account_id: uuid.UUID, now: datetime) -> Standing:
    """Look, without changing anything."""
    usage = usage_of(session, plans, account_id=account_id, now=now)
    try:
        quota.check(session, plans, account_id=account_id, now=now)
    except TryOnError as error:
        refusal: str | None = error.entry.remedy or error.sentence
    else:
        refusal = None
    account = accounts.find_account(session, account_id=account_id)
    left = quota.generations_left(session, plans, account=account, now=now) if account else 0
    return Standing(
        left=max(0, left - usage.topup_remaining),
        packs=usage.topup_remaining,
        today=usage.daily_used,
        daily_cap=usage.daily_cap,
        trial=usage.trial_ends_at is not None,
        refusal=refusal,
    )
