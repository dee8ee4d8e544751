"""The database itself refuses to change what was written into the ledger, whoever asks."""

from __future__ import annotations

import uuid

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.exc import DBAPIError

from domain.access.keys import KeyDigester
from domain.tables import LedgerEntry
from runtime.database import Database
from tests.factories import create_caller, create_job

APPEND_ONLY = "the ledger is append-only"


@pytest.fixture
async def job_id(database: Database, digester: KeyDigester) -> uuid.UUID:
    return await create_job(database, await create_caller(database, digester))


async def entries(database: Database, job_id: uuid.UUID) -> list[tuple[str, int]]:
    with database.reading() as session:
        rows = session.scalars(select(LedgerEntry).where(LedgerEntry.job_id == job_id))
        return [(row.kind, row.generations) for row in rows]


async def test_an_entry_cannot_be_changed(database: Database, job_id: uuid.UUID) -> None:
    with pytest.raises(DBAPIError, match=APPEND_ONLY), database.transaction() as session:
        session.execute(update(LedgerEntry).where(LedgerEntry.job_id == job_id).values(generations=0))
    assert await entries(database, job_id) == [("reserve", 1)]


async def test_an_entry_cannot_be_deleted(database: Database, job_id: uuid.UUID) -> None:
    with pytest.raises(DBAPIError, match=APPEND_ONLY), database.transaction() as session:
        session.execute(delete(LedgerEntry).where(LedgerEntry.job_id == job_id))
    assert await entries(database, job_id) == [("reserve", 1)]


async def test_not_even_by_an_insert_that_meets_it(database: Database, job_id: uuid.UUID) -> None:
    upsert = (
        "INSERT INTO ledger SELECT * FROM ledger WHERE job_id = :job_id ON CONFLICT (id) DO UPDATE SET generations = 7"
    )
    with pytest.raises(DBAPIError, match=APPEND_ONLY), database.transaction() as session:
        session.execute(text(upsert), {"job_id": job_id.hex})
    assert await entries(database, job_id) == [("reserve", 1)]


async def test_the_table_cannot_be_emptied(own_database: Database) -> None:
    if own_database.engine.dialect.name == "sqlite":
        pytest.skip("SQLite has no TRUNCATE")
    with pytest.raises(DBAPIError, match=APPEND_ONLY), own_database.transaction() as session:
        session.execute(text("TRUNCATE ledger"))
    with pytest.raises(DBAPIError, match=APPEND_ONLY), own_database.transaction() as session:
        session.execute(text("TRUNCATE account CASCADE"))


async def test_replacing_a_row_is_deleting_it(database: Database, job_id: uuid.UUID) -> None:
    if database.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL has no REPLACE")
    columns = "id, account_id, allowance_id, job_id, kind, at"
    taken = f"SELECT {columns}, 7 FROM ledger WHERE job_id = :job_id"  # noqa: S608  # constants
    replace = f"INSERT OR REPLACE INTO ledger ({columns}, generations) {taken}"
    with pytest.raises(DBAPIError, match=APPEND_ONLY), database.transaction() as session:
        session.execute(text(replace), {"job_id": job_id.hex})
    assert await entries(database, job_id) == [("reserve", 1)]
