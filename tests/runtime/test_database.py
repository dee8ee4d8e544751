from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session

from runtime.database import Database
from runtime.settings import DatabaseSettings


@pytest.fixture
def settings(tmp_path: Path) -> DatabaseSettings:
    return DatabaseSettings(url=f"sqlite+aiosqlite:///{tmp_path}/deep/down/tryon.db", busy_timeout_seconds=0.2)


async def test_the_folder_is_made_and_sqlite_is_one_without_the_log_bug(settings: DatabaseSettings) -> None:
    database = Database(settings)
    async with database.reading() as session:
        version = await session.scalar(text("SELECT sqlite_version()"))
        assert await session.scalar(text("PRAGMA journal_mode")) == "wal"
    await database.close()
    assert tuple(int(part) for part in str(version).split(".")) >= (3, 51, 3)


async def test_many_that_read_and_then_write_wait_for_each_other(settings: DatabaseSettings) -> None:
    database = Database(settings.model_copy(update={"busy_timeout_seconds": 10.0}))
    async with database.transaction() as session:
        await session.execute(text("CREATE TABLE counter (value INTEGER)"))
        await session.execute(text("INSERT INTO counter VALUES (0)"))

    async def increment() -> None:
        async with database.transaction() as session:
            value = await session.scalar(text("SELECT value FROM counter"))
            await session.execute(text("UPDATE counter SET value = :value"), {"value": (value or 0) + 1})

    await asyncio.gather(*(increment() for _ in range(40)))
    async with database.reading() as session:
        assert await session.scalar(text("SELECT value FROM counter")) == 40
    await database.close()


async def test_work_done_in_threads_waits_for_its_turn_too(settings: DatabaseSettings) -> None:
    database = Database(settings.model_copy(update={"busy_timeout_seconds": 10.0}))

    def increment(session: Session) -> int:
        value = 1 + (session.scalar(text("SELECT value FROM counter")) or 0)
        session.execute(text("UPDATE counter SET value = :value"), {"value": value})
        return value

    await database.write(lambda session: session.execute(text("CREATE TABLE counter (value INTEGER)")))
    await database.write(lambda session: session.execute(text("INSERT INTO counter VALUES (0)")))
    values = await asyncio.gather(*(database.write(increment) for _ in range(40)))
    assert sorted(values) == list(range(1, 41))
    assert await database.read(lambda session: session.scalar(text("SELECT value FROM counter"))) == 40
    await database.close()


async def test_work_that_raises_leaves_nothing_and_its_thread_goes_on(settings: DatabaseSettings) -> None:
    database = Database(settings)

    def fail(session: Session) -> None:
        session.execute(text("INSERT INTO notes VALUES (1)"))
        raise RuntimeError("in the middle")

    await database.write(lambda session: session.execute(text("CREATE TABLE notes (value INTEGER)")))
    with pytest.raises(RuntimeError, match="in the middle"):
        await database.write(fail)
    assert await database.read(lambda session: session.scalar(text("SELECT count(*) FROM notes"))) == 0
    await database.close()


async def test_a_reader_does_not_wait_for_a_writer(settings: DatabaseSettings) -> None:
    database = Database(settings.model_copy(update={"busy_timeout_seconds": 60.0}))
    async with database.transaction() as session:
        await session.execute(text("CREATE TABLE held (value INTEGER)"))
        async with asyncio.timeout(30), database.reading() as reader:
            await database.ping()
            await reader.scalar(text("SELECT 1"))
    await database.close()


async def test_a_lock_that_is_held_too_long_is_an_error_of_the_database(settings: DatabaseSettings) -> None:
    database, another_process = Database(settings), Database(settings)
    async with another_process.transaction() as holder:
        await holder.execute(text("CREATE TABLE held (value INTEGER)"))
        with pytest.raises(OperationalError, match="locked"):
            async with database.transaction() as waiter:
                await waiter.execute(text("CREATE TABLE waited (value INTEGER)"))
    await database.close()
    await another_process.close()


async def test_a_writer_of_the_same_process_waits_no_longer(settings: DatabaseSettings) -> None:
    database = Database(settings)
    async with database.transaction() as holder:
        await holder.execute(text("CREATE TABLE held (value INTEGER)"))
        with pytest.raises(PoolTimeoutError):
            async with database.transaction() as waiter:
                await waiter.execute(text("CREATE TABLE waited (value INTEGER)"))
    await database.close()


async def test_nobody_waits_longer_for_a_connection_than_for_a_lock(database_url: str) -> None:
    database = Database(DatabaseSettings(url=database_url, pool_size=1, busy_timeout_seconds=0.2))
    async with AsyncExitStack() as held, asyncio.timeout(20):
        with pytest.raises(PoolTimeoutError):
            while True:
                session = await held.enter_async_context(database.reading())
                await session.execute(text("SELECT 1"))
    await database.close()


async def test_work_in_threads_waits_no_longer(settings: DatabaseSettings) -> None:
    database = Database(settings)
    async with database.transaction() as holder:
        await holder.execute(text("CREATE TABLE held (value INTEGER)"))
        works = [database.write(lambda session: session.execute(text("DROP TABLE held"))) for _ in range(3)]
        async with asyncio.timeout(5):
            outcomes = await asyncio.gather(*works, return_exceptions=True)
    # The first has the connection and finds the lock taken; the others wait for the connection.
    assert all(isinstance(outcome, OperationalError | PoolTimeoutError) for outcome in outcomes), outcomes
    await database.close()


async def test_errors_do_not_tell_what_was_written(database: Database) -> None:
    """They end up in logs, and what is written may be the hash of a password or a link that lets somebody in."""

    def fail(session: Session) -> None:
        session.execute(text("INSERT INTO nothing_of_this_name VALUES (:value)"), {"value": "a secret of somebody"})

    with pytest.raises(DBAPIError) as in_thread:
        await database.write(fail)
    with pytest.raises(DBAPIError) as in_loop:
        async with database.transaction() as session:
            await session.run_sync(fail)
    for raised in (in_thread, in_loop):
        assert "nothing_of_this_name" in str(raised.value)
        assert "a secret of somebody" not in str(raised.value)
