"""Usage and billing: how an account stands, what it may buy, what it ordered, and every movement of its try-ons."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse, StreamingResponse
from sqlalchemy.orm import Session

from api.dashboard.forms import Form, SentForm, read_id
from api.dashboard.rendering import page, plan_label, query_with, redirect
from api.dashboard.visitor import Visitor
from api.errors import PageRefused
from api.parts import ApiParts, Parts
from api.payments import PaymentPageError
from api.routes import PAGES, AccountId
from domain import accounts
from domain.billing import payments
from domain.billing.payments import OPEN, OrderRefusedError
from domain.money import ledger, quota
from domain.money.ledger import Movement, Place
from domain.money.plans import terms_of
from domain.money.quota import usage_of
from domain.tables import Payment

PER_PAGE = 50

NEWEST_ORDERS = 10

EXPORTED_AT_ONCE = 1000

CSV_FIELDS = ("at", "kind", "change", "source", "allowance", "job", "left_after")

SOURCES = {"trial": "Trial", "included": "Plan", "topup": "Pack"}

MOVEMENTS = {
    "reserve": "Reserved for a job",
    "settle": "Used: the job completed",
    "release": "Returned: the job did not complete",
    "topup": "Pack credited",
    "grant": "Try-ons of the period",
}

UNKNOWN = "There is no such order."

router = APIRouter()


async def _own_order(parts: Parts, account_id: AccountId, paymentId: str) -> Payment:
    payment_id = read_id(paymentId, UNKNOWN)
    payment = await parts.database.read(payments.find_payment, payment_id=payment_id, account_id=account_id)
    if payment is None:
        raise PageRefused(404, UNKNOWN)
    return payment


OwnOrder = Annotated[Payment, Depends(_own_order)]
"""A route's argument: the order of the account that its address names."""


