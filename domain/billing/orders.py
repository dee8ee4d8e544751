"""Ordering: what an owner may buy, what it costs now, and the row that fixes the price."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from domain.billing.payments import OPEN, PLAN, TOPUP
from domain.money.plans import Plan, PlanBook, cents_of
from domain.money.quota import lock_account, topup_price
from domain.tables import Account, Payment

DAY = timedelta(hours=24)

MOST_OPEN = 10
"""Orders of one account that may wait at a time; somebody has to look at each."""

MOST_IN_A_DAY = 50
"""Orders of one account in any 24 hours, withdrawn ones too: none of their rows is ever deleted."""


class OrderRefusedError(ValueError):
    """An order that is not taken. Its sentence is for the owner."""


def orderable_plans(plans: PlanBook) -> dict[str, Plan]:
    """The plans that owners may take by themselves: no trial, and nothing left to be agreed."""
    return {
        name: plan
        for name, plan in plans.plans.items()
        if plan.trial_days is None and None not in (plan.monthly_price, plan.included, plan.extra_price, plan.daily_cap)
    }


def plan_price(plans: PlanBook, account: Account, plan: str) -> int:
    """What the account would pay for this plan now, in US cents.

    Raises:
        OrderRefusedError: It has it already, or it cannot be ordered.
    """
    orderable = orderable_plans(plans).get(plan)
    price = cents_of(orderable.monthly_price) if orderable else None
    if price is None:
        raise OrderRefusedError("This plan cannot be ordered online.")
    if account.plan == plan:
        raise OrderRefusedError("You are already on this plan.")
    return price


def pack_price(plans: PlanBook, account: Account, generations: int) -> int:
    """What the account would pay for a pack of this size now, in US cents.

    Raises:
        OrderRefusedError: There is no such pack, or its plan cannot be topped up.
    """
    if plans.get(account.plan).trial_days is not None:
        raise OrderRefusedError("Packs need a plan. Choose a plan first.")
    try:
        return topup_price(plans, account, generations=generations)
    except ValueError:
        raise OrderRefusedError("There is no pack of this size.") from None


def order_topup(
    session: Session,
    plans: PlanBook,
    *,
    account_id: uuid.UUID,
    generations: int,
    provider: str,
    now: datetime,
    payment_id: uuid.UUID | None = None,
) -> Payment:
    """Order a pack at today's price; ``provider`` takes the money.

    Callers that may ask twice name a ``payment_id``: the second time they get the order of the first.

    Raises:
        OrderRefusedError: As in `pack_price`, or too many orders wait already.
    """
    order = Payment(id=payment_id, account_id=account_id, kind=TOPUP, generations=generations)
    order.provider, order.created_at = provider, now
    return _place(session, order, lambda account: pack_price(plans, account, generations))


def order_plan(
    session: Session,
    plans: PlanBook,
    *,
    account_id: uuid.UUID,
    plan: str,
    provider: str,
    now: datetime,
    payment_id: uuid.UUID | None = None,
) -> Payment:
    """Order another plan at today's price; arguments as in `order_topup`.

    Raises:
        OrderRefusedError: As in `plan_price`, or another order waits that would change the plan too.
    """

    def price(account: Account) -> int:
        cents = plan_price(plans, account, plan)
        if waiting_plan_order(session, account_id=account_id) is not None:
            raise OrderRefusedError("You have already ordered a plan. Withdraw that order first.")
        return cents

    order = Payment(id=payment_id, account_id=account_id, kind=PLAN, plan=plan, provider=provider, created_at=now)
    return _place(session, order, price)


def waiting_plan_order(session: Session, *, account_id: uuid.UUID) -> Payment | None:
    """The open order of another plan, beside which no second one is taken."""
    return session.scalar(select(Payment).where(*_waiting(account_id), Payment.kind == PLAN).limit(1))


def _waiting(account_id: uuid.UUID) -> tuple[ColumnElement[bool], ...]:
    return (Payment.account_id == account_id, Payment.status == OPEN)


def _place(session: Session, order: Payment, price: Callable[[Account], int]) -> Payment:
    """Add the order, unless too many wait; the account is locked, so nobody else does the same."""
    account = lock_account(session, account_id=order.account_id)
    ordered = session.get(Payment, order.id) if order.id else None
    if ordered is not None and ordered.account_id != account.id:
        raise OrderRefusedError("This order could not be placed. Start again.")
    if ordered is not None:
        return ordered
    order.id, order.status, order.price_cents = order.id or uuid.uuid4(), OPEN, price(account)
    placed = select(func.count()).select_from(Payment)
    lately = (Payment.account_id == account.id, Payment.created_at > order.created_at - DAY)
    if (session.scalar(placed.where(*lately)) or 0) >= MOST_IN_A_DAY:
        raise OrderRefusedError("You have placed many orders today. Try again tomorrow.")
    if (session.scalar(placed.where(*_waiting(account.id))) or 0) >= MOST_OPEN:
        raise OrderRefusedError(f"You have {MOST_OPEN} unpaid orders. Pay or withdraw one first.")
    session.add(order)
    session.flush()
    return order
