from __future__ import annotations

import asyncio
import threading
import time
from contextlib import ExitStack, closing
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
    return DatabaseSettings(url=f"sqlite:///{tmp_path}/deep/down/tryon.db", busy_timeout_seconds=0.2)


async def test_the_folder_is_made_and_sqlite_is_one_without_the_log_bug(settings: DatabaseSettings) -> None:
    database = Database(settings)
    with database.reading() as session:
        version = session.scalar(text("SELECT sqlite_version()"))
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"
    database.close()
    assert tuple(int(part) for part in str(version).split(".")) >= (3, 51, 3)


async def test_many_that_read_and_then_write_wait_for_each_other(settings: DatabaseSettings) -> None:
    database = Database(settings.model_copy(update={"busy_timeout_seconds": 10.0}))
    with database.transaction() as session:
        session.execute(text("CREATE TABLE counter (value INTEGER)"))
        session.execute(text("INSERT INTO counter VALUES (0)"))

    async def increment() -> None:
        with database.transaction() as session:
            value = session.scalar(text("SELECT value FROM counter"))
            session.execute(text("UPDATE counter SET value = :value"), {"value": (value or 0) + 1})

    await asyncio.gather(*(increment() for _ in range(40)))
    with database.reading() as session:
        assert session.scalar(text("SELECT value FROM counter")) == 40
    database.close()


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
    database.close()


async def test_who_is_cancelled_knows_what_became_of_the_work(settings: DatabaseSettings) -> None:
    database, begun = Database(settings), threading.Event()
    await database.write(lambda session: session.execute(text("CREATE TABLE notes (value INTEGER)")))

    def slow(session: Session) -> None:
        begun.set()
        time.sleep(0.2)
        session.execute(text("INSERT INTO notes VALUES (1)"))

    under_way = asyncio.create_task(database.write(slow))
    await asyncio.to_thread(begun.wait, 30)
    queued = asyncio.create_task(database.write(slow))
    await asyncio.sleep(0)
    for task in (under_way, queued):
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await under_way
    assert await database.read(lambda session: session.scalar(text("SELECT count(*) FROM notes"))) == 1
    with pytest.raises(asyncio.CancelledError):
        await queued
    database.close()
    with closing(Database(settings)) as again, again.reading() as session:
        assert session.scalar(text("SELECT count(*) FROM notes")) == 1


async def test_work_that_raises_leaves_nothing_and_its_thread_goes_on(settings: DatabaseSettings) -> None:
    database = Database(settings)

    def fail(session: Session) -> None:
        session.execute(text("INSERT INTO notes VALUES (1)"))
        raise RuntimeError("in the middle")

    await database.write(lambda session: session.execute(text("CREATE TABLE notes (value INTEGER)")))
    with pytest.raises(RuntimeError, match="in the middle"):
        await database.write(fail)
    assert await database.read(lambda session: session.scalar(text("SELECT count(*) FROM notes"))) == 0
    database.close()


async def test_a_reader_does_not_wait_for_a_writer(settings: DatabaseSettings) -> None:
    database = Database(settings.model_copy(update={"busy_timeout_seconds": 60.0}))
    with database.transaction() as session:
        session.execute(text("CREATE TABLE held (value INTEGER)"))
        async with asyncio.timeout(30):
            await database.ping()
        with database.reading() as reader:
            reader.scalar(text("SELECT 1"))
    database.close()


async def test_a_lock_that_is_held_too_long_is_an_error_of_the_database(settings: DatabaseSettings) -> None:
    database, another_process = Database(settings), Database(settings)
    with another_process.transaction() as holder:
        holder.execute(text("CREATE TABLE held (value INTEGER)"))
        with pytest.raises(OperationalError, match="locked"), database.transaction() as waiter:
            waiter.execute(text("CREATE TABLE waited (value INTEGER)"))
    database.close()
    another_process.close()


async def test_a_writer_of_the_same_process_waits_no_longer(settings: DatabaseSettings) -> None:
    database = Database(settings)
    with database.transaction() as holder:
        holder.execute(text("CREATE TABLE held (value INTEGER)"))
        with pytest.raises(PoolTimeoutError), database.transaction() as waiter:
            waiter.execute(text("CREATE TABLE waited (value INTEGER)"))
    database.close()


async def test_nobody_waits_longer_for_a_connection_than_for_a_lock(database_url: str) -> None:
    database = Database(DatabaseSettings(url=database_url, pool_size=1, busy_timeout_seconds=0.2))
    with ExitStack() as held, pytest.raises(PoolTimeoutError):
        while True:
            session = held.enter_context(database.reading())
            session.execute(text("SELECT 1"))
    database.close()


async def test_work_in_threads_waits_no_longer(settings: DatabaseSettings) -> None:
    database = Database(settings)
    with database.transaction() as holder:
        holder.execute(text("CREATE TABLE held (value INTEGER)"))
        works = [database.write(lambda session: session.execute(text("DROP TABLE held"))) for _ in range(3)]
        async with asyncio.timeout(5):
            outcomes = await asyncio.gather(*works, return_exceptions=True)
    # The first has the connection and finds the lock taken; the others wait for the connection.
    assert all(isinstance(outcome, OperationalError | PoolTimeoutError) for outcome in outcomes), outcomes
    database.close()


async def test_errors_do_not_tell_what_was_written(database: Database) -> None:
    """They end up in logs, and what is written may be the hash of a password or a link that lets somebody in."""

    def fail(session: Session) -> None:
        session.execute(text("INSERT INTO nothing_of_this_name VALUES (:value)"), {"value": "a secret of somebody"})

    with pytest.raises(DBAPIError) as in_thread:
        await database.write(fail)
    with pytest.raises(DBAPIError) as in_loop, database.transaction() as session:
        fail(session)
    for raised in (in_thread, in_loop):
        assert "nothing_of_this_name" in str(raised.value)
        assert "a secret of somebody" not in str(raised.value)


@pytest.mark.databases("postgresql")
async def test_who_says_nothing_in_mid_transaction_does_not_keep_the_rows(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a process does whose machine is gone."""
    monkeypatch.setattr("runtime.database.IDLE_IN_TRANSACTION_SECONDS", 0.3)
    silent, other = [Database(DatabaseSettings(url=database_url, busy_timeout_seconds=5.0)) for _ in range(2)]
    lock = text("SELECT pg_advisory_xact_lock(4711)")
    with pytest.raises(DBAPIError), silent.transaction() as session:
        session.execute(lock)
        began = time.monotonic()
        await other.write(lambda waiting: waiting.execute(lock))
        assert time.monotonic() - began < 4
        session.execute(text("SELECT 1"))  # it comes back, and is told
    for each in (silent, other):
        each.close()
