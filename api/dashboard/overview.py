"""``GET /dashboard/``: figures of the last weeks, and the bars of jobs per day."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from api.dashboard.rendering import page
from api.parts import Parts
from api.routes import AccountId
from domain.errors import sentence_of
from domain.jobs import job_history
from domain.jobs.job_history import Day
from domain.money.quota import Usage, usage_of

HEIGHT, PITCH, BAR = 100.0, 10.0, 7.0
"""Units of the drawing: its height, from one bar to the next, and how wide a bar is. Both axes are stretched to fit."""

OUTCOMES = ("completed", "failed", "processing")
"""From the bottom of a bar to its top."""

_TOPS = (2, 4, 6, 8, 10)


class Piece(NamedTuple):
    """A part of a bar, in units of the drawing."""

    outcome: str
    y: float
    height: float


class Bar(NamedTuple):
    """One day, with a label such as ``3 Mar``."""

    day: Day
    label: str
    x: float
    pieces: Sequence[Piece]


class Plot(NamedTuple):
    """All of it.

    Attributes:
        written: Bars with their day below: the first, one in the middle, the last.
        top: How many jobs the upper end of the scale stands for; an even number.
        totals: Jobs by outcome.
    """

    bars: Sequence[Bar]
    written: Sequence[Bar]
    top: int
    totals: dict[str, int]
    width: float
    height: float = HEIGHT
    bar_width: float = BAR


def plot_of(days: Sequence[Day]) -> Plot:
    """Lay the bars out of at least one day, the oldest first."""
    top = top_of_scale(max(day.total for day in days))
    bars = [
        Bar(day, f"{day.day.day} {day.day:%b}", PITCH * index + (PITCH - BAR) / 2, _pieces(day, top))
        for index, day in enumerate(days)
    ]
    totals = {outcome: sum(getattr(day, outcome) for day in days) for outcome in OUTCOMES}
    return Plot(bars, [bars[0], bars[(len(bars) - 1) // 2], bars[-1]], top, totals, PITCH * len(bars))


def top_of_scale(most: int) -> int:
    """The smallest of 2, 4, 6, 8, 10, 20, 40, … that is not less: half of it is a whole number too."""
    power = 1
    while most > 10 * power:
        power *= 10
    return next(top * power for top in _TOPS if top * power >= most)


def _pieces(day: Day, top: int) -> list[Piece]:
    pieces, below = [], 0
    for outcome in OUTCOMES:
        if jobs := getattr(day, outcome):
            below += jobs
            pieces.append(Piece(outcome, round(HEIGHT - HEIGHT * below / top, 2), round(HEIGHT * jobs / top, 2)))
    return pieces


DAYS, FAILURES = 30, 5

router = APIRouter()


@router.get("/")
async def show_overview(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """Everything in one reading, so that the figures belong together."""
    now = datetime.now(UTC)
    today = now.date()
    first = today - timedelta(days=DAYS - 1)

    def look(session: Session) -> dict[str, Any]:
        usage = usage_of(session, parts.plans, account_id=account_id, now=now)
        failures = job_history.last_failures(session, account_id=account_id, limit=FAILURES)
        return {
            "usage": usage,
            "trial_days_left": trial_days_left(usage, now),
            "steps": job_history.first_steps(session, account_id=account_id),
            "plot": plot_of(job_history.jobs_per_day(session, account_id=account_id, first=first, last=today)),
            "durations": job_history.durations_since(session, account_id=account_id, first=first),
            "failures": [(each, sentence_of(each.error_code, each.error_advice)) for each in failures],
        }

    return page(request, "overview/show.html", span=DAYS, **await parts.database.read(look))


def trial_days_left(usage: Usage, now: datetime) -> int | None:
    """Days of a trial that are left, begun ones too; 0 for one that is over, None for a plan."""
    if usage.trial_ends_at is None:
        return None
    return max(0, math.ceil((usage.trial_ends_at - now) / timedelta(days=1)))
