"""The stretches of time that volumes and caps are counted in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from dateutil.relativedelta import relativedelta


@dataclass(frozen=True)
class Period:
    """From ``start`` up to, and without, ``end``."""

    start: datetime
    end: datetime


def month_around(anchor: datetime, now: datetime) -> Period:
    """The monthly period that ``now`` lies in, counted from ``anchor``.

    Every period begins on the anchor's day of the month and at its time of day (UTC), or on the month's last day
    where it has no such day: an account of 31 January renews on 28 February and again on 31 March.

    Args:
        anchor: When the first period began.
        now: Not before ``anchor``; an earlier time lies in the first period.
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
