"""What operators decide about what an account may spend: its plan, its own terms, a pack."""

from __future__ import annotations

import uuid
from datetime import datetime

from sqlalchemy.orm import Session

from domain import accounts
from domain.accounts import OwnTerms
from domain.money import quota
from domain.money.plans import PlanBook, cents_of
from domain.operation import audit
from domain.operation.audit import Act, Detail
from domain.tables import Account, Allowance


def create_account(
    session: Session,
    plans: PlanBook,
    *,
    email: str,
    plan: str,
    own_terms: OwnTerms,
    operator_id: uuid.UUID | None,
    now: datetime,
) -> Account:
    """Add an account that nobody signed up for; see `domain.accounts.create_account`.

    Raises:
        ValueError: The address is not one or is taken, there is no such plan, or these terms do not fit it.
    """
    account = accounts.create_account(session, plans, email=email, plan=plan, own_terms=own_terms, now=now)
    audit.add_entry(
        session,
        action=Act.ACCOUNT_CREATED,
        operator_id=operator_id,
        account_id=account.id,
        details=_agreed(plan, own_terms),
        now=now,
    )
    return account


def change_plan(
    session: Session,
    plans: PlanBook,
    *,
    account_id: uuid.UUID,
    plan: str,
    own_terms: OwnTerms,
    operator_id: uuid.UUID | None,
    now: datetime,
) -> None:
    """Put an account on a plan; see `domain.accounts.change_plan`.

    Raises:
        ValueError: There is no such plan, or these terms do not fit it.
    """
    accounts.change_plan(session, plans, account_id=account_id, plan=plan, own_terms=own_terms, now=now)
    audit.add_entry(
        session,
        action=Act.PLAN_CHANGED,
        operator_id=operator_id,
        account_id=account_id,
        details=_agreed(plan, own_terms),
        now=now,
    )


def credit_pack(
    session: Session,
    plans: PlanBook,
    *,
    account_id: uuid.UUID,
    generations: int,
    reason: str | None,
    operator_id: uuid.UUID | None,
    now: datetime,
    pack_id: uuid.UUID | None = None,
) -> Allowance:
    """Credit a pack of a size that there is; whoever may ask twice names its id, and it is credited once.

    Raises:
        ValueError: There is no pack of that size, the account's plan cannot be topped up, or the id is that of
            something else.
    """
    if pack_id is not None:
        credited = quota.find_pack(session, account_id=account_id, pack_id=pack_id)
        if credited is not None and credited.generations != generations:
            raise ValueError("this form has credited a pack of another size already; send it again for this one too")
        if credited is not None:
            return credited
    pack = quota.add_topup(session, plans, account_id=account_id, generations=generations, now=now, pack_id=pack_id)
    audit.add_entry(
        session,
        action=Act.TOPPED_UP,
        operator_id=operator_id,
        account_id=account_id,
        details={"generations": generations, "priceCents": pack.price_cents, "reason": reason},
        now=now,
    )
    return pack


def _agreed(plan: str, own_terms: OwnTerms) -> dict[str, Detail]:
    rate = own_terms.request_rate
    return {
        "plan": plan,
        "included": own_terms.included,
        "dailyCap": own_terms.daily_cap,
        "monthlyCents": cents_of(own_terms.monthly_price),
        "extraCents": cents_of(own_terms.extra_price),
        **({"requests": rate.requests, "windowSeconds": rate.window_seconds} if rate else {}),
    }
