from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from domain import products
from domain.access.keys import KeyDigester
from domain.jobs import job_history, jobs
from domain.jobs.job_history import Booking, JobFilter
from domain.money import quota
from domain.products import public_id
from domain.tables import Account, Allowance, BackfillItem, Job
from runtime.database import Database
from tests.factories import PLANS, Caller, create_caller, new_job

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
async def caller(database: Database, digester: KeyDigester) -> Caller:
    return await create_caller(database, digester, plan="scale", now=NOW - timedelta(days=20))


async def accepted(
    database: Database, caller: Caller, *, at: datetime = NOW, error_code: str | None = None, **fields: Any
) -> uuid.UUID:
    new = new_job(caller, **fields)
    with database.transaction() as session:
        jobs.accept_job(session, PLANS, new, now=at)
        if error_code is not None:
            jobs.fail_job(session, job_id=new.job_id, error_code=error_code, keep=HOUR, now=at)
    return new.job_id


async def completed(database: Database, job_id: uuid.UUID, now: datetime = NOW) -> None:
    await database.write(jobs.complete_job, job_id=job_id, result_key="r", engine="warp", report={}, keep=HOUR, now=now)


async def registered(database: Database, account_id: uuid.UUID, name: str) -> str:
    values = {"name": name, "category": "upper_body", "front": {"key": "k", "sha256": "0" * 64}}
    with database.transaction() as session:
        saved = products.register_product(session, account_id=account_id, new_id=uuid.uuid4(), values=values)
        return public_id(saved.product.id)


async def listed(database: Database, caller: Caller, **asked: Any) -> list[uuid.UUID]:
    found = await database.read(
        job_history.list_jobs, account_id=caller.account_id, limit=50, wanted=JobFilter(**asked)
    )
    return [job.id for job in found.jobs]


async def test_pages_follow_one_another_without_gap_or_repetition(database: Database, caller: Caller) -> None:
    # Three of one moment: their order is that of their ids.
    moments = [NOW, NOW, NOW, NOW - HOUR, NOW + HOUR]
    ids = {await accepted(database, caller, at=at) for at in moments}
    seen: list[tuple[datetime, uuid.UUID]] = []
    with database.reading() as session:
        while True:
            found = job_history.list_jobs(
                session, account_id=caller.account_id, limit=2, before=seen[-1] if seen else None
            )
            seen += [(job.created_at, job.id) for job in found.jobs]
            if found.next is None:
                break
            assert found.next == seen[-1]
    assert {job_id for _, job_id in seen} == ids
    assert len(seen) == 5
    assert [moment for moment, _ in seen] == sorted(moments, reverse=True)


async def test_a_list_is_of_one_account(database: Database, digester: KeyDigester, caller: Caller) -> None:
    stranger = await create_caller(database, digester, now=NOW)
    job_id = await accepted(database, caller)
    assert await listed(database, caller) == [job_id]
    assert await listed(database, stranger) == []
    with database.reading() as session:
        assert job_history.find_record(session, account_id=stranger.account_id, job_id=job_id) is None


async def test_every_filter_leaves_out_the_others(database: Database, caller: Caller) -> None:
    combo = await accepted(database, caller, kind="combo", at=NOW + 4 * HOUR)
    done = await accepted(database, caller, at=NOW + 3 * HOUR)
    await completed(database, done, NOW + 3 * HOUR)
    late = await accepted(database, caller, at=NOW + 2 * HOUR, error_code="timed_out")
    lost = await accepted(database, caller, at=NOW + HOUR, error_code="person_not_found")
    test = await accepted(database, caller, at=NOW, test=True)
    assert await listed(database, caller) == [combo, done, late, lost, test]
    assert await listed(database, caller, status="failed") == [late, lost]
    assert await listed(database, caller, status="processing", test=False) == [combo]
    assert await listed(database, caller, kind="combo") == [combo]
    assert await listed(database, caller, error_code="timed_out") == [late]
    assert await listed(database, caller, test=True) == [test]
    assert await listed(database, caller, since=NOW + HOUR, until=NOW + 3 * HOUR) == [late, lost]
    assert await listed(database, caller, status="completed", kind="combo") == []
    codes = await database.read(job_history.list_error_codes, account_id=caller.account_id)
    assert codes == ["person_not_found", "timed_out"]


