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
from typing import Annotated, Self

from dateutil.relativedelta import relativedelta
from pydantic import BaseModel, ConfigDict, Field, model_validator

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

MOST_REQUESTS, LONGEST_WINDOW_SECONDS = 10_000, 30 * 24 * 3600
"""Of a request rate: every request writes up to so many time stamps."""


@dataclass(frozen=True)
class RequestRate:
    """Starts and polls of try-ons that a key may make in any window of so many seconds."""

    requests: int
    window_seconds: int

    @classmethod
    def of(cls, requests: int | None, window_seconds: int | None) -> RequestRate | None:
        """A rate that may have been left out.

        Raises:
            ValueError: One of the two numbers is there alone, or beyond what is possible.
        """
        if requests is None and window_seconds is None:
            return None
        if requests is None or window_seconds is None:
            raise ValueError("a request rate needs both numbers: requests, and the seconds of their window")
        if not (1 <= requests <= MOST_REQUESTS and 1 <= window_seconds <= LONGEST_WINDOW_SECONDS):
            raise ValueError(
                f"a request rate is 1 to {MOST_REQUESTS} requests in 1 to {LONGEST_WINDOW_SECONDS} seconds"
            )
        return cls(requests, window_seconds)


class Plan(BaseModel):
    """One plan, in US dollars. What is ``None`` has to be agreed with each account.

    Attributes:
        trial_days: Days until it ends for good; ``None`` for a plan that is renewed monthly.
        included: Generations in a month, or in the whole trial.
        extra_price: For one generation of a top-up pack; a trial has none, it cannot be topped up.
        daily_cap: Generations that may be started on one day (UTC).
        requests: Starts and polls that a key may make in any ``window_seconds``; where both are left out, the service's
            own settings say so for every plan.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    trial_days: Annotated[int, Field(ge=1)] | None = None
    monthly_price: Dollars | None = None
    included: Generations | None = None
    extra_price: Dollars | None = None
    daily_cap: Generations | None = None
    requests: int | None = None
    window_seconds: int | None = None

    @model_validator(mode="after")
    def _has_a_whole_rate(self) -> Self:
        RequestRate.of(self.requests, self.window_seconds)
        return self


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

    def request_rate(self, account: Account) -> RequestRate | None:
        """What was agreed with the account, else what its plan says; none leaves it to the service's settings.

        It is asked on every call, so an account whose plan has gone from the file is no error here.
        """
        own, plan = RequestRate.of(account.custom_requests, account.custom_window_seconds), self.plans.get(account.plan)
        return RequestRate.of(plan.requests, plan.window_seconds) if plan and own is None else own


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
