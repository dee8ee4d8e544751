"""What may be ordered, and at what price."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms, change_plan
from domain.billing import payments
from domain.billing.payments import MOST_IN_A_DAY, MOST_OPEN, OrderRefusedError
from domain.tables import Payment
from runtime.database import Database
from tests.factories import PLANS, Caller, create_caller

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


@pytest.fixture
async def caller(database: Database, digester: KeyDigester) -> Caller:
    return await create_caller(database, digester, now=NOW)


async def order_pack(
    database: Database, caller: Caller, generations: int = 50, payment_id: uuid.UUID | None = None
) -> Payment:
    return await database.write(
        payments.order_topup,
        PLANS,
        account_id=caller.account_id,
        generations=generations,
        provider="manual",
        now=NOW,
        payment_id=payment_id,
    )


async def order_plan(database: Database, caller: Caller, plan: str = "growth") -> Payment:
    return await database.write(
        payments.order_plan, PLANS, account_id=caller.account_id, plan=plan, provider="manual", now=NOW
    )


async def all_orders(database: Database, caller: Caller) -> list[Payment]:
    with database.reading() as session:
        return list(payments.page_of_account(session, account_id=caller.account_id, limit=100))


async def test_a_pack_costs_the_plans_extra_price(database: Database, caller: Caller) -> None:
    payment = await order_pack(database, caller, 250)
    assert (payment.kind, payment.generations, payment.price_cents) == ("topup", 250, 5000)
    assert (payment.status, payment.plan, payment.closed_at, payment.allowance_id) == ("open", None, None, None)


async def test_a_pack_costs_what_was_agreed(database: Database, digester: KeyDigester) -> None:
    agreed = OwnTerms(extra_price=Decimal("0.08"))
    caller = await create_caller(database, digester, own_terms=agreed, now=NOW)
    assert (await order_pack(database, caller, 1000)).price_cents == 8000


async def test_a_plan_costs_its_month(database: Database, caller: Caller) -> None:
    payment = await order_plan(database, caller)
    assert (payment.kind, payment.plan, payment.price_cents, payment.generations) == ("plan", "growth", 14900, None)


@pytest.mark.parametrize("plan", ["starter", "trial", "enterprise", "gold"])
async def test_no_order_for_the_plan_one_has_or_one_that_cannot_be_had(
    database: Database, caller: Caller, plan: str
) -> None:
    with pytest.raises(OrderRefusedError):
        await order_plan(database, caller, plan)
    assert await all_orders(database, caller) == []


@pytest.mark.parametrize("generations", [0, -50, 51])
async def test_no_order_for_a_pack_that_there_is_not(database: Database, caller: Caller, generations: int) -> None:
    with pytest.raises(OrderRefusedError, match="no pack"):
        await order_pack(database, caller, generations)


async def test_a_trial_takes_a_plan_first(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, plan="trial", now=NOW)
    with pytest.raises(OrderRefusedError, match="Choose a plan first"):
        await order_pack(database, caller)
    assert (await order_plan(database, caller, "starter")).price_cents == 4999


async def test_what_is_ordered_twice_under_one_id_is_ordered_once(database: Database, caller: Caller) -> None:
    payment_id = uuid.uuid4()
    made = await asyncio.gather(*(order_pack(database, caller, 50, payment_id) for _ in range(6)))
    assert {each.id for each in made} == {payment_id}
    assert len(await all_orders(database, caller)) == 1


async def test_an_id_of_somebody_elses_order_is_of_no_use(
    database: Database, digester: KeyDigester, caller: Caller
) -> None:
    other = await order_pack(database, await create_caller(database, digester, now=NOW))
    with pytest.raises(OrderRefusedError):
        await order_pack(database, caller, 50, other.id)
    assert await all_orders(database, caller) == []


async def test_a_few_orders_may_wait_and_no_more(database: Database, caller: Caller) -> None:
    made = await asyncio.gather(*(order_pack(database, caller) for _ in range(MOST_OPEN + 5)), return_exceptions=True)
    assert sum(isinstance(each, OrderRefusedError) for each in made) == 5
    waiting = await all_orders(database, caller)
    assert len(waiting) == MOST_OPEN
    with database.transaction() as session:
        assert payments.withdraw(session, payment_id=waiting[0].id, account_id=caller.account_id, now=NOW)
    await order_pack(database, caller)


async def test_a_day_has_an_end_of_orders(database: Database, caller: Caller) -> None:
    """Ordering and withdrawing for ever would fill the table."""
    with database.transaction() as session:
        for index in range(MOST_IN_A_DAY):
            made = payments.order_topup(
                session,
                PLANS,
                account_id=caller.account_id,
                generations=50,
                provider="manual",
                now=NOW - timedelta(minutes=index),
            )
            payments.withdraw(session, payment_id=made.id, account_id=caller.account_id, now=NOW)
    with pytest.raises(OrderRefusedError, match="tomorrow"):
        await order_pack(database, caller)
    await database.write(
        payments.order_topup,
        PLANS,
        account_id=caller.account_id,
        generations=50,
        provider="manual",
        now=NOW + timedelta(hours=24),
    )


async def test_one_order_for_a_plan_waits_at_a_time(database: Database, caller: Caller) -> None:
    made = await asyncio.gather(
        *(order_plan(database, caller, plan) for plan in ("growth", "scale", "growth")), return_exceptions=True
    )
    assert sum(isinstance(each, OrderRefusedError) for each in made) == 2
    assert len(await all_orders(database, caller)) == 1


async def test_the_list_is_read_in_pages(database: Database, caller: Caller) -> None:
    ids = []
    for minutes in (0, 1, 1, 2):
        made = await database.write(
            payments.order_topup,
            PLANS,
            account_id=caller.account_id,
            generations=50,
            provider="manual",
            now=NOW + timedelta(minutes=minutes),
        )
        ids.append(made.id)
    read: list[Payment] = []
    with database.reading() as session:
        while found := payments.page_of_account(
            session, account_id=caller.account_id, limit=1, after=(read[-1].created_at, read[-1].id) if read else None
        ):
            read += found
    assert {each.id for each in read} == set(ids)
    assert [each.created_at for each in read] == sorted((each.created_at for each in read), reverse=True)


async def test_a_change_of_plan_changes_no_price_that_was_shown(database: Database, caller: Caller) -> None:
    payment = await order_pack(database, caller)
    await database.write(change_plan, PLANS, account_id=caller.account_id, plan="scale", now=NOW)
    assert [each.price_cents for each in await all_orders(database, caller)] == [payment.price_cents] == [1000]
