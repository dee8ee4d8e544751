"""What may be spent, and in which order."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from domain import accounts
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.errors import TryOnError
from domain.jobs import jobs
from domain.money import quota
from domain.money.ledger import check_ledger, entries_of_account
from domain.money.plans import PlanBook, load_plans
from domain.money.quota import Usage, usage_of
from runtime.database import Database
from tests.factories import PLANS, Caller, create_caller, new_job

BORN = datetime(2026, 1, 31, 10, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
ROOMY = OwnTerms(daily_cap=1000)


def trials_of(days: int) -> PlanBook:
    """Another file of plans, where trials last so long."""
    return PlanBook(
        plans={**PLANS.plans, "trial": PLANS.get("trial").model_copy(update={"trial_days": days})}, topup_packs=(50,)
    )


async def accept(
    database: Database, caller: Caller, now: datetime, plans: PlanBook = PLANS, *, test: bool = False
) -> uuid.UUID:
    new = new_job(caller, test=test)
    await database.write(jobs.accept_job, plans, new, now=now)
    return new.job_id


async def refusal(database: Database, caller: Caller, now: datetime, plans: PlanBook = PLANS) -> TryOnError:
    """What both the look beforehand and the transaction itself say."""
    with pytest.raises(TryOnError) as looked, database.reading() as session:
        quota.check(session, plans, account_id=caller.account_id, now=now)
    with pytest.raises(TryOnError) as decided:
        await accept(database, caller, now, plans)
    assert looked.value.code == decided.value.code
    return decided.value


async def end(database: Database, job_id: uuid.UUID, *, completed: bool) -> None:
    with database.transaction() as session:
        now = jobs.get_job(session, job_id=job_id).created_at + timedelta(minutes=1)
        if completed:
            jobs.complete_job(session, job_id=job_id, result_key="r", engine="warp", report={}, keep=HOUR, now=now)
        else:
            jobs.fail_job(session, job_id=job_id, error_code="timed_out", keep=HOUR, now=now)


async def usage(database: Database, caller: Caller, now: datetime) -> Usage:
    return await database.read(usage_of, PLANS, account_id=caller.account_id, now=now)


async def top_up(database: Database, caller: Caller, generations: int, now: datetime) -> int:
    with database.transaction() as session:
        return quota.add_topup(
            session, PLANS, account_id=caller.account_id, generations=generations, now=now
        ).price_cents


@pytest.mark.parametrize(
    ("name", "monthly", "included", "extra", "cap"),
    [
        ("trial", "0", 10, None, 10),
        ("starter", "49.99", 250, "0.20", 50),
        ("growth", "149.00", 1000, "0.16", 200),
        ("scale", "399.00", 3000, "0.12", 600),
        ("enterprise", None, None, None, None),
    ],
)
def test_the_plans_are_the_contracts(
    name: str, monthly: str | None, included: int | None, extra: str | None, cap: int | None
) -> None:
    plan = load_plans().get(name)
    prices = [None if price is None else Decimal(price) for price in (monthly, extra)]
    assert [plan.monthly_price, plan.extra_price] == prices
    assert (plan.included, plan.daily_cap) == (included, cap)


async def test_a_fresh_account_has_its_whole_volume(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, now=BORN)
    found = await usage(database, caller, BORN + HOUR)
    assert (found.included, found.used, found.reserved, found.daily_used, found.trial_ends_at) == (250, 0, 0, 0, None)
    assert (found.period.start, found.period.end) == (BORN, datetime(2026, 2, 28, 10, tzinfo=UTC))


async def test_a_job_is_reserved_then_used_or_given_back(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, now=BORN)
    first, second = [await accept(database, caller, BORN + HOUR) for _ in range(2)]
    found = await usage(database, caller, BORN + HOUR)
    assert (found.used, found.reserved, found.daily_used) == (0, 2, 2)
    await end(database, first, completed=True)
    await end(database, second, completed=False)
    found = await usage(database, caller, BORN + HOUR)
    assert (found.used, found.reserved, found.daily_used) == (1, 0, 1)
    with database.reading() as session:
        [volume] = quota.spendable(session, account_id=caller.account_id, now=BORN + HOUR)
        assert volume.price_cents == 4999


async def test_a_trial_ends_after_ten_generations(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, plan="trial", own_terms=OwnTerms(daily_cap=99), now=BORN)
    started = [await accept(database, caller, BORN + HOUR) for _ in range(10)]
    assert (await refusal(database, caller, BORN + HOUR)).code == "trial_ended"
    await end(database, started[0], completed=False)
    await accept(database, caller, BORN + HOUR)  # a failed one does not count


async def test_a_trial_ends_after_seven_days(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, plan="trial", now=BORN)
    await accept(database, caller, BORN + 7 * DAY - timedelta(seconds=1))
    refused = await refusal(database, caller, BORN + 7 * DAY)
    assert (refused.code, refused.entry.status, refused.retry_after) == ("trial_ended", 402, None)
    found = await usage(database, caller, BORN + 8 * DAY)
    assert (found.trial_ends_at, found.reserved, found.included) == (BORN + 7 * DAY, 1, 10)


async def left(database: Database, caller: Caller, now: datetime, plans: PlanBook = PLANS) -> int:
    """What the look beforehand says; a job takes one of these, and its own transaction has to say the same."""
    with database.reading() as session:
        account = accounts.get_account(session, account_id=caller.account_id)
        return quota.generations_left(session, plans, account=account, now=now)


async def test_a_trial_lasts_as_long_as_the_plan_says_by_now(database: Database, digester: KeyDigester) -> None:
    caller, longer, shorter = (
        await create_caller(database, digester, plan="trial", now=BORN),
        trials_of(14),
        trials_of(3),
    )
    assert await left(database, caller, BORN, longer) == 10
    await end(database, await accept(database, caller, BORN), completed=True)
    assert (await refusal(database, caller, BORN + 8 * DAY)).code == "trial_ended"
    assert await left(database, caller, BORN + 8 * DAY, longer) == 9
    assert (await database.read(usage_of, longer, account_id=caller.account_id, now=BORN + 8 * DAY)).used == 1
    await accept(database, caller, BORN + 8 * DAY, longer)
    assert await left(database, caller, BORN + 13 * DAY, longer) == 8
    assert (await refusal(database, caller, BORN + 14 * DAY, longer)).code == "trial_ended"
    assert (await refusal(database, caller, BORN + 4 * DAY, shorter)).code == "trial_ended"
    assert (await usage(database, caller, BORN + 15 * DAY)).used == 1
    with database.reading() as session:
        assert [each for each in check_ledger(session) if each.account_id == caller.account_id] == []
        entries = entries_of_account(session, account_id=caller.account_id, limit=10)
    assert [each.kind for each in entries].count("grant") == 1


async def test_a_clock_that_is_behind_sees_the_plan_that_was_just_paid(
    database: Database, digester: KeyDigester
) -> None:
    caller, changed = await create_caller(database, digester, own_terms=OwnTerms(included=1), now=BORN), BORN + 3 * DAY
    await accept(database, caller, BORN)
    await database.write(accounts.change_plan, PLANS, account_id=caller.account_id, plan="growth", now=changed)
    behind = changed - timedelta(seconds=5)
    for expected in (1000, 999):
        assert await left(database, caller, behind) == expected
        await accept(database, caller, behind)
    far_behind = changed - 2 * quota.CLOCK_SKEW
    assert (await refusal(database, caller, far_behind)).code == "volume_exhausted"


async def test_included_volume_renews_and_does_not_roll_over(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=replace(ROOMY, included=2), now=BORN)
    await accept(database, caller, BORN + HOUR)
    for _ in range(2):
        await accept(database, caller, BORN + 29 * DAY)
    assert (await refusal(database, caller, BORN + 29 * DAY)).code == "volume_exhausted"


async def test_a_job_is_settled_in_the_period_it_was_accepted_in(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, now=BORN)
    late = await accept(database, caller, BORN + 27 * DAY)
    next_month = BORN + 29 * DAY
    await end(database, late, completed=True)
    assert (await usage(database, caller, next_month)).used == 0
    assert (await usage(database, caller, BORN + 27 * DAY)).used == 1


async def test_included_volume_goes_before_packs_and_older_packs_first(
    database: Database, digester: KeyDigester
) -> None:
    caller = await create_caller(database, digester, own_terms=replace(ROOMY, included=1), now=BORN)
    assert await top_up(database, caller, 50, BORN + HOUR) == 50 * 20
    assert await top_up(database, caller, 250, BORN + 2 * HOUR) == 250 * 20
    now = BORN + 3 * HOUR
    await accept(database, caller, now)
    assert (await usage(database, caller, now)).topup_remaining == 300
    for _ in range(51):
        await accept(database, caller, now)
    with database.reading() as session:
        left = [
            each.generations - each.reserved for each in quota.spendable(session, account_id=caller.account_id, now=now)
        ]
    assert left == [0, 249]  # a pack that is used up is left out


async def test_packs_do_not_expire(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=replace(ROOMY, included=0), now=BORN)
    assert (await refusal(database, caller, BORN + HOUR)).code == "volume_exhausted"
    await top_up(database, caller, 50, BORN + HOUR)
    late = BORN + 900 * DAY
    await end(database, await accept(database, caller, late), completed=True)
    found = await usage(database, caller, late)
    assert (found.used, found.topup_remaining) == (0, 49), "what a pack paid for is not counted as the plan's"
    with database.reading() as session:
        entries = entries_of_account(session, account_id=caller.account_id, limit=10)
    assert sorted(each.kind for each in entries) == ["grant", "reserve", "settle", "topup"]


@pytest.mark.parametrize(("plan", "generations"), [("starter", 51), ("starter", 0), ("trial", 50)])
async def test_there_are_only_the_packs_that_there_are(
    database: Database, digester: KeyDigester, plan: str, generations: int
) -> None:
    caller = await create_caller(database, digester, plan=plan, now=BORN)
    with pytest.raises(ValueError, match="top"):
        await top_up(database, caller, generations, BORN)


async def test_the_daily_cap_is_lifted_at_midnight_utc(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(daily_cap=1), now=BORN)
    evening = datetime(2026, 2, 1, 23, 59, 30, tzinfo=UTC)
    await accept(database, caller, evening)
    refused = await refusal(database, caller, evening)
    assert (refused.code, refused.entry.status, refused.retry_after) == ("daily_cap_reached", 429, 30)
    await accept(database, caller, evening + timedelta(seconds=30))


async def test_a_failed_job_gives_its_place_of_the_day_back(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(daily_cap=1), now=BORN)
    await end(database, await accept(database, caller, BORN), completed=False)
    await accept(database, caller, BORN)


async def test_where_both_quotas_are_out_it_is_money(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=1, daily_cap=1), now=BORN)
    await accept(database, caller, BORN)
    assert (await refusal(database, caller, BORN)).code == "volume_exhausted"


async def test_a_refused_job_leaves_nothing(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(daily_cap=0), now=BORN)
    await refusal(database, caller, BORN)
    found = await usage(database, caller, BORN)
    assert (found.reserved, found.daily_used) == (0, 0)


async def test_a_test_keys_job_costs_nothing(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=0, daily_cap=0), now=BORN)
    job_id = await accept(database, caller, BORN, test=True)
    await end(database, job_id, completed=True)
    assert (await usage(database, caller, BORN)).daily_used == 0


async def test_a_blocked_account_is_refused_in_the_transaction_too(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, now=BORN)
    await database.write(accounts.block_account, account_id=caller.account_id, reason="abuse", now=BORN)
    with pytest.raises(TryOnError, match="account_blocked"):
        await accept(database, caller, BORN)
    await database.write(accounts.unblock_account, account_id=caller.account_id)
    await accept(database, caller, BORN)


async def test_a_plan_that_is_changed_begins_a_new_period(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=replace(ROOMY, included=60), now=BORN)
    await top_up(database, caller, 50, BORN)
    await accept(database, caller, BORN)
    changed = BORN + 3 * DAY
    await database.write(accounts.change_plan, PLANS, account_id=caller.account_id, plan="growth", now=changed)
    found = await usage(database, caller, changed)
    assert (found.plan, found.included, found.used, found.topup_remaining) == ("growth", 1000, 0, 50)
    assert found.period.start == changed


async def test_an_enterprise_account_needs_terms_of_its_own(database: Database, digester: KeyDigester) -> None:
    with pytest.raises(ValueError, match="own"):
        await create_caller(database, digester, plan="enterprise")
    agreed = OwnTerms(included=40_000, daily_cap=5_000, monthly_price=Decimal(4000), extra_price=Decimal("0.08"))
    caller = await create_caller(database, digester, plan="enterprise", own_terms=agreed, now=BORN)
    found = await usage(database, caller, BORN)
    assert (found.included, found.daily_cap) == (40_000, 5_000)
    assert await top_up(database, caller, 1000, BORN) == 8000


async def test_nobody_goes_back_to_a_trial(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, now=BORN)
    with pytest.raises(ValueError, match="trial"), database.transaction() as session:
        accounts.change_plan(session, PLANS, account_id=caller.account_id, plan="trial", now=BORN)
