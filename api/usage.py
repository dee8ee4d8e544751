"""``GET /api/v1/usage``."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter
from pydantic import Field

from api import openapi
from api.json_body import Answer
from api.openapi import GATE, refusals, success
from api.parts import Parts
from api.routes import AccountId, RoutePolicy
from domain.money.quota import usage_of

router = APIRouter(tags=["usage"])


class PeriodAnswer(Answer):
    """From `start` up to, and without, `end`."""

    start: datetime
    end: datetime


class UsageAnswer(Answer):
    """The account's standing at this moment; every count is in try-ons."""

    plan: str = Field(description="Name of the plan.", examples=["starter"])
    period: PeriodAnswer = Field(description="The current period: a month from the account's own day, or the trial.")
    included: int = Field(ge=0, description="What the plan gives for the period.", examples=[250])
    used: int = Field(ge=0, description="Completed jobs that were taken from it.", examples=[17])
    reserved: int = Field(ge=0, description="Jobs in progress.", examples=[1])
    topup_remaining: int = Field(ge=0, description="Left in top-up packs.", examples=[0], alias="topUpRemaining")
    daily_cap: int = Field(ge=0, description="What may be started in a day (UTC).", examples=[50])
    daily_used: int = Field(ge=0, description="What was started today and did not fail.", examples=[3])
    trial_ends_at: datetime | None = Field(description="Only for a trial.", examples=[None])


@router.get(
    "/api/v1/usage",
    operation_id="getUsage",
    summary="What the account has used of its volume",
    response_description="The account's standing.",
    responses={200: success(examples=openapi.USAGE), **refusals(*GATE)},
)
@RoutePolicy(scope="reading")
async def get_usage(parts: Parts, account_id: AccountId) -> UsageAnswer:
    """The same for every key of the account; looking costs nothing."""
    usage = await parts.database.read(usage_of, parts.plans, account_id=account_id, now=datetime.now(UTC))
    return UsageAnswer.model_validate(usage)
