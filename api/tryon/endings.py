"""Long polls: any number of requests wait for their jobs to end, one task asks the database for all of them."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import uuid
from collections import defaultdict

import structlog
from sqlalchemy.exc import SQLAlchemyError

from domain.jobs import jobs
from runtime.database import Database

INTERVAL_SECONDS = 0.03
"""How often the database is asked while anybody waits; half of it is what waiting adds to a job, on average."""

log = structlog.get_logger(__name__)


class JobEndings:
    """Tells waiters when their jobs have ended. A waiter costs an event, neither a thread nor a connection."""

    def __init__(self, database: Database, interval_seconds: float = INTERVAL_SECONDS) -> None:
        self._database = database
        self._interval_seconds = interval_seconds
        self._waiting: defaultdict[uuid.UUID, set[asyncio.Event]] = defaultdict(set)
        self._watching: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()

    async def wait(self, job_id: uuid.UUID, seconds: float) -> None:
        """Return once the job has ended, or after ``seconds``."""
        ended = asyncio.Event()
        self._waiting[job_id].add(ended)
        if self._watching is None or self._watching.done():
            # In a context of its own: it is no part of the request that happens to wait first.
            self._watching = asyncio.create_task(self._watch(), context=contextvars.Context())
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), seconds)
        finally:
            self._waiting[job_id].discard(ended)
            if not self._waiting[job_id]:
                del self._waiting[job_id]

    async def close(self) -> None:
        """Let every waiter go, and the database."""
        self._closing.set()
        for waiters in self._waiting.values():
            for ended in waiters:
                ended.set()
        if self._watching is not None:
            # Not cancelled: a connection that is broken off in the middle of a question is never given back.
            await self._watching

    async def _watch(self) -> None:
        while self._waiting and not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), self._interval_seconds)
            try:
                standings = await self._database.read(jobs.standings, job_ids=list(self._waiting))
            except (SQLAlchemyError, OSError) as error:
                log.warning("waiting polls wait for the database", reason=str(error)[:200])
                continue
            for job_id, standing in standings.items():
                for waiter in self._waiting.get(job_id, ()) if standing.ended else ():
                    waiter.set()
