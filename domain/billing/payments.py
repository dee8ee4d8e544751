"""Orders: what an owner may buy and what it costs now, and what becomes of it: paid, rejected or withdrawn.

An order is closed by a compare-and-set on its status, and what was bought is credited in the same transaction: whoever
hears of a payment twice, from wherever, credits it once. The price is the order's, whatever plans cost by then.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, func, select, update
from sqlalchemy.orm import Session

from domain.accounts import change_plan
from domain.money.plans import Plan, PlanBook, cents_of
from domain.money.quota import credit_pack, lock_account, topup_price
from domain.tables import Account, Payment, Place, beyond, rows_changed

OPEN, PAID, REJECTED = "open", "paid", "rejected"
TOPUP, PLAN = "topup", "plan"

DAY = timedelta(hours=24)

MOST_OPEN = 10  # orders of one account that may wait at a time; somebody has to look at each

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
    order = Payment(
        id=payment_id, account_id=account_id, kind=TOPUP, generations=generations, provider=provider, created_at=now
    )
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


@dataclass(frozen=True)
class Receipt:
    """What a provider says that it was paid, and what it calls the purchase; US cents, None for another currency."""

    provider: str
    reference: str
    cents: int | None


class ReceiptRefusedError(ValueError):
    """Money that would credit nothing. The order stays as it was; somebody has to look."""


def approve(
    session: Session, plans: PlanBook, *, payment_id: uuid.UUID, now: datetime, by: uuid.UUID | None = None
) -> bool:
    """Close an open order as paid, and credit what was bought; all of the transaction or nothing has to be kept.

    ``by`` is the account of the operator who decided; None stands for the command line. The order forgets its page at
    the provider's: what is paid there afterwards is other money, see `receive`.

    Returns:
        Whether this call did it, rather than one before.

    Raises:
        ValueError: There is no such order, or its plan no longer exists.
        ReceiptRefusedError: Its account was erased; as in `receive`.
    """
    return _pay(session, plans, payment_id, before=(OPEN,), now=now, closed_by=by, reference=None)


def receive(session: Session, plans: PlanBook, *, payment_id: uuid.UUID, receipt: Receipt, now: datetime) -> bool:
    """Close an order as paid because the provider has the money; as `approve`.

    An order that was given up meanwhile is paid too. Money is refused only where it would credit nothing.

    Raises:
        ReceiptRefusedError: The order is not there, is another provider's, or costs something else; it was paid by
            other means; its plan has begun already; or its account was erased. Whoever catches it has to roll back.
    """
    payment = session.get(Payment, payment_id)
    if payment is None or (payment.provider, payment.price_cents) != (receipt.provider, receipt.cents):
        raise ReceiptRefusedError(f"the receipt does not fit payment {payment_id}")
    told = {"closed_by": None, "note": None, "reference": receipt.reference}
    return _pay(session, plans, payment_id, before=(OPEN, REJECTED), receipt=receipt, now=now, **told)


def reject(session: Session, *, payment_id: uuid.UUID, note: str, now: datetime, by: uuid.UUID | None = None) -> bool:
    """Close an open order without crediting anything; ``by`` as in `approve`, ``note`` says why, for the owner.

    Returns:
        Whether this call did it; an order that is closed stays as it is.

    Raises:
        ValueError: There is no such order, or the note has not 1 to 200 characters.
    """
    if not 1 <= len(note.strip()) <= 200:
        raise ValueError("a note has 1 to 200 characters")
    _get(session, payment_id)
    which = Payment.id == payment_id
    return _close(session, which, status=REJECTED, closed_at=now, closed_by=by, note=note.strip())


def lapse(session: Session, *, payment_id: uuid.UUID, provider: str, note: str, now: datetime) -> bool:
    """Close an open order that its provider will not be paid for any more; whether this call did it."""
    which = and_(Payment.id == payment_id, Payment.provider == provider)
    return _close(session, which, status=REJECTED, closed_at=now, note=note)


def withdraw(session: Session, *, payment_id: uuid.UUID, account_id: uuid.UUID, now: datetime) -> bool:
    """Close an open order because its owner no longer wants it; whether this call did it."""
    which = and_(Payment.id == payment_id, Payment.account_id == account_id)
    return _close(session, which, status=REJECTED, closed_at=now, closed_by=account_id, note=None)


def reject_open_of_account(session: Session, *, account_id: uuid.UUID, note: str, now: datetime) -> None:
    """Close whatever the account has ordered and nobody has decided about."""
    _close(session, Payment.account_id == account_id, status=REJECTED, closed_at=now, note=note)


def note_reference(session: Session, *, payment_id: uuid.UUID, reference: str) -> bool:
    """Remember what the provider calls an order; whether the order is still open."""
    return _close(session, Payment.id == payment_id, reference=reference)


def find_payment(session: Session, *, payment_id: uuid.UUID, account_id: uuid.UUID) -> Payment | None:
    """An order of this account; another account's is as unknown as one that never was."""
    return session.scalar(select(Payment).where(Payment.id == payment_id, Payment.account_id == account_id))


