"""What is asked of the database while jobs pile up: a page, a poll, a sweep, the check of the ledger."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from bench.dashboard.account import BusyAccount, write_account
from bench.growth.curve import Point, milliseconds
from domain import migrations
from domain.access.keys import KeyDigester
from domain.counts import count_jobs
from domain.jobs import job_history, jobs
from domain.jobs.job_history import JobFilter
from domain.jobs.jobs import NewJob
from domain.money import ledger
from domain.money.plans import PlanBook, load_plans
from runtime.database import Database
from runtime.settings import DatabaseSettings

SIZES = (1_000, 10_000, 100_000, 1_000_000)

LARGEST_ACCOUNT = 100_000
"""Jobs of one account; further ones belong to other accounts, as large."""

TIMES, TIMES_OF_CHECKS = 30, 3
LATELY = timedelta(days=30)
PAGE = 50


def measure(folder: Path, sizes: tuple[int, ...] = SIZES) -> Iterator[Point]:
    """Every point, in a database that grows from size to size.

    Args:
        folder: For a SQLite file.
        sizes: Rows of jobs, in rising order.
    """
    settings = DatabaseSettings(url=f"sqlite:///{folder / 'growth.sqlite'}")
    with closing(Database(settings)) as database:
        migrations.upgrade(database.engine)
        busy: BusyAccount | None = None
        for there, size in pairwise((0, *sizes)):
            for count in _accounts(there, size):
                with database.transaction() as session:
                    busy = _written(session, count)
            if busy is not None:
                yield from _at(database, busy, size)


def _accounts(there: int, size: int) -> Iterator[int]:
    """Jobs of the accounts to add, so that there are so many jobs in all."""
    left = size - there
    while left > 0:
        yield min(left, LARGEST_ACCOUNT)
        left -= LARGEST_ACCOUNT


def _written(session: Session, count: int) -> BusyAccount:
    digester = KeyDigester("bench" * 8)
    return write_account(session, load_plans(), digester, now=datetime.now(UTC), jobs=count, products=100)


def _at(database: Database, busy: BusyAccount, size: int) -> Iterator[Point]:
    """What is asked, of the newest account."""
    plans = load_plans()
    now, account_id = datetime.now(UTC), busy.account_id
    first = (now - LATELY).date()

    def overview(session: Session) -> None:
        job_history.jobs_per_day(session, account_id=account_id, first=first, last=now.date())
        job_history.durations_since(session, account_id=account_id, first=first)
        job_history.last_failures(session, account_id=account_id, limit=5)

    def sweep(session: Session) -> None:
        jobs.list_expired(session, limit=500, unkept_for=timedelta(days=1))
        jobs.delete_old(session, finished_before=now - timedelta(days=365), limit=500)

    failed = JobFilter(error_code="cancelled")
    asked: dict[str, Any] = {
        "a poll": lambda session: jobs.find_job(session, job_id=busy.completed_job_id, account_id=account_id),
        "a page of jobs": lambda session: job_history.list_jobs(session, account_id=account_id, limit=PAGE),
        "a page of one error": lambda session: job_history.list_jobs(
            session, account_id=account_id, limit=PAGE, wanted=failed
        ),
        "the overview's figures": overview,
        "a page of the ledger": lambda session: ledger.page_of_account(session, account_id=account_id, limit=PAGE),
        "the gauges of jobs": lambda session: count_jobs(session, now=now),
        "open jobs, for the reconciler": lambda session: jobs.list_all_open(session, accepted_before=now),
        "the check of the ledger": ledger.check_ledger,
    }
    for name, question in asked.items():
        times = TIMES_OF_CHECKS if question is ledger.check_ledger else TIMES

        def ask(question: Any = question) -> None:
            with database.reading() as session:
                question(session)

        yield Point(name, size, milliseconds(ask, times), "ms")
    yield Point("a job accepted", size, milliseconds(lambda: _accept(database, plans, account_id), TIMES), "ms")

    def swept() -> None:
        with database.transaction() as session:
            sweep(session)

    yield Point("a purge with nothing due", size, milliseconds(swept, TIMES), "ms")


def _accept(database: Database, plans: PlanBook, account_id: uuid.UUID) -> None:
    new = NewJob(uuid.uuid4(), account_id, None, "single", {"priority": 2}, timedelta(minutes=5))
    with database.transaction() as session:
        jobs.accept_job(session, plans, new, now=datetime.now(UTC))
