"""Engines over SQLite files.

Python's own SQLite may be one of the versions (3.7.0 to 3.51.2) whose write-ahead log can be corrupted when
two processes checkpoint at once, so the SQLite that the ``pysqlite3`` wheel carries is used instead.
"""

from __future__ import annotations

import asyncio
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
import pysqlite3.dbapi2 as fixed_sqlite
from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_dbapi
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from runtime.settings import DatabaseSettings

READ_ONLY = "tryon_read_only"
"""Execution option of an engine whose transactions take no write lock."""

Answer = TypeVar("Answer")


def async_sqlite_engine(settings: DatabaseSettings, *, durable: bool, connections: int) -> AsyncEngine:
    """An engine for `AsyncSession`: each statement goes to the connection's own thread and back."""
    engine = create_async_engine(
        _file(settings),
        module=_async_driver(),
        pool_size=connections,
        max_overflow=0,
        hide_parameters=True,  # of statements that fail: they end up in logs
        pool_timeout=settings.busy_timeout_seconds,
        connect_args={"timeout": settings.busy_timeout_seconds},
    )
    _configure(engine.sync_engine, durable=durable)
    return engine


class SqliteThreads:
    """Whole transactions in threads: one way there and one back, however many statements they have.

    Where threads contend for Python's lock each crossing can take milliseconds, and a transaction of two statements
    over aiosqlite crosses ten times.
    """

    def __init__(self, settings: DatabaseSettings, *, durable: bool, connections: int, read_only: bool) -> None:
        """Connect when first used; arguments as in `async_sqlite_engine`."""
        self._longest_wait = settings.busy_timeout_seconds
        self._threads = ThreadPoolExecutor(connections, "sqlite")
        self._engine = create_engine(
            _file(settings).set(drivername="sqlite"),
            module=fixed_sqlite,
            pool_size=connections,
            max_overflow=0,
            hide_parameters=True,
            connect_args={"timeout": settings.busy_timeout_seconds, "check_same_thread": False},
        )
        _configure(self._engine, durable=durable)
        self._sessions = sessionmaker(
            self._engine.execution_options(**{READ_ONLY: read_only}), expire_on_commit=False, autoflush=not read_only
        )

    async def run(self, work: Callable[[Session], Answer]) -> Answer:
        """Do ``work`` in a transaction of its own.

        Raises:
            DBAPIError: Another process held the write lock for too long.
            sqlalchemy.exc.TimeoutError: Others of this process did.
        """
        latest = time.monotonic() + self._longest_wait
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._transaction, work, latest)

    def _transaction(self, work: Callable[[Session], Answer], latest: float) -> Answer:
        if time.monotonic() > latest:
            raise PoolTimeoutError(f"no connection to SQLite was free within {self._longest_wait} s")
        with self._sessions() as session, session.begin():
            return work(session)

    async def close(self) -> None:
        """Wait for what is under way and let go of the connections."""
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()


def _file(settings: DatabaseSettings) -> URL:
    url = make_url(settings.url)
    if url.database and url.database != ":memory:":
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    return url


def _async_driver() -> AsyncAdapt_aiosqlite_dbapi:
    """SQLAlchemy's aiosqlite adapter over pysqlite3, with pysqlite3's own exception classes."""

    def connect(database: str, **options: Any) -> aiosqlite.Connection:
        return aiosqlite.Connection(lambda: fixed_sqlite.connect(database, **options), iter_chunk_size=64)

    driver = types.ModuleType("aiosqlite_over_pysqlite3")
    errors = ("DatabaseError", "Error", "IntegrityError", "NotSupportedError", "OperationalError", "ProgrammingError")
    for name in (*errors, "sqlite_version", "sqlite_version_info"):
        setattr(driver, name, getattr(fixed_sqlite, name))
    driver.connect = connect  # type: ignore[attr-defined]  # a module made at run time
    driver.Connection = aiosqlite.Connection  # type: ignore[attr-defined]  # likewise
    driver.__version__ = aiosqlite.__version__  # type: ignore[attr-defined]  # likewise
    return AsyncAdapt_aiosqlite_dbapi(driver, fixed_sqlite)


def _configure(engine: Engine, *, durable: bool) -> None:
    @event.listens_for(engine, "connect")
    def configure(connection: Any, _entry: ConnectionPoolEntry) -> None:
        # The driver must not open transactions of its own: it would open them too late (see `begin`).
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        # FULL: a committed ledger row survives a power cut, at the price of waiting for the disk at each commit.
        cursor.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA recursive_triggers=ON")  # or REPLACE would get past the ledger's triggers
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        # A read that turns into a write fails at once under contention, whatever the busy timeout; taking the
        # write lock first waits for it instead.
        read_only = connection.get_execution_options().get(READ_ONLY, False)
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")