def find_with_owner(session: Session, *, payment_id: uuid.UUID) -> tuple[Payment, Account] | None:
    """An order of anybody's and the account that placed it; for operators."""
    query = select(Payment, Account).join(Account, Account.id == Payment.account_id).where(Payment.id == payment_id)
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1])


def page_of_account(
    session: Session, *, account_id: uuid.UUID, limit: int, after: Place | None = None
) -> Sequence[Payment]:
    """The account's orders, newest first, from the one after ``after``."""
    newest = (Payment.created_at.desc(), Payment.id.desc())
    query = select(Payment).where(Payment.account_id == account_id).order_by(*newest).limit(limit)
    return session.scalars(query.where(*beyond(after, Payment.created_at, Payment.id, newer=False))).all()


def page_of_all(
    session: Session, *, limit: int, status: str | None = OPEN, after: Place | None = None
) -> list[tuple[Payment, str]]:
    """Orders of all accounts with their owners' addresses, oldest first, so that who waits longest is seen first."""
    if status is not None and "\0" in status:
        return []  # PostgreSQL does not take a null character even in a question
    query = select(Payment, Account.email).join(Account, Account.id == Payment.account_id)
    if status is not None:
        query = query.where(Payment.status == status)
    query = query.where(*beyond(after, Payment.created_at, Payment.id, newer=True))
    rows = session.execute(query.order_by(Payment.created_at, Payment.id).limit(limit))
    return [(payment, email) for payment, email in rows]


def _get(session: Session, payment_id: uuid.UUID) -> Payment:
    payment = session.get(Payment, payment_id, populate_existing=True)
    if payment is None:
        raise ValueError(f"there is no payment {payment_id}")
    return payment


def _close(session: Session, which: ColumnElement[bool], before: Sequence[str] = (OPEN,), **values: object) -> bool:
    """The compare-and-set: change the order if it is in one of these states."""
    return rows_changed(session, update(Payment).where(which, Payment.status.in_(before)).values(**values)) > 0


def _pay(
    session: Session,
    plans: PlanBook,
    payment_id: uuid.UUID,
    *,
    before: Sequence[str],
    now: datetime,
    receipt: Receipt | None = None,
    **values: Any,
) -> bool:
    """Close the order as paid and credit it. A ``receipt`` is refused where it is other money than what paid before."""
    closed = _close(session, Payment.id == payment_id, before, status=PAID, closed_at=now, **values)
    payment = _get(session, payment_id)
    if not closed:
        if receipt is not None and payment.reference != receipt.reference:
            raise ReceiptRefusedError(f"payment {payment_id} was paid by other means")
        return False
    account = lock_account(session, account_id=payment.account_id)
    if account.erased_at is not None:
        raise ReceiptRefusedError(f"the account of payment {payment_id} was erased")
    if payment.generations is not None:
        pack = credit_pack(
            session,
            account_id=account.id,
            generations=payment.generations,
            price_cents=payment.price_cents,
            now=now,
        )
        payment.allowance_id = pack.id
    if payment.plan is not None:
        # Somebody may have put the account on it since it was ordered. To an operator who approves, the period that
        # began then is the one paid for; whether it is what other money has paid for, nothing here can tell.
        if account.plan != payment.plan or account.plan_started_at <= payment.created_at:
            change_plan(session, plans, account_id=account.id, plan=payment.plan, now=now)
        elif receipt is not None:
            raise ReceiptRefusedError(f"the plan of payment {payment_id} has begun already")
    return True
