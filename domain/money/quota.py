"""Spending generations: what an account may start, and what becomes of a reservation.

Every account has allowances: its trial, or the included volume of the current period, and any top-up packs. A job
reserves one generation of one allowance when it is accepted; the reservation is settled when the job completes and
released when it fails, in the allowance it came from, whatever period it is by then. Counters move by conditional
updates that find no row once there is nothing left, on SQLite and PostgreSQL alike.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from sqlalchemy import case, func, or_, select, update
from sqlalchemy.orm import Session

from domain.errors import TryOnError
from domain.money.ledger import add_entry
from domain.money.plans import Period, PlanBook, Terms, month_around, seconds_to_next_day, terms_of, trial_from
from domain.tables import Account, Allowance, DailyUsage, Job, rows_changed

CLOCK_SKEW = timedelta(minutes=1)
"""How far apart the clocks of hosts may be: what one has just opened is not in the future of another."""

TRIAL, INCLUDED, TOPUP = "trial", "included", "topup"


def period_of(account: Account, terms: Terms, now: datetime) -> Period:
    """The period that ``now`` lies in; a trial has only one, which may be over."""
    if terms.trial_days is not None:
        return trial_from(account.plan_started_at, terms.trial_days)
    return month_around(account.plan_started_at, now)


def lock_account(session: Session, *, account_id: uuid.UUID) -> Account:
    """The account, held until the transaction ends: what is accepted, granted or blocked waits for its turn.

    SQLite has taken its one write lock by then.
    """
    return session.scalars(select(Account).where(Account.id == account_id).with_for_update(key_share=True)).one()


def spendable(session: Session, *, account_id: uuid.UUID, now: datetime) -> Sequence[Allowance]:
    """Allowances that count at ``now``, in the order they are spent: the plan's volume, then packs, oldest first.

    Packs that are used up are left out: an account may have bought hundreds.
    """
    is_left = Allowance.reserved + Allowance.settled < Allowance.generations
    return session.scalars(
        select(Allowance)
        .where(
            Allowance.account_id == account_id,
            Allowance.starts_at <= now + CLOCK_SKEW,
            or_(Allowance.ends_at.is_(None), Allowance.ends_at > now),
            or_(Allowance.source != TOPUP, is_left),
        )
        .order_by(case((Allowance.source == TOPUP, 1), else_=0), Allowance.starts_at, Allowance.id)
    ).all()


def reserved_by(session: Session, *, account_id: uuid.UUID) -> int:
    """Generations of jobs in progress, those of a period that is over by now too."""
    reserved = session.scalar(select(func.sum(Allowance.reserved)).where(Allowance.account_id == account_id))
    return int(reserved or 0)


def used_today(session: Session, *, account_id: uuid.UUID, now: datetime) -> int:
    """Generations that were started on this day (UTC) and did not fail."""
    usage = session.get(DailyUsage, (account_id, now.astimezone(UTC).date()))
    return usage.reserved + usage.settled if usage else 0


def generations_left(session: Session, plans: PlanBook, *, account: Account, now: datetime) -> int:
    """How many jobs the account could still pay for at ``now``, whatever the day's cap says."""
    return sum(what_is_left(session, plans, account=account, now=now))


def what_is_left(session: Session, plans: PlanBook, *, account: Account, now: datetime) -> tuple[int, int]:
    """The same: of the plan's volume, and in packs."""
    terms = terms_of(account, plans)
    period = period_of(account, terms, now)
    opened = _opened_for(session, account, terms, period)
    allowances = spendable(session, account_id=account.id, now=now)
    packs = sum(each.left for each in allowances if each.source == TOPUP)
    included = sum(each.left for each in allowances if each.source != TOPUP and each is not opened)
    if period.start <= now + CLOCK_SKEW and period.end > now:  # as the next job finds it, see `_open_period`
        included += terms.included if opened is None else opened.left
    return included, packs


@dataclass(frozen=True)
class Usage:
    """An account's standing at one moment; every count is in generations.

    Attributes:
        period: The current one; a trial that is over shows its only one.
        included: What the plan gives for the period.
        used: Completed jobs that were taken from it.
        reserved: Jobs in progress, whatever they are taken from.
        daily_used: What was started today (UTC) and did not fail.
    """

    plan: str
    period: Period
    included: int
    used: int
    reserved: int
    topup_remaining: int
    daily_cap: int
    daily_used: int
    trial_ends_at: datetime | None


@dataclass(frozen=True)
class Volume:
    """What an account can still start, and what its plan includes in the period, in generations."""

    left: int
    included: int
    period_start: datetime


