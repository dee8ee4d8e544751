"""Connections and transactions. One session is one transaction: committed at the end, rolled back when it raises.

Work on the database is a plain function that gets a session. It runs in a thread of the database's own, in one way
there and one back: a driver that returns to the event loop at every statement takes four times the processor time for
the same transaction, and where threads contend for Python's lock, fifteen times (docs/decisions/0017).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import pysqlite3.dbapi2 as fixed_sqlite
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from runtime.settings import DatabaseSettings

OnCommit = Callable[[Mapping[Any, Any]], None]
"""Gets the ``info`` of a transaction's session, once it is committed."""

Answer = TypeVar("Answer")
Parameters = ParamSpec("Parameters")
Work = Callable[Concatenate[Session, Parameters], Answer]

_READ_ONLY, _RELAXED = "tryon_read_only", "tryon_relaxed"
"""Execution options of an engine: its transactions take no write lock; its commits do not wait for the disk."""


IDLE_IN_TRANSACTION_SECONDS = 60.0
"""After which PostgreSQL ends a transaction in which nothing was asked. The machine of the process may be gone, or the
network to it, and the server would otherwise hold the rows that it had locked for two hours. Ours take milliseconds."""

_KEPT_ALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
"""So that a server whose machine is gone is given up after a minute, and not after a quarter of an hour."""


def _session_settings(lock_timeout_ms: int) -> dict[str, int]:
    """Of each session at the server, which looks for dead clients as we look for it."""
    of_the_network = {f"tcp_{name}": value for name, value in _KEPT_ALIVE.items() if name.startswith("keepalives")}
    idle = round(1000 * IDLE_IN_TRANSACTION_SECONDS)
    return {"lock_timeout": lock_timeout_ms, "idle_in_transaction_session_timeout": idle, **of_the_network}