async def test_jobs_are_found_by_what_their_callers_know(
    database: Database, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    shirt = await registered(database, caller.account_id, "Linen shirt")
    orders = [{"orderId": str(number), "shop": "o'brien"} for number in range(6)]
    ids = [
        await accepted(database, caller, at=NOW + number * HOUR, metadata=order) for number, order in enumerate(orders)
    ]
    worn = await accepted(
        database, caller, at=NOW + 9 * HOUR, products=[{"index": 0, "id": shirt, "revision": 1}], metadata=orders[3]
    )
    assert await listed(database, caller, metadata={"orderId": "3"}) == [worn, ids[3]]
    assert await listed(database, caller, metadata={"orderId": "3"}, product=shirt) == [worn]
    assert await listed(database, caller, metadata={"shop": "o'brien", "orderId": "5"}) == [ids[5]]
    assert await listed(database, caller, metadata={"orderid": "3"}) == []
    monkeypatch.setattr(job_history, "MOST_SEARCHED", 3)
    pages, before = [], None
    while True:
        wanted = JobFilter(metadata={"orderId": "0"})
        with database.reading() as session:
            page = job_history.list_jobs(session, account_id=caller.account_id, limit=5, wanted=wanted, before=before)
        pages.append([job.id for job in page.jobs])
        if (before := page.next) is None:
            break
    assert pages == [[], [], [ids[0]]]


async def test_the_beginning_of_an_id_leads_to_the_job(
    database: Database, digester: KeyDigester, caller: Caller
) -> None:
    job_id, stranger = await accepted(database, caller), await create_caller(database, digester, now=NOW)
    with database.reading() as session:
        for beginning in (str(job_id), str(job_id)[:8], str(job_id)[:14]):
            found = job_history.with_prefix(session, account_id=caller.account_id, prefix=beginning, limit=2)
            assert found == [job_id]
        assert job_history.with_prefix(session, account_id=stranger.account_id, prefix=job_id.hex, limit=2) == []
        for text in ("nonsense", f"{job_id}0", str(job_id)[:7]):
            with pytest.raises(ValueError, match=r"badly formed|invalid literal|at least"):
                job_history.with_prefix(session, account_id=caller.account_id, prefix=text, limit=2)


async def test_products_go_by_the_name_they_have_now(database: Database, digester: KeyDigester, caller: Caller) -> None:
    stranger = await create_caller(database, digester, now=NOW)
    shirt, theirs = (
        await registered(database, caller.account_id, "Linen shirt"),
        await registered(database, stranger.account_id, "Secret"),
    )
    used = [{"index": index, "id": each, "revision": 2} for index, each in enumerate((shirt, theirs, "test_slow"))]
    job_id = await accepted(database, caller, products=used)
    with database.reading() as session:
        (job,) = job_history.list_jobs(session, account_id=caller.account_id, limit=5).jobs
        record = job_history.find_record(session, account_id=caller.account_id, job_id=job_id)
    assert [(each.id, each.name) for each in job.products] == [
        (shirt, "Linen shirt"),
        (theirs, None),
        ("test_slow", None),
    ]
    assert record
    assert record.product_names == {shirt: "Linen shirt"}


async def test_a_record_says_what_it_was_booked_on(database: Database, caller: Caller) -> None:
    job_id = await accepted(database, caller)
    await completed(database, job_id, NOW + timedelta(seconds=9))
    with database.reading() as session:
        record = job_history.find_record(session, account_id=caller.account_id, job_id=job_id)
        assert record
        allowance = session.get_one(Allowance, record.job.allowance_id)
    span = ("included", allowance.starts_at, allowance.ends_at)
    assert record.bookings == [
        Booking("reserve", NOW, *span),
        Booking("settle", NOW + timedelta(seconds=9), *span),
    ]
    assert record.key
    assert (record.key.id, record.backfill_id, record.test) == (caller.key_id, None, False)


async def test_a_pack_is_told_from_the_volume(database: Database, caller: Caller) -> None:
    with database.transaction() as session:
        account = session.get_one(Account, caller.account_id)
        account.custom_included = 0
        quota.add_topup(session, PLANS, account_id=caller.account_id, generations=50, now=NOW - timedelta(days=2))
    job_id = await accepted(database, caller)
    record = await database.read(job_history.find_record, account_id=caller.account_id, job_id=job_id)
    assert record
    assert record.bookings == [Booking("reserve", NOW, "topup", NOW - timedelta(days=2), None)]


async def test_a_backfill_is_named_and_a_test_costs_nothing(database: Database, caller: Caller) -> None:
    item, test = await accepted(database, caller), await accepted(database, caller, test=True)
    with database.transaction() as session:
        session.get_one(Job, item).api_key_id = None
        session.add(
            BackfillItem(account_id=caller.account_id, key="sku-1", job_id=item, backfill_id="spring", touched_at=NOW)
        )
    with database.reading() as session:
        records = [job_history.find_record(session, account_id=caller.account_id, job_id=each) for each in (item, test)]
    assert [(each.backfill_id, each.test, len(each.bookings)) for each in records if each] == [
        ("spring", False, 1),
        (None, True, 0),
    ]
