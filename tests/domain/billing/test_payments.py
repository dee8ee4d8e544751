"""An order is closed once, and what was bought is credited once, however often and from wherever that is said."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from domain import erasure
from domain.access.keys import KeyDigester
from domain.accounts import change_plan, find_account
from domain.billing import payments
from domain.billing.payments import Receipt, ReceiptRefusedError
from domain.jobs.jobs import accept_job
from domain.money.ledger import check_ledger, entries_of_account
from domain.money.plans import PlanBook
from domain.money.quota import Usage, usage_of
from domain.tables import Account, Allowance, LedgerEntry, Payment
from runtime.database import Database
from runtime.settings import DatabaseSettings
from tests.factories import PLANS, Caller, create_caller, new_job
from tests.meanwhile import outcome_beside

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=3)
OPERATOR = uuid.uuid4()
OTHER_BOOK = PlanBook(plans={**PLANS.plans, "starter": PLANS.get("scale")}, topup_packs=(7,))
"""Another file of plans: other packs, and another price for an extra generation."""


@pytest.fixture
async def caller(own_database: Database, digester: KeyDigester) -> Caller:
    return await create_caller(own_database, digester, now=NOW - timedelta(days=40))


@pytest.fixture
async def other_process(own_database_url: str, own_database: Database) -> AsyncIterator[Database]:
    """The same database, as another process sees it."""
    database = Database(DatabaseSettings(url=own_database_url))
    yield database
    database.close()


async def order_pack(database: Database, caller: Caller, provider: str = "manual") -> Payment:
    return await database.write(
        payments.order_topup, PLANS, account_id=caller.account_id, generations=250, provider=provider, now=NOW
    )


async def order_plan(database: Database, caller: Caller, now: datetime = NOW) -> Payment:
    return await database.write(
        payments.order_plan, PLANS, account_id=caller.account_id, plan="growth", provider="stripe", now=now
    )


async def approve(database: Database, payment: Payment, plans: PlanBook = PLANS, now: datetime = LATER) -> bool:
    return await database.write(payments.approve, plans, payment_id=payment.id, now=now, by=OPERATOR)


async def reject(database: Database, payment: Payment) -> bool:
    return await database.write(payments.reject, payment_id=payment.id, note="No money came.", now=LATER, by=OPERATOR)


async def withdraw(database: Database, payment: Payment, account_id: uuid.UUID | None = None) -> bool:
    return await database.write(
        payments.withdraw, payment_id=payment.id, account_id=account_id or payment.account_id, now=LATER
    )


async def receive(
    database: Database,
    payment: Payment,
    cents: int | None = None,
    provider: str = "stripe",
    now: datetime = LATER,
) -> bool:
    receipt = Receipt(provider, f"cs_{payment.id}", payment.price_cents if cents is None else cents)
    return await database.write(payments.receive, PLANS, payment_id=payment.id, receipt=receipt, now=now)


async def read(database: Database, payment: Payment) -> Payment:
    with database.reading() as session:
        return session.get_one(Payment, payment.id)


async def standing(database: Database, caller: Caller, now: datetime = LATER) -> Usage:
    return await database.read(usage_of, PLANS, account_id=caller.account_id, now=now)


async def account_of(database: Database, caller: Caller) -> Account:
    account = await database.read(find_account, account_id=caller.account_id)
    assert account is not None
    return account


async def entries(database: Database, caller: Caller) -> list[LedgerEntry]:
    with database.reading() as session:
        assert check_ledger(session) == []
        return list(entries_of_account(session, account_id=caller.account_id, limit=1000))


async def test_an_approved_pack_is_credited_with_the_order(own_database: Database, caller: Caller) -> None:
    payment = await order_pack(own_database, caller)
    assert (await standing(own_database, caller)).topup_remaining == 0
    assert await approve(own_database, payment)
    assert (await standing(own_database, caller)).topup_remaining == 250
    closed = await read(own_database, payment)
    assert (closed.status, closed.closed_at, closed.closed_by) == ("paid", LATER, OPERATOR)
    [entry] = await entries(own_database, caller)
    assert (entry.kind, entry.generations, entry.allowance_id) == ("topup", 250, closed.allowance_id)


async def test_the_price_and_size_of_the_order_count(own_database: Database, caller: Caller) -> None:
    """Whatever the file of plans says by the time it is paid."""
    payment = await order_pack(own_database, caller)
    assert await approve(own_database, payment, OTHER_BOOK)
    with own_database.reading() as session:
        pack = session.get_one(Allowance, (await read(own_database, payment)).allowance_id)
    assert (pack.generations, pack.price_cents) == (250, 5000)


async def test_a_pack_is_credited_once_whoever_approves_it(
    own_database: Database, other_process: Database, caller: Caller
) -> None:
    payment = await order_pack(own_database, caller, "stripe")
    said = await asyncio.gather(
        *(approve(database, payment) for database in (own_database, other_process) * 4),
        *(receive(database, payment) for database in (own_database, other_process) * 4),
        return_exceptions=True,
    )
    assert said.count(True) == 1
    # Where an operator was first, what the provider has received is other money.
    refused = [isinstance(each, ReceiptRefusedError) for each in said]
    assert sum(refused) == (8 if True in said[:8] else 0)
    assert said.count(False) == 15 - sum(refused)
    assert (await standing(own_database, caller)).topup_remaining == 250
    assert len(await entries(own_database, caller)) == 1


async def test_an_order_has_one_end(own_database: Database, other_process: Database, caller: Caller) -> None:
    """Approving, rejecting and withdrawing at the same moment."""
    for _ in range(4):
        payment = await order_pack(own_database, caller)
        before = (await standing(own_database, caller)).topup_remaining
        approved, *others = await asyncio.gather(
            approve(own_database, payment),
            reject(other_process, payment),
            withdraw(own_database, payment),
            reject(own_database, payment),
            withdraw(other_process, payment),
        )
        assert [approved, *others].count(True) == 1
        assert (await read(own_database, payment)).status == ("paid" if approved else "rejected")
        assert (await standing(own_database, caller)).topup_remaining == before + (250 if approved else 0)


async def test_packs_of_one_account_do_not_wait_for_each_other_for_good(
    own_database: Database, other_process: Database, caller: Caller
) -> None:
    """Orders are locked before the account, by everybody in that order."""
    bought = [await order_pack(own_database, caller) for _ in range(8)]
    paths = [own_database, other_process]
    await asyncio.gather(*(approve(paths[index % 2], payment) for index, payment in enumerate(bought * 2)))
    assert (await standing(own_database, caller)).topup_remaining == 8 * 250
    assert len(await entries(own_database, caller)) == 8


async def test_a_plan_begins_once_with_its_whole_volume(
    own_database: Database, other_process: Database, caller: Caller
) -> None:
    await own_database.write(accept_job, PLANS, new_job(caller), now=NOW)
    payment = await order_plan(own_database, caller)
    moments = [LATER + timedelta(minutes=minute) for minute in range(6)]
    said = await asyncio.gather(
        *(
            approve(database, payment, now=now)
            for now, database in zip(moments, (own_database, other_process) * 3, strict=True)
        )
    )
    assert said.count(True) == 1
    began = (await account_of(own_database, caller)).plan_started_at
    assert began == moments[said.index(True)]
    found = await standing(own_database, caller, began + timedelta(hours=1))
    assert (found.plan, found.included, found.used, found.period.start) == ("growth", 1000, 0, began)
    assert not await approve(own_database, payment, now=LATER + timedelta(days=3))
    assert (await account_of(own_database, caller)).plan_started_at == began
    await entries(own_database, caller)


async def test_a_plan_that_was_put_on_meanwhile_does_not_begin_again(own_database: Database, caller: Caller) -> None:
    payment = await order_plan(own_database, caller)
    await own_database.write(
        change_plan, PLANS, account_id=caller.account_id, plan="growth", now=NOW + timedelta(hours=1)
    )
    assert await approve(own_database, payment)
    assert (await account_of(own_database, caller)).plan_started_at == NOW + timedelta(hours=1)


@pytest.mark.parametrize("given_up", [True, False])
async def test_money_for_a_plan_that_has_begun_meanwhile_is_for_somebody_to_look_at(
    own_database: Database, caller: Caller, given_up: bool
) -> None:
    """The owner has ordered it again, and paid sooner."""
    slow = await order_plan(own_database, caller)
    await reject(own_database, slow)
    again = await order_plan(own_database, caller, LATER)
    assert await receive(own_database, again, now=LATER + timedelta(hours=1))
    began = (await account_of(own_database, caller)).plan_started_at
    if not given_up:
        with own_database.transaction() as session:
            session.get_one(Payment, slow.id).status = "open"
    with pytest.raises(ReceiptRefusedError, match="begun already"):
        await receive(own_database, slow, now=LATER + timedelta(days=3))
    assert (await read(own_database, slow)).status == ("rejected" if given_up else "open")
    assert (await account_of(own_database, caller)).plan_started_at == began
    assert not await receive(own_database, again), "what is only told twice is no other money"


async def test_a_trial_becomes_a_plan(own_database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(own_database, digester, plan="trial", now=NOW)
    payment = await order_plan(own_database, caller)
    assert await approve(own_database, payment)
    found = await standing(own_database, caller)
    assert (found.plan, found.trial_ends_at, found.included) == ("growth", None, 1000)


async def test_what_cannot_be_credited_stays_open(own_database: Database, caller: Caller) -> None:
    payment = await order_plan(own_database, caller)
    without = PlanBook(plans={name: plan for name, plan in PLANS.plans.items() if name != "growth"}, topup_packs=(50,))
    with pytest.raises(ValueError, match="no plan 'growth'"):
        await approve(own_database, payment, without)
    assert (await read(own_database, payment)).status == "open"
    assert await approve(own_database, payment)


async def test_a_rejected_order_says_why_and_cannot_be_approved(own_database: Database, caller: Caller) -> None:
    payment = await order_pack(own_database, caller)
    assert await reject(own_database, payment)
    closed = await read(own_database, payment)
    assert (closed.status, closed.note, closed.closed_by) == ("rejected", "No money came.", OPERATOR)
    assert not await approve(own_database, payment)
    assert not await reject(own_database, payment)
    assert await entries(own_database, caller) == []


@pytest.mark.parametrize("note", ["", "   ", "x" * 201])
async def test_a_rejection_has_a_reason_that_fits(own_database: Database, caller: Caller, note: str) -> None:
    payment = await order_pack(own_database, caller)
    with own_database.transaction() as session, pytest.raises(ValueError, match="200 characters"):
        payments.reject(session, payment_id=payment.id, note=note, now=LATER)
    assert (await read(own_database, payment)).status == "open"


async def test_an_order_that_never_was_is_no_success(own_database: Database) -> None:
    with own_database.transaction() as session:
        with pytest.raises(ValueError, match="there is no payment"):
            payments.approve(session, PLANS, payment_id=uuid.uuid4(), now=NOW)
        with pytest.raises(ValueError, match="there is no payment"):
            payments.reject(session, payment_id=uuid.uuid4(), note="why", now=NOW)


async def test_only_its_owner_withdraws_and_finds_an_order(
    own_database: Database, digester: KeyDigester, caller: Caller
) -> None:
    stranger = await create_caller(own_database, digester)
    payment = await order_pack(own_database, caller)
    assert not await withdraw(own_database, payment, stranger.account_id)
    with own_database.reading() as session:
        assert payments.find_payment(session, payment_id=payment.id, account_id=stranger.account_id) is None
    assert await withdraw(own_database, payment)
    closed = await read(own_database, payment)
    assert (closed.status, closed.closed_by, closed.note) == ("rejected", caller.account_id, None)


async def test_money_that_came_is_credited_even_after_the_order_was_given_up(
    own_database: Database, caller: Caller
) -> None:
    payment = await order_pack(own_database, caller, "stripe")
    assert await withdraw(own_database, payment)
    assert await receive(own_database, payment)
    assert not await receive(own_database, payment)
    assert not await reject(own_database, payment)
    closed = await read(own_database, payment)
    assert (closed.status, closed.closed_by, closed.reference) == ("paid", None, f"cs_{payment.id}")
    assert (await standing(own_database, caller)).topup_remaining == 250


async def test_money_for_an_order_that_was_approved_by_hand_is_other_money(
    own_database: Database, caller: Caller
) -> None:
    """Its page at the provider's may be open still."""
    payment = await order_pack(own_database, caller, "stripe")
    await own_database.write(payments.note_reference, payment_id=payment.id, reference=f"cs_{payment.id}")
    assert await approve(own_database, payment)
    for _ in range(2):
        with pytest.raises(ReceiptRefusedError, match="other means"):
            await receive(own_database, payment)
    closed = await read(own_database, payment)
    assert (closed.status, closed.closed_by, closed.reference) == ("paid", OPERATOR, None)
    assert (await standing(own_database, caller)).topup_remaining == 250


