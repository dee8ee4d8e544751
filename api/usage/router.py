"""``GET /api/v1/usage``."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter, Request

from api.admission import owner_of
from api.openapi import document
from api.openapi.document import GATE, refusals, success
from api.parts import parts_of
from api.usage.schemas import UsageAnswer
from domain.money.usage import usage_of

router = APIRouter(tags=["usage"])


@router.get(
    "/api/v1/usage",
    operation_id="getUsage",
    summary="What the account has used of its volume",
    response_description="The account's standing.",
    responses={200: success(examples=document.USAGE), **refusals(*GATE)},
)
async def get_usage(request: Request) -> UsageAnswer:
    """The same for every key of the account; looking costs nothing."""
    parts = parts_of(request)
    owner = owner_of(request)
    usage = await parts.database.read(usage_of, parts.plans, account_id=owner.account_id, now=datetime.now(UTC))
    return UsageAnswer.of(usage)