@router.get("/billing")
async def show_billing(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """Standing, what may be bought, orders and ledger."""
    return await billing_page(request, parts, account_id)


@router.get("/billing/ledger.csv")
async def export_ledger(parts: Parts, account_id: AccountId) -> Response:
    """Every movement of the account, oldest first."""
    headers = {"Content-Disposition": 'attachment; filename="ledger.csv"'}
    return StreamingResponse(_csv_lines(parts, account_id), media_type="text/csv; charset=utf-8", headers=headers)


async def billing_page(
    request: Request, parts: ApiParts, account_id: uuid.UUID, status: int = 200, error: str = ""
) -> Response:
    """The page, with what went wrong on top of it."""
    query, now = request.query_params, datetime.now(UTC)
    place = read_place(query.get("before", "")) if request.method == "GET" else None

    def look(session: Session) -> dict[str, Any]:
        account = accounts.get_account(session, account_id=account_id)
        terms = terms_of(account, parts.plans)
        return {
            "usage": usage_of(session, parts.plans, account_id=account_id, now=now),
            "left": quota.generations_left(session, parts.plans, account=account, now=now),
            "terms": terms,
            "rate": parts.rate_limiter.requests_of(account, parts.plans),
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
        older=f"{query_with({}, '/billing', before=place_text(movements[-1].place))}#ledger" if more else None,
        words=WORDS,
    )


async def _csv_lines(parts: ApiParts, account_id: uuid.UUID) -> AsyncIterator[str]:
    """Lines, a page of entries at a time: a slow reader holds up no transaction."""
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


def _csv_line(movement: Movement) -> str:
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
async def ask_for_topup(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """Repeat which pack it is and what it costs."""
    generations = _size(request.query_params.get("generations", ""))
    account = await parts.database.read(accounts.get_account, account_id=account_id)
    try:
        price = payments.pack_price(parts.plans, account, generations)
    except OrderRefusedError as refused:
        return await billing_page(request, parts, account_id, 422, str(refused))
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
async def order_topup(request: Request, form: SentForm, parts: Parts, account_id: AccountId) -> Response:
    """Place the order."""
    order = partial(payments.order_topup, generations=_size(form.text("generations")))
    return await _place(request, form, parts, account_id, order)


@router.get("/billing/plan")
async def ask_for_plan(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """Repeat what the plan gives and what changes."""
    name = request.query_params.get("plan", "")
    account = await parts.database.read(accounts.get_account, account_id=account_id)
    waiting = await parts.database.read(payments.waiting_plan_order, account_id=account_id)
    try:
        price = payments.plan_price(parts.plans, account, name)
    except OrderRefusedError as refused:
        return await billing_page(request, parts, account_id, 422, str(refused))
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
async def order_plan(request: Request, form: SentForm, parts: Parts, account_id: AccountId) -> Response:
    """Place the order; the plan changes once it is paid."""
    return await _place(request, form, parts, account_id, partial(payments.order_plan, plan=form.text("plan")))


@router.get("/billing/orders")
async def list_orders(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """Every order of the account, newest first."""
    query = request.query_params
    place = read_place(query.get("before", ""))
    after = (place[0], place[2]) if place else None
    found = await parts.database.read(payments.page_of_account, account_id=account_id, limit=PER_PAGE + 1, after=after)
    more, found = len(found) > PER_PAGE, found[:PER_PAGE]
    last = place_text((found[-1].created_at, 0, found[-1].id)) if more else None
    older = query_with(query, "/billing/orders", before=last) if more else None
    newest = f"{PAGES}/billing/orders" if after else None
    return page(request, "billing/orders.html", orders=found, newest=newest, older=older, words=WORDS)


@router.get("/billing/orders/{paymentId}")
async def show_order(request: Request, parts: Parts, payment: OwnOrder) -> Response:
    """How an order stands, and what can be done about it."""
    return page(request, "billing/order.html", payment=payment, online=payable_online(parts, payment), words=WORDS)


@router.get("/billing/orders/{paymentId}/pay")
async def pay(parts: Parts, visitor: Visitor, payment: OwnOrder) -> Response:
    """Send the browser to the provider's page.

    A link leads here, not a form: for one order it is always the same page, and browsers let no form of ours end up
    on another host.
    """
    own = f"/billing/orders/{payment.id}"
    if visitor.blocked_reason is not None:
        raise PageRefused(403, "This account is blocked, so you cannot pay.")
    if not payable_online(parts, payment):
        return redirect(own)
    base = parts.settings.dashboard.base_url(parts.settings.api)
    try:
        opened = await parts.payments.begin(
            payment,
            subject=subject_of(payment),
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
async def withdraw(parts: Parts, payment: OwnOrder) -> Response:
    """Close an order that is not wanted any more, once nobody can pay it."""
    if payable_online(parts, payment):
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


async def _place(
    request: Request, form: Form, parts: ApiParts, account_id: uuid.UUID, order: Callable[..., Payment]
) -> Response:
    """Have ``order``, which knows what is bought, add the row; a form that is sent twice orders once."""
    try:
        payment = await parts.database.write(
            order,
            parts.plans,
            account_id=account_id,
            provider=parts.payments.name,
            now=datetime.now(UTC),
            payment_id=form.identifier("order"),
        )
    except OrderRefusedError as refused:
        return await billing_page(request, parts, account_id, 422, str(refused))
    return redirect(f"/billing/orders/{payment.id}", "order_placed")


def payable_online(parts: ApiParts, payment: Payment) -> bool:
    """Whether it is open, and paid on a page of the provider's."""
    provider = parts.payments
    return provider.online and payment.provider == provider.name and payment.status == OPEN


def _size(text: str) -> int:
    """The size of a pack; 0, which no pack has, for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def subject_of(payment: Payment) -> str:
    """What an order is for."""
    if payment.plan is not None:
        return f"{plan_label(payment.plan)} plan, first month"
    return f"Pack of {payment.generations:,} try-ons"


def state_of(payment: Payment) -> str:
    """How an order stands, in a word; its colour follows from the word."""
    withdrawn = payment.status == "rejected" and payment.closed_by == payment.account_id
    return "withdrawn" if withdrawn else payment.status


def label_of(movement: Movement) -> str:
    """What happened."""
    if movement.kind == "grant" and movement.source == "trial":
        return "Try-ons of the trial"
    return MOVEMENTS[movement.kind]


def place_text(place: Place) -> str:
    """A place in the ledger, for an address."""
    at, step, entry_id = place
    return f"{at.isoformat()}~{step}~{entry_id.hex}"


def read_place(text: str) -> Place | None:
    """The place that a text names; None for any other text, which shows the newest page."""
    try:
        at, step, entry_id = text.split("~")
        moment = datetime.fromisoformat(at)
        return None if moment.tzinfo is None else (moment.astimezone(UTC), int(step[:3]), uuid.UUID(entry_id))
    except (ValueError, OverflowError):
        return None


WORDS = {"SOURCES": SOURCES, "subject_of": subject_of, "state_of": state_of, "label_of": label_of}
"""How templates tell of orders and movements."""
