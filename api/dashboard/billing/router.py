"""The page of usage and billing, and the ledger as a file: transport only."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from sqlalchemy.orm import Session

from api.dashboard.billing import words
from api.dashboard.rendering import page, query_with
from api.dashboard.visitor import visitor_of
from api.parts import ApiParts, parts_of
from domain import accounts
from domain.billing import orders, payments, statements
from domain.money import quota
from domain.money.plans import terms_of
from domain.money.usage import usage_of

PER_PAGE = 50
NEWEST_ORDERS = 10
EXPORTED_AT_ONCE = 1000

CSV_FIELDS = ("at", "kind", "change", "source", "allowance", "job", "left_after")

router = APIRouter()


@router.get("/billing")
async def show_billing(request: Request) -> Response:
    """Standing, what may be bought, orders and ledger."""
    return await billing_page(request)


@router.get("/billing/ledger.csv")
async def export_ledger(request: Request) -> Response:
    """Every movement of the account, oldest first."""
    parts = parts_of(request)
    headers = {"Content-Disposition": 'attachment; filename="ledger.csv"'}
    return StreamingResponse(
        _csv_lines(parts, visitor_of(request).account_id), media_type="text/csv; charset=utf-8", headers=headers
    )


async def billing_page(request: Request, status: int = 200, error: str = "") -> Response:
    """The page, with what went wrong on top of it."""
    parts = parts_of(request)
    query, account_id, now = request.query_params, visitor_of(request).account_id, datetime.now(UTC)
    place = words.read_place(query.get("before", "")) if request.method == "GET" else None

    def look(session: Session) -> dict[str, Any]:
        account = accounts.get_account(session, account_id=account_id)
        terms = terms_of(account, parts.plans)
        return {
            "usage": usage_of(session, parts.plans, account_id=account_id, now=now),
            "left": quota.generations_left(session, parts.plans, account=account, now=now),
            "terms": terms,
            "packs": () if terms.trial_days is not None else parts.plans.topup_packs,
            "waiting": orders.waiting_plan_order(session, account_id=account_id),
            "placed": payments.page_of_account(session, account_id=account_id, limit=NEWEST_ORDERS + 1),
            "movements": statements.page_of_account(session, account_id=account_id, limit=PER_PAGE + 1, after=place),
        }

    seen = await parts.database.read(look)
    placed, movements = seen.pop("placed"), seen.pop("movements")
    more, movements = len(movements) > PER_PAGE, movements[:PER_PAGE]
    return page(
        request,
        "billing/show.html",
        status,
        error=error,
        plans=orders.orderable_plans(parts.plans),
        orders=placed[:NEWEST_ORDERS],
        more_orders=len(placed) > NEWEST_ORDERS,
        movements=movements,
        **seen,
        newest="/dashboard/billing#ledger" if place else None,
        older=f"{query_with(query, before=words.place_text(movements[-1].place))}#ledger" if more else None,
        words=words,
    )


async def _csv_lines(parts: ApiParts, account_id: uuid.UUID) -> AsyncIterator[str]:
    """Lines, a page of entries at a time: whoever reads slowly holds up no transaction."""
    yield ",".join(CSV_FIELDS) + "\r\n"
    left: dict[uuid.UUID, int] = {}
    place = None
    while True:
        movements = await parts.database.read(
            statements.read_from_the_first, account_id=account_id, limit=EXPORTED_AT_ONCE, left=left, after=place
        )
        if movements:
            place = movements[-1].place
            yield "".join(_csv_line(each) for each in movements)
        if len(movements) < EXPORTED_AT_ONCE:
            return


def _csv_line(movement: statements.Movement) -> str:
    """No field holds a text of anybody's, so none needs quotes."""
    fields = (
        movement.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        movement.kind,
        movement.change,
        movement.source,
        movement.allowance_id,
        movement.job_id or "",
        movement.left,
    )
    return ",".join(str(each) for each in fields) + "\r\n"
