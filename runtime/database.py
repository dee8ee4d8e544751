"""Connections and transactions. One session is one transaction, committed where the ``async with`` ends.

Python's own SQLite may be one of the versions (3.7.0 to 3.51.2) whose write-ahead log can be corrupted when
two processes checkpoint at once, so the SQLite that the ``pysqlite3`` wheel carries is used instead.
"""

from __future__ import annotations

import types
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
import pysqlite3.dbapi2 as fixed_sqlite
from sqlalchemy import event, make_url, text
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_dbapi
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from runtime.settings import DatabaseSettings

_READ_ONLY = "tryon_read_only"
_POSTGRESQL_SNAPSHOT = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


def _sqlite_driver() -> AsyncAdapt_aiosqlite_dbapi:
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


def _sqlite_engine(settings: DatabaseSettings, *, durable: bool, connections: int) -> AsyncEngine:
    url = make_url(settings.url)
    if url.database and url.database != ":memory:":
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_async_engine(
        url,
        module=_sqlite_driver(),
        pool_size=connections,
        max_overflow=0,
        pool_timeout=settings.busy_timeout_seconds,
        connect_args={"timeout": settings.busy_timeout_seconds},
    )

    @event.listens_for(engine.sync_engine, "connect")
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

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Any) -> None:
        # A read that turns into a write fails at once under contention, whatever the busy timeout; taking the
        # write lock first waits for it instead.
        read_only = connection.get_execution_options().get(_READ_ONLY, False)
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    return engine


def _postgres_engine(settings: DatabaseSettings, *, durable: bool) -> AsyncEngine:
    milliseconds = round(1000 * settings.busy_timeout_seconds)
    server_settings = {"lock_timeout": str(milliseconds)} | ({} if durable else {"synchronous_commit": "off"})
    return create_async_engine(
        settings.url,
        pool_size=settings.pool_size,
        max_overflow=settings.pool_size,
        pool_pre_ping=True,
        connect_args={"server_settings": server_settings, "timeout": settings.busy_timeout_seconds},
    )


class Database:
    """The one way to the tables."""

    def __init__(self, settings: DatabaseSettings, *, durable: bool = True) -> None:
        """Connect when first used.

        Args:
            settings: Where the database is.
            durable: Whether what is committed survives a power cut. Without, a commit does not wait for the disk:
                for what may be forgotten then, such as request rates. No commit of others becomes less durable by it.
        """
        if settings.url.startswith("sqlite"):
            # Whoever finds the write lock taken sleeps and tries again, and may sleep long past its turn. Writers of
            # one process had better queue for one connection, which is handed on at once.
            self.engine = _sqlite_engine(settings, durable=durable, connections=1)
            self._reading_engine = _sqlite_engine(settings, durable=durable, connections=settings.pool_size)
            snapshot: dict[str, object] = {_READ_ONLY: True}
        else:
            self.engine = self._reading_engine = _postgres_engine(settings, durable=durable)
            snapshot = _POSTGRESQL_SNAPSHOT
        self._writers = async_sessionmaker(self.engine, expire_on_commit=False)
        self._readers = async_sessionmaker(
            self._reading_engine.execution_options(**snapshot), expire_on_commit=False, autoflush=False
        )

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """A session that may write; commits at the end of the block, rolls back when it raises."""
        async with self._writers() as session, session.begin():
            yield session

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        """A session that only reads; takes no write lock and sees one state of the database throughout."""
        async with self._readers() as session, session.begin():
            yield session

    async def ping(self) -> None:
        """Raise if the database cannot be read."""
        async with self.reading() as session:
            await session.execute(text("SELECT 1"))

    async def close(self) -> None:
        await self.engine.dispose()
        await self._reading_engine.dispose()
