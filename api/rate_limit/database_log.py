"""Calls counted in the service's own database: exact, shared by all processes, and no further part to run."""

from __future__ import annotations

import time
import uuid

from domain.access import rates
from domain.access.rates import Clock, RatePolicy, RateState
from runtime.database import Database


class DatabaseRateLog:
    """One short transaction per call."""

    def __init__(self, database: Database, clock: Clock = time.time) -> None:
        """Count in ``database``; whoever opened it closes it."""
        self._database = database
        self._clock = clock

    async def hit(self, caller_id: uuid.UUID, policy: RatePolicy) -> RateState:
        """Judge a call and, if it is admitted, count it.

        Raises:
            DBAPIError: The database is away, or locked for longer than its settings allow.
        """
        return await self._database.write_relaxed(rates.hit, caller_id=caller_id, policy=policy, clock=self._clock)

    async def close(self) -> None:
        """Nothing to do: the database belongs to the process."""
