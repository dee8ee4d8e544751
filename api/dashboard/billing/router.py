"""Usage and billing: what was used, the ledger as a file, ordering, paying and withdrawing. Transport only."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from sqlalchemy.orm import Session

from api.dashboard.billing import words
from api.dashboard.forms import Form, PageRefused, read_form
from api.dashboard.rendering import page, query_with, redirect
from api.dashboard.visitor import visitor_of
from api.parts import ApiParts, parts_of
from api.payments.provider import PaymentPageError
from api.routes import PAGES
from domain import accounts
from domain.billing import payments
from domain.billing.payments import OPEN, OrderRefusedError
from domain.money import ledger, quota
from domain.money.plans import terms_of
from domain.money.quota import usage_of
from domain.tables import Payment

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
            "waiting": payments.waiting_plan_order(session, account_id=account_id),
            "placed": payments.page_of_account(session, account_id=account_id, limit=NEWEST_ORDERS + 1),
            "movements": ledger.page_of_account(session, account_id=account_id, limit=PER_PAGE + 1, after=place),
        }

    seen = await parts.database.read(look)
    placed, movements = seen.pop("placed"), seen.pop("movements")
    more, movements = len(movements) > PER_PAGE, movements[:PER_PAGE]
    return page(
        request,
        "billing/show.html",
        status,
        error=error,
        plans=payments.orderable_plans(parts.plans),
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
            ledger.read_from_the_first, account_id=account_id, limit=EXPORTED_AT_ONCE, left=left, after=place
        )
        if movements:
            place = movements[-1].place
            yield "".join(_csv_line(each) for each in movements)
        if len(movements) < EXPORTED_AT_ONCE:
            return


def _csv_line(movement: ledger.Movement) -> str:
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


@router.get("/billing/top-up")
async def ask_for_topup(request: Request) -> Response:
    """Repeat which pack it is and what it costs."""
    generations = _size(request.query_params.get("generations", ""))
    parts = parts_of(request)
    account = await parts.database.read(accounts.get_account, account_id=visitor_of(request).account_id)
    try:
        price = payments.pack_price(parts.plans, account, generations)
    except OrderRefusedError as refused:
        return await billing_page(request, 422, str(refused))
    return page(
        request,
        "billing/top_up.html",
        generations=generations,
        price=price,
        terms=terms_of(account, parts.plans),
        order=uuid.uuid4(),
        provider=parts.payments,
    )


@router.post("/billing/top-up")
async def order_topup(request: Request) -> Response:
    """Place the order."""
    form = await read_form(request)
    return await _place(request, form, partial(payments.order_topup, generations=_size(form.text("generations"))))


@router.get("/billing/plan")
async def ask_for_plan(request: Request) -> Response:
    """Repeat what the plan gives and what changes."""
    parts, name = parts_of(request), request.query_params.get("plan", "")
    account_id = visitor_of(request).account_id
    account = await parts.database.read(accounts.get_account, account_id=account_id)
    waiting = await parts.database.read(payments.waiting_plan_order, account_id=account_id)
    try:
        price = payments.plan_price(parts.plans, account, name)
    except OrderRefusedError as refused:
        return await billing_page(request, 422, str(refused))
    return page(
        request,
        "billing/plan.html",
        name=name,
        plan=parts.plans.get(name),
        price=price,
        before=account,
        waiting=waiting,
        order=uuid.uuid4(),
        provider=parts.payments,
    )


@router.post("/billing/plan")
async def order_plan(request: Request) -> Response:
    """Place the order; the plan changes once it is paid."""
    form = await read_form(request)
    return await _place(request, form, partial(payments.order_plan, plan=form.text("plan")))


@router.get("/billing/orders")
async def list_orders(request: Request) -> Response:
    """Every order of the account, newest first."""
    query = request.query_params
    place = words.read_place(query.get("before", ""))
    after = (place[0], place[2]) if place else None
    found = await parts_of(request).database.read(
        payments.page_of_account, account_id=visitor_of(request).account_id, limit=PER_PAGE + 1, after=after
    )
    more, found = len(found) > PER_PAGE, found[:PER_PAGE]
    older = query_with(query, before=words.place_text((found[-1].created_at, 0, found[-1].id))) if more else None
    newest = f"{PAGES}/billing/orders" if after else None
    return page(request, "billing/orders.html", orders=found, newest=newest, older=older, words=words)


@router.get("/billing/orders/{paymentId}")
async def show_order(request: Request, paymentId: str) -> Response:
    """How an order stands, and what can be done about it."""
    payment = await _find(request, paymentId)
    return page(request, "billing/order.html", payment=payment, online=_payable_online(request, payment), words=words)


@router.get("/billing/orders/{paymentId}/pay")
async def pay(request: Request, paymentId: str) -> Response:
    """Send the browser to the provider's page.

    A link leads here, not a form: for one order it is always the same page, and browsers let no form of ours end up
    on another host.
    """
    payment, parts, own = await _find(request, paymentId), parts_of(request), f"/billing/orders/{paymentId}"
    if visitor_of(request).blocked_reason is not None:
        raise PageRefused(403, "This account is blocked, so you cannot pay.")
    if not _payable_online(request, payment):
        return redirect(own)
    base = parts.settings.dashboard.base_url(parts.settings.api)
    try:
        opened = await parts.payments.begin(
            payment,
            subject=words.subject_of(payment),
            return_url=f"{base}{PAGES}{own}?notice=payment_returned",
            cancel_url=f"{base}{PAGES}{own}",
            now=datetime.now(UTC),
        )
    except PaymentPageError as error:
        raise PageRefused(503, str(error)) from None
    if opened is None or not await parts.database.write(
        payments.note_reference, payment_id=payment.id, reference=opened.reference
    ):
        return redirect(own)
    return RedirectResponse(opened.url, 303)


@router.post("/billing/orders/{paymentId}/withdraw")
async def withdraw(request: Request, paymentId: str) -> Response:
    """Close an order that is not wanted any more, once nobody can pay it."""
    await read_form(request)
    payment, parts = await _find(request, paymentId), parts_of(request)
    if _payable_online(request, payment):
        try:
            given_up = await parts.payments.give_up(payment)
        except PaymentPageError as error:
            raise PageRefused(503, str(error)) from None
        if not given_up:
            raise PageRefused(409, "This order is being paid and cannot be withdrawn.")
    did = await parts.database.write(
        payments.withdraw, payment_id=payment.id, account_id=payment.account_id, now=datetime.now(UTC)
    )
    return redirect(f"/billing/orders/{payment.id}", "order_withdrawn" if did else "order_closed")


async def _place(request: Request, form: Form, order: Callable[..., Payment]) -> Response:
    """Have ``order``, which knows what is bought, add the row; whoever sends the form twice orders once."""
    parts = parts_of(request)
    try:
        payment = await parts.database.write(
            order,
            parts.plans,
            account_id=visitor_of(request).account_id,
            provider=parts.payments.name,
            now=datetime.now(UTC),
            payment_id=_order_id(form),
        )
    except OrderRefusedError as refused:
        return await billing_page(request, 422, str(refused))
    return redirect(f"/billing/orders/{payment.id}", "order_placed")


async def _find(request: Request, text: str) -> Payment:
    try:
        payment_id = uuid.UUID(text)
    except ValueError:
        raise PageRefused(404, "There is no such order.") from None
    payment = await parts_of(request).database.read(
        payments.find_payment, payment_id=payment_id, account_id=visitor_of(request).account_id
    )
    if payment is None:
        raise PageRefused(404, "There is no such order.")
    return payment


def _payable_online(request: Request, payment: Payment) -> bool:
    provider = parts_of(request).payments
    return provider.online and payment.provider == provider.name and payment.status == OPEN


def _size(text: str) -> int:
    """The size of a pack; 0, which no pack has, for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def _order_id(form: Form) -> uuid.UUID | None:
    """What the form was given, so that sending it twice orders once."""
    try:
        return uuid.UUID(form.text("order"))
    except ValueError:
        return None
