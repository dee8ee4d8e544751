"""Plans: what an account gets for its money, and the periods that volumes and caps are counted in.

The numbers are data (``plans.toml``), the rules are here.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from dateutil.relativedelta import relativedelta
from pydantic import BaseModel, ConfigDict, Field

from domain.tables import Account


@dataclass(frozen=True)
class Period:
    """From ``start`` up to, and without, ``end``."""

    start: datetime
    end: datetime


def month_around(anchor: datetime, now: datetime) -> Period:
    """The monthly period that ``now`` lies in, counted from ``anchor``.

    Every period begins on the anchor's day of the month and at its time of day (UTC), or on the month's last day
    where it has no such day: an account of 31 January renews on 28 February and again on 31 March.

    A time before the anchor lies in the first period.
    """
    anchor, now = anchor.astimezone(UTC), now.astimezone(UTC)
    months = max(0, 12 * (now.year - anchor.year) + now.month - anchor.month)
    # Counted from the anchor each time: a clamped day must not stay clamped.
    if months and anchor + relativedelta(months=months) > now:
        months -= 1
    return Period(anchor + relativedelta(months=months), anchor + relativedelta(months=months + 1))


def trial_from(anchor: datetime, days: int) -> Period:
    """The one period of a trial."""
    return Period(anchor, anchor + timedelta(days=days))


def seconds_to_next_day(now: datetime) -> int:
    """Whole seconds, at least 1, until the next 00:00 UTC."""
    now = now.astimezone(UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return max(1, math.ceil((midnight - now) / timedelta(seconds=1)))


DEFAULT_FILE = Path(__file__).parent / "plans.toml"

Dollars = Annotated[Decimal, Field(ge=0, max_digits=9, decimal_places=2)]

Generations = Annotated[int, Field(ge=0, le=1_000_000_000)]


class Plan(BaseModel):
    """One plan, in US dollars. What is ``None`` has to be agreed with each account.

    Attributes:
        trial_days: Days until it ends for good; ``None`` for a plan that is renewed monthly.
        included: Generations in a month, or in the whole trial.
        extra_price: For one generation of a top-up pack; a trial has none, it cannot be topped up.
        daily_cap: Generations that may be started on one day (UTC).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    trial_days: Annotated[int, Field(ge=1)] | None = None
    monthly_price: Dollars | None = None
    included: Generations | None = None
    extra_price: Dollars | None = None
    daily_cap: Generations | None = None


class PlanBook(BaseModel):
    """Every plan, by name, and the sizes of top-up packs in generations."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    plans: dict[str, Plan]
    topup_packs: tuple[Annotated[int, Field(ge=1)], ...]

    def get(self, name: str) -> Plan:
        """The plan of this name.

        Raises:
            ValueError: There is none.
        """
        try:
            return self.plans[name]
        except KeyError:
            raise ValueError(f"there is no plan {name!r}; plans are {', '.join(self.plans)}") from None


def load_plans(path: Path | None = None) -> PlanBook:
    """Read a file of plans, or the one that comes with the service; raises OSError or ValueError."""
    return PlanBook.model_validate(tomllib.loads((path or DEFAULT_FILE).read_text()))


@dataclass(frozen=True)
class Terms:
    """What holds for one account: its plan, with what was agreed with it alone put in place. Prices are US cents.

    ``extra_cents`` is ``None`` where no pack can be bought; all else is as in `Plan`.
    """

    trial_days: int | None
    monthly_cents: int
    included: int
    extra_cents: int | None
    daily_cap: int


def terms_of(account: Account, plans: PlanBook) -> Terms:
    """The account's own terms.

    Raises:
        ValueError: Its plan leaves a value to be agreed, and nothing was.
    """
    plan = plans.get(account.plan)
    included = _first(account.custom_included, plan.included)
    daily_cap = _first(account.custom_daily_cap, plan.daily_cap)
    monthly_cents = _first(account.custom_monthly_cents, cents_of(plan.monthly_price))
    extra_cents = _first(account.custom_extra_cents, cents_of(plan.extra_price))
    if included is None or daily_cap is None or monthly_cents is None or (extra_cents is None and not plan.trial_days):
        raise ValueError(
            f"plan {account.plan!r} needs included generations, a daily cap, a monthly and an extra price "
            "of the account's own"
        )
    return Terms(plan.trial_days, monthly_cents, included, extra_cents, daily_cap)


def _first(custom: int | None, usual: int | None) -> int | None:
    return usual if custom is None else custom


def cents_of(dollars: Decimal | None) -> int | None:
    """US cents, without what is left below one."""
    return None if dollars is None else int(dollars * 100)