@pytest.mark.parametrize(("cents", "provider"), [(4999, "stripe"), (500_000, "stripe"), (5000, "manual")])
async def test_a_receipt_that_does_not_fit_credits_nothing(
    own_database: Database, caller: Caller, cents: int, provider: str
) -> None:
    payment = await order_pack(own_database, caller, "stripe")
    with pytest.raises(ReceiptRefusedError):
        await receive(own_database, payment, cents, provider)
    assert (await read(own_database, payment)).status == "open"
    assert await entries(own_database, caller) == []


async def test_a_reference_is_kept_while_the_order_is_open(own_database: Database, caller: Caller) -> None:
    payment = await order_pack(own_database, caller, "stripe")
    with own_database.transaction() as session:
        assert payments.note_reference(session, payment_id=payment.id, reference="cs_1")
    assert await withdraw(own_database, payment)
    with own_database.transaction() as session:
        assert not payments.note_reference(session, payment_id=payment.id, reference="cs_2")
    assert (await read(own_database, payment)).reference == "cs_1"


async def test_what_waits_is_listed_oldest_first_with_its_owner(
    own_database: Database, digester: KeyDigester, caller: Caller
) -> None:
    other = await create_caller(own_database, digester, now=NOW)
    first, second = await order_pack(own_database, caller), await order_pack(own_database, other)
    done = await order_pack(own_database, other)
    await approve(own_database, done)
    waiting = sorted([first, second], key=lambda payment: payment.id)
    with own_database.reading() as session:
        rows = payments.page_of_all(session, limit=1)
        rows += payments.page_of_all(session, limit=5, after=(rows[0][0].created_at, rows[0][0].id))
        assert len(payments.page_of_all(session, limit=5, status=None)) == 3
    assert [payment.id for payment, _ in rows] == [payment.id for payment in waiting]
    assert {email for _, email in rows} == {(await account_of(own_database, each)).email for each in (caller, other)}


