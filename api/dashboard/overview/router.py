"""``GET /dashboard/``: transport only."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from api.dashboard.overview.plot import plot_of
from api.dashboard.rendering import page
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from domain.errors import sentence_of
from domain.jobs import job_history
from domain.money.usage import Usage, usage_of

DAYS, FAILURES = 30, 5

router = APIRouter()


@router.get("/")
async def show_overview(request: Request) -> Response:
    """Everything in one reading, so that the figures belong together."""
    parts = parts_of(request)
    account_id, now = visitor_of(request).account_id, datetime.now(UTC)
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