@dataclass(frozen=True)
class Reserved:
    """A generation that was set aside.

    Attributes:
        allowance_id: What it was taken from.
        day: The day (UTC) under whose cap it counts.
        volume: What is left after it.
    """

    allowance_id: uuid.UUID
    day: date
    volume: Volume


def usage_of(session: Session, plans: PlanBook, *, account_id: uuid.UUID, now: datetime) -> Usage:
    """What ``GET /api/v1/usage`` and the dashboard show; nothing is changed by looking."""
    account = session.get_one(Account, account_id)
    terms = terms_of(account, plans)
    period = period_of(account, terms, now)
    opened = _opened_for(session, account, terms, period)
    allowances = spendable(session, account_id=account_id, now=now)
    packs = [each for each in allowances if each.source == TOPUP]
    volume = [each for each in allowances if each.source != TOPUP and each is not opened]
    if opened is not None:
        volume.append(opened)  # a trial that is over still shows what was used of it
    return Usage(
        plan=account.plan,
        period=period,
        included=terms.included,
        used=sum(each.settled for each in volume),
        reserved=reserved_by(session, account_id=account_id),
        topup_remaining=sum(each.left for each in packs),
        daily_cap=terms.daily_cap,
        daily_used=used_today(session, account_id=account_id, now=now),
        trial_ends_at=period.end if terms.trial_days is not None else None,
    )


def check(session: Session, plans: PlanBook, *, account_id: uuid.UUID, now: datetime) -> None:
    """Look whether a job could be accepted, without changing anything; `reserve` has the last word.

    Raises:
        TryOnError: ``trial_ended`` or ``volume_exhausted`` (402), ``daily_cap_reached`` (429).
    """
    account = session.get_one(Account, account_id)
    terms = terms_of(account, plans)
    if generations_left(session, plans, account=account, now=now) < 1:
        raise _nothing_left(terms)
    if used_today(session, account_id=account_id, now=now) >= terms.daily_cap:
        raise _cap_reached(now)


def reserve(session: Session, plans: PlanBook, *, account: Account, job_id: uuid.UUID, now: datetime) -> Reserved:
    """Set one generation aside for a job, in the transaction that adds it and has locked the account.

    Raises:
        TryOnError: ``trial_ended`` or ``volume_exhausted`` (402), ``daily_cap_reached`` (429). Whoever catches it
            has to roll back.
    """
    terms = terms_of(account, plans)
    _open_period(session, account, terms, now)
    found = spendable(session, account_id=account.id, now=now)
    left = sum(each.left for each in found) - 1  # taking changes the rows and not what was read of them
    for allowance in found:
        if _take(session, allowance.id):
            break
    else:
        raise _nothing_left(terms)
    day = now.astimezone(UTC).date()
    if not _take_daily(session, account.id, day, terms.daily_cap):
        raise _cap_reached(now)
    add_entry(session, "reserve", account.id, allowance.id, job_id=job_id, at=now)
    return Reserved(allowance.id, day, Volume(left, terms.included, period_of(account, terms, now).start))


def settle(session: Session, job: Job, *, now: datetime) -> None:
    """Turn the job's reservation into a generation that was spent. A test key's job has none."""
    _close(session, job, settled=1, now=now)


def release(session: Session, job: Job, *, now: datetime) -> None:
    """Give the job's reservation back. A test key's job has none."""
    _close(session, job, settled=0, now=now)


def add_topup(
    session: Session,
    plans: PlanBook,
    *,
    account_id: uuid.UUID,
    generations: int,
    now: datetime,
    pack_id: uuid.UUID | None = None,
) -> Allowance:
    """Credit a pack that was paid for; callers that may ask twice name its id, and ask `find_pack` first.

    Raises:
        ValueError: There is no pack of that size, or the account's plan cannot be topped up.
    """
    account = lock_account(session, account_id=account_id)
    price_cents = topup_price(plans, account, generations=generations)
    return credit_pack(
        session, account_id=account_id, generations=generations, price_cents=price_cents, now=now, pack_id=pack_id
    )


def find_pack(session: Session, *, account_id: uuid.UUID, pack_id: uuid.UUID) -> Allowance | None:
    """The pack of this id; the account is locked, so that nobody else credits one to it meanwhile.

    Raises:
        ValueError: The id is that of something else.
    """
    lock_account(session, account_id=account_id)
    pack = session.get(Allowance, pack_id)
    if pack is not None and (pack.account_id, pack.source) != (account_id, TOPUP):
        raise ValueError(f"{pack_id} is no pack of this account")
    return pack