class Database:
    """The one way to the tables.

    `write`, `write_relaxed` and `read` are for code on an event loop; `transaction` and `reading` are the same for code
    that may wait.
    """

    def __init__(self, settings: DatabaseSettings, *, on_commit: OnCommit = lambda _info: None) -> None:
        """Connect when first used.

        After every commit ``on_commit`` is called, in the thread that made it; it must not raise.
        """
        self._longest_wait = settings.busy_timeout_seconds
        self._on_commit = on_commit
        if make_url(settings.url).get_backend_name() == "sqlite":
            # A writer that finds SQLite's write lock taken sleeps and tries again, and may sleep long past its turn. So
            # the writers of one process queue for one connection, which is handed on at once.
            self.engine = _sqlite_engine(settings, connections=1)
            self.reading_engine = _sqlite_engine(settings, connections=settings.pool_size).execution_options(
                **{_READ_ONLY: True}
            )
            self._writers = ThreadPoolExecutor(1, "database-write")
            self._readers = ThreadPoolExecutor(settings.pool_size, "database-read")
        else:
            self.engine = _postgresql_engine(settings)
            self.reading_engine = self.engine.execution_options(**{_READ_ONLY: True})
            self._writers = self._readers = ThreadPoolExecutor(2 * settings.pool_size, "database")
        self._durable = sessionmaker(self.engine, expire_on_commit=False)
        self._relaxed = sessionmaker(self.engine.execution_options(**{_RELAXED: True}), expire_on_commit=False)
        self._snapshots = sessionmaker(self.reading_engine, expire_on_commit=False, autoflush=False)

    def transaction(self) -> AbstractContextManager[Session]:
        """A session that may write; commits at the end of the block, rolls back when it raises."""
        return self._begun(self._durable)

    def reading(self) -> AbstractContextManager[Session]:
        """A session that only reads; takes no write lock and sees one state of the database throughout."""
        return self._begun(self._snapshots)

    async def write(
        self, work: Work[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Answer:
        """Do ``work(session, *args, **kwargs)`` in a transaction; it waits for nothing but the database.

        When the caller is cancelled, work that has not begun never will, and work that has is waited for: whether it
        took effect is known afterwards.

        Raises:
            DBAPIError: Among others, where another process held SQLite's write lock for too long.
            sqlalchemy.exc.TimeoutError: Others of this process used all connections for too long.
        """
        return await self._beside(self._writers, self._durable, work, *args, **kwargs)

    async def write_relaxed(
        self, work: Work[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Answer:
        """Like `write`, but the commit does not wait for the disk: a power cut may undo it (a request rate, say)."""
        return await self._beside(self._writers, self._relaxed, work, *args, **kwargs)

    async def read(self, work: Work[Parameters, Answer], *args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
        """Like `write`, in a transaction like that of `reading`."""
        return await self._beside(self._readers, self._snapshots, work, *args, **kwargs)

    async def ping(self) -> None:
        """Raise if the database cannot be read."""
        await self.read(lambda session: session.execute(text("SELECT 1")))

    def close(self) -> None:
        """Wait for what is under way and let go of the connections."""
        for threads in (self._writers, self._readers):
            threads.shutdown()
        for engine in (self.engine, self.reading_engine):
            engine.dispose()

    @contextmanager
    def _begun(self, sessions: sessionmaker[Session]) -> Iterator[Session]:
        with sessions() as session:
            with session.begin():
                yield session
            self._on_commit(session.info)

    async def _beside(
        self,
        threads: ThreadPoolExecutor,
        sessions: sessionmaker[Session],
        work: Work[Parameters, Answer],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Answer:
        latest = time.monotonic() + self._longest_wait

        def transact() -> Answer:
            if time.monotonic() > latest:
                raise PoolTimeoutError(f"no connection to the database was free within {self._longest_wait} s")
            with self._begun(sessions) as session:
                return work(session, *args, **kwargs)

        doing: Future[Answer] = threads.submit(copy_context().run, transact)
        try:
            return await asyncio.wrap_future(doing)
        except asyncio.CancelledError:
            if not doing.cancelled():
                await asyncio.shield(asyncio.to_thread(wait, [doing]))
            raise


def _postgresql_engine(settings: DatabaseSettings) -> Engine:
    import psycopg  # here, for an embedded stack does without it

    milliseconds = round(1000 * settings.busy_timeout_seconds)
    engine = create_engine(
        make_url(settings.url).set(drivername="postgresql+psycopg"),
        pool_size=settings.pool_size,
        max_overflow=settings.pool_size,
        pool_timeout=settings.busy_timeout_seconds,
        pool_pre_ping=True,
        hide_parameters=True,  # of statements that fail: they end up in logs
        connect_args={
            "options": " ".join(f"-c {name}={value}" for name, value in _session_settings(milliseconds).items()),
            **_KEPT_ALIVE,
            "connect_timeout": max(2, round(settings.busy_timeout_seconds)),  # seconds; libpq takes no fewer than two
        },
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        reads = options.get(_READ_ONLY, False)
        # The driver says both in its BEGIN. None leaves it to the server, which may be set to be read only.
        driver = cast("psycopg.Connection", connection.connection.driver_connection)
        driver.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ if reads else None
        driver.read_only = True if reads else None
        if options.get(_RELAXED, False):
            connection.exec_driver_sql("SET LOCAL synchronous_commit TO OFF")

    return engine


def _sqlite_engine(settings: DatabaseSettings, *, connections: int) -> Engine:
    """An engine over a file.

    Python's own SQLite may be one of the versions (3.7.0 to 3.51.2) whose write-ahead log can be corrupted when two
    processes checkpoint at once, so the SQLite that the ``pysqlite3`` wheel carries is used instead.
    """
    url = make_url(settings.url).set(drivername="sqlite")
    if url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(
        url,
        module=fixed_sqlite,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=settings.busy_timeout_seconds,
        hide_parameters=True,
        connect_args={"timeout": settings.busy_timeout_seconds, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _entry: ConnectionPoolEntry) -> None:
        # The driver must not open transactions of its own: it would open them too late (see `begin`).
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.execute("PRAGMA recursive_triggers=ON")  # or REPLACE would get past the ledger's triggers
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get(_READ_ONLY, False):
            connection.exec_driver_sql("BEGIN")
            return
        # FULL: a committed ledger row survives a power cut, at the price of waiting for the disk at each commit.
        connection.exec_driver_sql(f"PRAGMA synchronous={'NORMAL' if options.get(_RELAXED, False) else 'FULL'}")
        # A read that turns into a write fails at once under contention, whatever the busy timeout; taking the write
        # lock first waits for it instead.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine
