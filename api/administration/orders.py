"""What operators decide about orders that wait for them."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy.orm import Session

from domain.billing import payments
from domain.money.plans import PlanBook
from domain.operation import audit
from domain.operation.audit import Act, Detail
from domain.tables import Payment


def approve(
    session: Session, plans: PlanBook, *, payment_id: uuid.UUID, operator_id: uuid.UUID | None, now: datetime
) -> bool:
    """Close an order as paid and credit what was bought; see `domain.billing.payments.approve`.

    Returns:
        Whether this call did it.

    Raises:
        ValueError: There is no such order, or its plan no longer exists.
    """
    did = payments.approve(session, plans, payment_id=payment_id, now=now, by=operator_id)
    if did:
        _note(session, Act.PAYMENT_APPROVED, payment_id, operator_id, now)
    return did


def reject(session: Session, *, payment_id: uuid.UUID, note: str, operator_id: uuid.UUID | None, now: datetime) -> bool:
    """Close an order without crediting anything; see `domain.billing.payments.reject`.

    Returns:
        Whether this call did it.

    Raises:
        ValueError: There is no such order, or the note is empty or too long.
    """
    did = payments.reject(session, payment_id=payment_id, note=note, now=now, by=operator_id)
    if did:
        _note(session, Act.PAYMENT_REJECTED, payment_id, operator_id, now)
    return did


def _note(session: Session, act: Act, payment_id: uuid.UUID, operator_id: uuid.UUID | None, now: datetime) -> None:
    payment = session.get_one(Payment, payment_id)
    details: dict[str, Detail] = {
        "paymentId": str(payment.id),
        "generations": payment.generations,
        "plan": payment.plan,
        "priceCents": payment.price_cents,
    }
    audit.add_entry(
        session, action=act, operator_id=operator_id, account_id=payment.account_id, details=details, now=now
    )
