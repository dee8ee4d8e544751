"""What is asked again and again costs the same for an old account as for a new one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event

from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.counts import count_jobs
from domain.jobs import jobs
from domain.money import quota
from runtime.database import Database
from tests.factories import PLANS, create_caller, new_job

PACK = min(PLANS.topup_packs)


@contextmanager
def statements(database: Database) -> Iterator[list[tuple[str, Any]]]:
    """What is asked of the database meanwhile, with its parameters."""
    asked: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_more: Any) -> None:
        asked.append((statement, parameters))

    engines = {database.engine, database.reading_engine}
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    yield asked
    for engine in engines:
        event.remove(engine, "before_cursor_execute", note)


async def test_packs_that_are_used_up_cost_a_job_nothing(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=0, daily_cap=1000))
    counts = []
    for _ in range(3):
        with database.transaction() as session:
            quota.add_topup(
                session, PLANS, account_id=caller.account_id, generations=PACK, now=datetime.now(UTC)
            ).settled = PACK - 1
        with statements(database) as asked:
            await database.write(jobs.accept_job, PLANS, new_job(caller), now=datetime.now(UTC))
        counts.append(len(asked))
    assert counts[1] == counts[2]


@pytest.mark.databases("sqlite")
def test_questions_about_open_jobs_find_the_index_of_open_jobs(database: Database) -> None:
    now = datetime.now(UTC)
    with statements(database) as asked, database.reading() as session:
        jobs.list_all_open(session, accepted_before=now)
        jobs.list_open(session, older_than=timedelta(0), limit=5)
        jobs.list_unstarted(session, older_than=timedelta(0), limit=5)
        count_jobs(session, now=now)
    questions = [each for each in asked if "FROM job" in each[0]]
    with database.reading() as session:
        plans = [
            str(session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {said}", parameters).all())
            for said, parameters in questions
        ]
    assert len(plans) == 6
    for plan in plans:
        assert any(index in plan for index in ("ix_job_open", "ix_job_unstarted", "ix_job_with_result")), plan
