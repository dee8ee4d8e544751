"""Orders that wait for an operator, and those that were decided."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from api.administration import orders
from api.cursor import cursor_after, read_cursor
from api.dashboard.admin.request import FieldRefusedError, identifier, reason_of
from api.dashboard.forms import Form, PageRefused, read_form
from api.dashboard.rendering import page, query_with, redirect
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from domain.billing import payments

PER_PAGE = 50
LONGEST_NOTE = 200

router = APIRouter()


@router.get("/admin/payments")
async def list_payments(request: Request) -> Response:
    """Open orders first to come first, or those of another state."""
    return await _list_page(request)


@router.get("/admin/payments/{paymentId}/approve")
async def ask_to_approve(request: Request, paymentId: str) -> Response:
    """Repeat who paid how much, and what is credited for it."""
    parts, payment_id = parts_of(request), identifier(paymentId, "order")
    found = await parts.database.read(payments.find_with_owner, payment_id=payment_id)
    if found is None:
        raise PageRefused(404, "There is no such order.")
    order, account = found
    if order.status != payments.OPEN:
        return redirect("/admin/payments", "payment_decided_before")
    plan = parts.plans.plans.get(order.plan) if order.plan is not None else None
    return page(request, "admin/approve.html", order=order, account=account, plan=plan)


@router.post("/admin/payments/{paymentId}/approve")
async def approve(request: Request, paymentId: str) -> Response:
    """The money is there: credit what was bought."""

    def decide(session: Session, payment_id: uuid.UUID, _form: Form, now: datetime) -> bool:
        operator_id = visitor_of(request).account_id
        plans = parts_of(request).plans
        return orders.approve(session, plans, payment_id=payment_id, operator_id=operator_id, now=now)

    return await _decided(request, paymentId, "payment_approved", decide)


@router.post("/admin/payments/{paymentId}/reject")
async def reject(request: Request, paymentId: str) -> Response:
    """Nothing is credited; the owner reads why."""

    def decide(session: Session, payment_id: uuid.UUID, form: Form, now: datetime) -> bool:
        note, operator_id = reason_of(form, LONGEST_NOTE), visitor_of(request).account_id
        return orders.reject(session, payment_id=payment_id, note=note, operator_id=operator_id, now=now)

    return await _decided(request, paymentId, "payment_rejected", decide)


Decide = Callable[[Session, uuid.UUID, Form, datetime], bool]


async def _decided(request: Request, text: str, notice: str, decide: Decide) -> Response:
    form, payment_id = await read_form(request), identifier(text, "order")
    try:
        did = await parts_of(request).database.write(decide, payment_id, form, datetime.now(UTC))
    except FieldRefusedError as error:
        return await _list_page(request, 422, str(error))
    except ValueError:
        raise PageRefused(404, "There is no such order, or its plan no longer exists.") from None
    return redirect("/admin/payments", notice if did else "payment_decided_before")


async def _list_page(request: Request, status: int = 200, error: str = "") -> Response:
    query = request.query_params
    wanted = query.get("status", payments.OPEN)
    after = read_cursor(query["after"]) if query.get("after") else None
    found = await parts_of(request).database.read(
        payments.page_of_all, limit=PER_PAGE + 1, status=None if wanted == "all" else wanted, after=after
    )
    more, found = len(found) > PER_PAGE, found[:PER_PAGE]
    return page(
        request,
        "admin/payments.html",
        status,
        orders=found,
        wanted=wanted,
        first=query_with(query, after=None) if after else None,
        older=query_with(query, after=cursor_after(found[-1][0])) if more else None,
        error=error,
    )
