"""Connections and transactions. One session is one transaction, committed where the ``async with`` ends."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import Session

from runtime.settings import DatabaseSettings
from runtime.sqlite import READ_ONLY, SqliteThreads, async_sqlite_engine

_POSTGRESQL_SNAPSHOT = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}

OnCommit = Callable[[Mapping[Any, Any]], None]
"""Told what a transaction has left in its session's ``info``, once it is committed."""

Answer = TypeVar("Answer")


def _postgres_engine(settings: DatabaseSettings, *, durable: bool) -> AsyncEngine:
    milliseconds = round(1000 * settings.busy_timeout_seconds)
    server_settings = {"lock_timeout": str(milliseconds)} | ({} if durable else {"synchronous_commit": "off"})
    return create_async_engine(
        settings.url,
        pool_size=settings.pool_size,
        max_overflow=settings.pool_size,
        pool_timeout=settings.busy_timeout_seconds,
        pool_pre_ping=True,
        hide_parameters=True,  # of statements that fail: they end up in logs
        connect_args={"server_settings": server_settings, "timeout": settings.busy_timeout_seconds},
    )


class Database:
    """The one way to the tables.

    `transaction` and `reading` are for most things. `write` and `read` do the same for what every request does: there
    the work is one plain function, and cheaper on SQLite (see `runtime.sqlite.SqliteThreads`).
    """

    def __init__(
        self, settings: DatabaseSettings, *, durable: bool = True, on_commit: OnCommit = lambda _info: None
    ) -> None:
        """Connect when first used.

        Args:
            settings: Where the database is.
            durable: Whether what is committed survives a power cut. Without, a commit does not wait for the disk:
                for what may be forgotten then, such as request rates. No commit of others becomes less durable by it.
            on_commit: Called after every commit of `transaction`; it must not raise, since what is done is done.
        """
        self._on_commit = on_commit
        self._writing_threads: SqliteThreads | None = None
        self._reading_threads: SqliteThreads | None = None
        if settings.url.startswith("sqlite"):
            # Whoever finds the write lock taken sleeps and tries again, and may sleep long past its turn. Writers of
            # one process had better queue for one connection, which is handed on at once.
            self.engine = async_sqlite_engine(settings, durable=durable, connections=1)
            self._reading_engine = async_sqlite_engine(settings, durable=durable, connections=settings.pool_size)
            self._writing_threads = SqliteThreads(settings, durable=durable, connections=1, read_only=False)
            self._reading_threads = SqliteThreads(
                settings, durable=durable, connections=settings.pool_size, read_only=True
            )
            snapshot: dict[str, object] = {READ_ONLY: True}
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
        async with self._writers() as session:
            async with session.begin():
                yield session
            self._on_commit(session.info)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        """A session that only reads; takes no write lock and sees one state of the database throughout."""
        async with self._readers() as session, session.begin():
            yield session

    async def write(self, work: Callable[[Session], Answer]) -> Answer:
        """Do ``work``, which waits for nothing but the database, in a transaction like that of `transaction`."""
        if self._writing_threads:
            return await self._writing_threads.run(work)
        async with self.transaction() as session:
            return await session.run_sync(work)

    async def read(self, work: Callable[[Session], Answer]) -> Answer:
        """Do ``work``, which waits for nothing but the database, in a transaction like that of `reading`."""
        if self._reading_threads:
            return await self._reading_threads.run(work)
        async with self.reading() as session:
            return await session.run_sync(work)

    async def ping(self) -> None:
        """Raise if the database cannot be read."""
        await self.read(lambda session: session.execute(text("SELECT 1")))

    async def close(self) -> None:
        await self.engine.dispose()
        await self._reading_engine.dispose()
        for threads in (self._writing_threads, self._reading_threads):
            if threads:
                await threads.close()
