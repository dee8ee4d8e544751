"""An account that has been busy for months, written straight into the tables."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from bench.dashboard.jobs import CATEGORIES, Owned, job_rows
from bench.dashboard.money import PACK, Books
from domain import accounts
from domain.access import keys
from domain.access.keys import TEST, KeyDigester
from domain.money.plans import PlanBook, terms_of
from domain.tables import Allowance, DailyUsage, Job, LedgerEntry, Login, Payment, Product

PLAN = "scale"
GARMENTS = ("Linen shirt", "Wide jeans", "Wrap dress", "Wool jumper", "Pleated skirt", "Denim jacket", "Polo shirt")
COLOURS = ("sand", "indigo", "moss", "off-white", "rust", "charcoal")


@dataclass(frozen=True)
class BusyAccount:
    """What was written.

    Attributes:
        product_id: One of its products.
        completed_job_id: The newest completed job that cost something.
        failed_job_id: The newest failed one.
        key_id: A key in use.
        payment_id: An order that nobody has paid yet.
    """

    account_id: uuid.UUID
    product_id: uuid.UUID
    completed_job_id: uuid.UUID
    failed_job_id: uuid.UUID
    key_id: uuid.UUID
    payment_id: uuid.UUID


def write_account(
    session: Session,
    plans: PlanBook,
    digester: KeyDigester,
    *,
    now: datetime,
    jobs: int = 10_000,
    products: int = 1_000,
    days: int = 90,
    seed: int = 7,
) -> BusyAccount:
    """Add an account of an operator, with its keys, products, jobs, and what they cost.

    Args:
        session: A transaction.
        plans: What plans give.
        digester: Of the keys.
        now: When the last job was accepted.
        jobs: How many; at least 100, so that there is one of every sort.
        products: How many; at least 1.
        days: Over how many the jobs spread.
        seed: The same one gives the same account but for its ids.
    """
    random, began = Random(seed), now - timedelta(days=days + 1)  # nothing secret is drawn
    account = accounts.create_account(
        session, plans, email=f"busy-{uuid.uuid4().hex[:12]}@example.com", plan=PLAN, now=began
    )
    session.add(Login(account_id=account.id, password_hash=None, verified_at=began, operator=True, created_at=began))
    live = [keys.create_key(session, digester, account_id=account.id)[0].id for _ in range(2)]
    test = keys.create_key(session, digester, account_id=account.id, mode=TEST)[0].id
    keys.revoke_key(session, key_id=live[0])
    garments = _product_rows(account.id, products, began, random)
    owned = Owned(account.id, live, test, [row["id"] for row in garments])
    done = job_rows(owned, count=jobs, days=days, now=now, random=random)
    terms = terms_of(account, plans)
    books = Books(account.id, began, terms.included, terms.monthly_cents, PACK * (terms.extra_cents or 0))
    books.charge(done)
    _insert(session, Product, garments)
    _insert(session, Allowance, books.allowances)
    _insert(session, Job, done)
    _insert(session, DailyUsage, books.days)
    _insert(session, LedgerEntry, books.entries)
    payments = _payment_rows(account.id, books, now)
    _insert(session, Payment, payments)
    return BusyAccount(
        account.id,
        garments[0]["id"],
        _newest(done, "completed"),
        _newest(done, "failed"),
        live[1],
        payments[-1]["id"],
    )


def _newest(jobs: Sequence[dict[str, Any]], status: str) -> uuid.UUID:
    found: uuid.UUID = next(
        job["id"] for job in reversed(jobs) if job["status"] == status and job["counted_on"] and not job["erased_at"]
    )
    return found


def _payment_rows(account_id: uuid.UUID, books: Books, now: datetime) -> list[dict[str, Any]]:
    """One for every pack that was bought, and at the end one that is open."""
    bought = [(each["starts_at"], each["id"]) for each in books.allowances if each["source"] == "topup"]
    return [
        {
            "id": uuid.uuid4(),
            "account_id": account_id,
            "kind": "topup",
            "generations": PACK,
            "plan": None,
            "price_cents": books.pack_cents,
            "provider": "manual",
            "reference": None,
            "status": "paid" if allowance_id else "open",
            "created_at": at,
            "closed_at": at if allowance_id else None,
            "closed_by": None,
            "note": None,
            "allowance_id": allowance_id,
        }
        for at, allowance_id in [*bought, (now, None)]
    ]


def _insert(session: Session, table: type[Any], rows: list[dict[str, Any]]) -> None:
    session.flush()
    session.execute(insert(table), rows)


def _product_rows(account_id: uuid.UUID, count: int, began: datetime, random: Random) -> list[dict[str, Any]]:
    rows = []
    for index in range(count):
        moment, product_id = began + timedelta(minutes=index), uuid.uuid4()
        front = {
            "bucket": "tryon",
            "key": f"products/{account_id}/{product_id}/front.png",
            "sha256": f"{index:064x}",
            "size": 340_000,
            "contentType": "image/png",
        }
        rows.append(
            {
                "id": product_id,
                "account_id": account_id,
                "external_id": f"SKU-{index:05}",
                "name": f"{random.choice(GARMENTS)}, {random.choice(COLOURS)}",
                "category": random.choice(CATEGORIES),
                "garment_category": None,
                "front": front,
                "back": None,
                "garment_state": None,
                "tuck_state": None,
                "size": random.choice(("S", "M", "L")),
                "status": "archived" if index % 20 == 19 else "active",
                "revision": random.randint(1, 4),
                "created_at": moment,
                "updated_at": moment,
            }
        )
    return rows
