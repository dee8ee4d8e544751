"""How many jobs there are in which state, for those who watch the service.

It is asked often, so every question about jobs has an index of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from domain.jobs import PROCESSING
from domain.tables import Allowance, Job


@dataclass(frozen=True)
class Census:
    """The state at one moment.

    Attributes:
        waiting: Accepted jobs that Temporal does not have yet: the outbox.
        oldest_waiting_seconds: Age of the oldest of them; 0 without any.
        running: Jobs that Temporal has.
        kept: Completed jobs whose picture can be fetched, or is due to be deleted.
        reserved: Generations that are neither settled nor released.
    """

    waiting: int
    oldest_waiting_seconds: float
    running: int
    kept: int
    reserved: int


async def take_census(session: AsyncSession, *, now: datetime) -> Census:
    """Count."""
    waiting, oldest = (
        await session.execute(
            select(func.count(), func.min(Job.created_at)).where(Job.started_at.is_(None), Job.status == PROCESSING)
        )
    ).one()
    unfinished = await session.scalar(select(func.count()).where(Job.status == PROCESSING))
    kept = await session.scalar(select(func.count()).where(Job.result_key.is_not(None)))
    reserved = await session.scalar(select(func.sum(Allowance.reserved)).where(Allowance.reserved > 0))
    return Census(
        waiting=waiting,
        oldest_waiting_seconds=max((now - oldest).total_seconds(), 0.0) if oldest else 0.0,
        running=(unfinished or 0) - waiting,
        kept=kept or 0,
        reserved=int(reserved or 0),
    )
