"""Two transactions at once on PostgreSQL, in the one order in which a missing lock shows.

SQLite lets only one transaction at a time write, so there is nothing to see there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import text
from sqlalchemy.orm import Session

from runtime.database import Database

Answer = TypeVar("Answer")

WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")


async def outcome_beside(
    database: Database,
    first: Callable[[Session], object],
    second: Callable[[Session], Answer],
    last: Callable[[Session], object] = lambda _: None,
) -> Answer:
    """What ``second`` comes to, where ``first`` commits only once the second waits for it or is done, after ``last``.

    ``database`` is one that nobody else uses meanwhile.
    """
    with database.transaction() as session:
        first(session)
        session.flush()
        running = asyncio.create_task(database.write(second))
        async with asyncio.timeout(30):
            while not running.done() and not await database.read(lambda other: other.scalar(WAITING)):
                await asyncio.sleep(0.01)
        last(session)
    return await running
