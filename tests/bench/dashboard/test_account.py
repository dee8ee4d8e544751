from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from sqlalchemy import func, select

from bench.dashboard.account import write_account
from domain.access.keys import KeyDigester
from domain.money.ledger import check_ledger
from domain.money.quota import usage_of
from domain.tables import Job, LedgerEntry, Product
from runtime.database import Database
from tests.factories import PLANS

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
"""In the middle of a month of the plan; on a month's first day nothing may have been used yet."""


async def test_the_books_of_a_busy_account_agree(database: Database, digester: KeyDigester) -> None:
    busy = await database.write(write_account, PLANS, digester, now=NOW, jobs=400, products=20)
    with database.reading() as session:
        wrong = check_ledger(session)
        usage = usage_of(session, PLANS, account_id=busy.account_id, now=NOW)
        mine = Job.account_id == busy.account_id
        statuses = Counter(session.scalars(select(Job.status).where(mine)).all())
        settled = session.scalar(
            select(func.count()).where(LedgerEntry.account_id == busy.account_id, LedgerEntry.kind == "settle")
        )
        tests = session.scalar(select(func.count()).where(mine, Job.status == "completed", Job.allowance_id.is_(None)))
        products = session.scalar(select(func.count()).where(Product.account_id == busy.account_id))
    assert [each for each in wrong if each.account_id == busy.account_id] == []
    assert (statuses.total(), statuses["processing"], usage.reserved, products) == (400, 3, 3, 20)
    assert settled == statuses["completed"] - (tests or 0)
    assert statuses["failed"] > 0
    assert 0 < usage.used <= usage.included


async def test_packs_are_bought_where_the_volume_is_used_up(database: Database, digester: KeyDigester) -> None:
    busy = await database.write(write_account, PLANS, digester, now=NOW, jobs=3_600, products=5, days=20)
    with database.reading() as session:
        wrong = check_ledger(session)
        usage = usage_of(session, PLANS, account_id=busy.account_id, now=NOW)
    assert [each for each in wrong if each.account_id == busy.account_id] == []
    assert usage.used == usage.included
    assert 0 < usage.topup_remaining < 1_000