async def test_an_account_that_goes_leaves_nothing_open(own_database: Database, caller: Caller) -> None:
    kept, given_up = await order_pack(own_database, caller), await order_pack(own_database, caller)
    await approve(own_database, kept)
    await own_database.write(
        payments.reject_open_of_account, account_id=caller.account_id, note="The account was erased.", now=LATER
    )
    assert [(await read(own_database, each)).status for each in (kept, given_up)] == ["paid", "rejected"]


async def test_money_for_an_account_that_was_erased_is_for_somebody_to_look_at(
    own_database: Database, caller: Caller
) -> None:
    """Its page at the provider's may outlive it by a day; a pack on it would be money that nobody can use."""
    payment = await order_pack(own_database, caller, "stripe")
    await own_database.write(erasure.begin_erasure, account_id=caller.account_id, now=LATER)
    for pay in (receive, approve):
        with pytest.raises(ReceiptRefusedError, match="was erased"):
            await pay(own_database, payment)
    assert (await read(own_database, payment)).status == "open"
    await own_database.write(erasure.finish_erasure, account_id=caller.account_id, now=LATER)
    with pytest.raises(ReceiptRefusedError):
        await receive(own_database, payment)
    assert (await read(own_database, payment)).status == "rejected"
    assert await entries(own_database, caller) == []


@pytest.mark.databases("postgresql")
async def test_money_that_comes_while_its_account_is_erased_is_refused_too(
    own_database: Database, caller: Caller
) -> None:
    payment = await order_pack(own_database, caller, "stripe")
    receipt = Receipt("stripe", "cs_1", payment.price_cents)
    with pytest.raises(ReceiptRefusedError, match="was erased"):
        await outcome_beside(
            own_database,
            lambda session: erasure.begin_erasure(session, account_id=caller.account_id, now=LATER),
            lambda session: payments.receive(session, PLANS, payment_id=payment.id, receipt=receipt, now=LATER),
        )
    assert await entries(own_database, caller) == []