def topup_price(plans: PlanBook, account: Account, *, generations: int) -> int:
    """What a pack of this size costs the account now, in US cents; raises as `add_topup`."""
    if generations not in plans.topup_packs:
        sizes = ", ".join(str(size) for size in plans.topup_packs)
        raise ValueError(f"there is no top-up pack of {generations}; packs are {sizes}")
    terms = terms_of(account, plans)
    if terms.extra_cents is None:
        raise ValueError(f"plan {account.plan!r} cannot be topped up")
    return generations * terms.extra_cents


def credit_pack(
    session: Session,
    *,
    account_id: uuid.UUID,
    generations: int,
    price_cents: int,
    now: datetime,
    pack_id: uuid.UUID | None = None,
) -> Allowance:
    """Credit a pack that was paid for at this price, whatever packs there are by now."""
    lock_account(session, account_id=account_id)
    pack = Allowance(
        id=pack_id, account_id=account_id, source=TOPUP, generations=generations, starts_at=now, price_cents=price_cents
    )
    return _opened(session, pack, now)


def end_period(session: Session, *, account_id: uuid.UUID, now: datetime) -> None:
    """Let the plan's volume end now, with whatever is left of it; packs stay."""
    session.execute(
        update(Allowance)
        .where(Allowance.account_id == account_id, Allowance.source != TOPUP, Allowance.ends_at > now)
        .values(ends_at=now)
    )


def _open_period(session: Session, account: Account, terms: Terms, now: datetime) -> None:
    """Make sure that the period's volume can be spent, for as long as the plan says by now.

    The account is locked, so nobody else does the same.
    """
    period = period_of(account, terms, now)
    opened = _opened_for(session, account, terms, period)
    if opened is None:
        volume = Allowance(
            account_id=account.id,
            source=_source_of(terms),
            generations=terms.included,
            starts_at=period.start,
            ends_at=period.end,
            price_cents=terms.monthly_cents,
        )
        _opened(session, volume, now)
    elif opened.ends_at != period.end:  # the days of its trial were changed in the file of plans
        opened.ends_at = period.end


def _opened_for(session: Session, account: Account, terms: Terms, period: Period) -> Allowance | None:
    """The period's volume, once a job has opened it."""
    return session.scalar(
        select(Allowance).where(
            Allowance.account_id == account.id,
            Allowance.source == _source_of(terms),
            Allowance.starts_at == period.start,
        )
    )


def _source_of(terms: Terms) -> str:
    return INCLUDED if terms.trial_days is None else TRIAL


def _opened(session: Session, allowance: Allowance, now: datetime) -> Allowance:
    allowance.id, allowance.reserved, allowance.settled = allowance.id or uuid.uuid4(), 0, 0
    session.add(allowance)
    # No relationship ties the two tables, so the allowance has to be there before the entry that points at it.
    session.flush()
    kind: Literal["topup", "grant"] = "topup" if allowance.source == TOPUP else "grant"
    add_entry(session, kind, allowance.account_id, allowance.id, generations=allowance.generations, at=now)
    return allowance


def _take(session: Session, allowance_id: uuid.UUID) -> bool:
    is_left = Allowance.reserved + Allowance.settled + 1 <= Allowance.generations
    take = update(Allowance).where(Allowance.id == allowance_id, is_left).values(reserved=Allowance.reserved + 1)
    return rows_changed(session, take) > 0


def _take_daily(session: Session, account_id: uuid.UUID, day: date, cap: int) -> bool:
    if session.get(DailyUsage, (account_id, day)) is None:
        session.add(DailyUsage(account_id=account_id, day=day, reserved=0, settled=0))
        session.flush()
    is_left = DailyUsage.reserved + DailyUsage.settled + 1 <= cap
    take = update(DailyUsage).where(DailyUsage.account_id == account_id, DailyUsage.day == day, is_left)
    return rows_changed(session, take.values(reserved=DailyUsage.reserved + 1)) > 0


def _close(session: Session, job: Job, *, settled: int, now: datetime) -> None:
    if job.allowance_id is None:
        return
    day = (DailyUsage.account_id == job.account_id, DailyUsage.day == job.counted_on)
    for counted, which in ((Allowance, (Allowance.id == job.allowance_id,)), (DailyUsage, day)):
        moved = {"reserved": counted.reserved - 1, "settled": counted.settled + settled}
        rows_changed(session, update(counted).where(*which).values(moved))
    add_entry(session, "settle" if settled else "release", job.account_id, job.allowance_id, job_id=job.id, at=now)


def _nothing_left(terms: Terms) -> TryOnError:
    return TryOnError("volume_exhausted" if terms.trial_days is None else "trial_ended")


def _cap_reached(now: datetime) -> TryOnError:
    return TryOnError("daily_cap_reached", retry_after=seconds_to_next_day(now))
