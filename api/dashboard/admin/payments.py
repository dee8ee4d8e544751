"""Orders that wait for an operator, and those that were decided."""

from __future__ import annotations

import contextlib
import uuid
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from api.administration import orders
from api.cursor import cursor_after, read_cursor
from api.dashboard.admin.audit import FieldRefusedError, reason_of
from api.dashboard.billing import payable_online
from api.dashboard.forms import SentForm, read_id
from api.dashboard.rendering import page, query_with, redirect
from api.errors import PageRefused
from api.parts import ApiParts, Parts
from api.payments import PaymentPageError
from api.routes import AccountId
from domain.billing import payments
from domain.tables import Payment

PER_PAGE = 50
LONGEST_NOTE = 200

UNKNOWN = "There is no such order."
GONE = "There is no such order, or its plan no longer exists."

router = APIRouter()


@router.get("/admin/payments")
async def list_payments(request: Request, parts: Parts) -> Response:
    """Open orders in the order of their coming, or those of another state."""
    return await _list_page(request, parts)


@router.get("/admin/payments/{paymentId}/approve")
async def ask_to_approve(request: Request, parts: Parts, paymentId: str) -> Response:
    """Repeat who paid how much, and what is credited for it."""
    found = await parts.database.read(payments.find_with_owner, payment_id=read_id(paymentId, UNKNOWN))
    if found is None:
        raise PageRefused(404, UNKNOWN)
    order, account = found
    if order.status != payments.OPEN:
        return redirect("/admin/payments", "payment_decided_before")
    plan = parts.plans.plans.get(order.plan) if order.plan is not None else None
    return page(request, "admin/approve.html", order=order, account=account, plan=plan)


@router.post("/admin/payments/{paymentId}/approve")
async def approve(parts: Parts, operator_id: AccountId, paymentId: str) -> Response:
    """The money is there: credit what was bought, and close the page on which more could be paid."""
    order, now = {"payment_id": read_id(paymentId, UNKNOWN), "operator_id": operator_id}, datetime.now(UTC)
    placed = await _payable_online(parts, order["payment_id"])
    try:
        did = await parts.database.write(orders.approve, parts.plans, **order, now=now)
    except ValueError:
        raise PageRefused(404, GONE) from None
    await _close_page(parts, placed if did else None)
    return redirect("/admin/payments", "payment_approved" if did else "payment_decided_before")


@router.post("/admin/payments/{paymentId}/reject")
async def reject(request: Request, form: SentForm, parts: Parts, operator_id: AccountId, paymentId: str) -> Response:
    """Nothing is credited; the owner reads why."""
    order, now = {"payment_id": read_id(paymentId, UNKNOWN), "operator_id": operator_id}, datetime.now(UTC)
    try:
        note = reason_of(form, LONGEST_NOTE)
        placed = await _payable_online(parts, order["payment_id"])
        did = await parts.database.write(orders.reject, **order, note=note, now=now)
    except FieldRefusedError as error:
        return await _list_page(request, parts, 422, str(error))
    except ValueError:
        raise PageRefused(404, GONE) from None
    await _close_page(parts, placed if did else None)
    return redirect("/admin/payments", "payment_rejected" if did else "payment_decided_before")


async def _close_page(parts: ApiParts, order: Payment | None) -> None:
    """Let nobody pay what was decided just now. What is paid all the same is credited, or told as an error.

    Not before the decision is written: the provider tells of a page that was closed, and the order would be rejected
    for that.
    """
    if order is not None:
        with contextlib.suppress(PaymentPageError):  # it is logged
            await parts.payments.give_up(order)


async def _payable_online(parts: ApiParts, payment_id: uuid.UUID) -> Payment | None:
    """The order, if it is open and its page at the provider's may be so too."""
    found = await parts.database.read(payments.find_with_owner, payment_id=payment_id)
    return found[0] if found is not None and payable_online(parts, found[0]) else None


async def _list_page(request: Request, parts: ApiParts, status: int = 200, error: str = "") -> Response:
    query = request.query_params
    wanted = query.get("status", payments.OPEN)
    after = read_cursor(query["after"]) if query.get("after") else None
    found = await parts.database.read(
        payments.page_of_all, limit=PER_PAGE + 1, status=None if wanted == "all" else wanted, after=after
    )
    more, found = len(found) > PER_PAGE, found[:PER_PAGE]
    return page(
        request,
        "admin/payments.html",
        status,
        orders=found,
        wanted=wanted,
        first=query_with(query, "/admin/payments", after=None) if after else None,
        older=query_with(query, "/admin/payments", after=cursor_after(found[-1][0])) if more else None,
        error=error,
    )
