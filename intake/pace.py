"""How long drawing takes on the machines of the GPU workers: they tell it, and deadlines of jobs follow it.

A job's deadline is set when it is accepted, before any worker has it, and GPU workers know no database. So each writes
what its engines measured at their start to the object store, and tells it again every hour.
"""

from __future__ import annotations

import asyncio
import contextvars
import socket
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

import structlog
from pydantic import BaseModel, Field, ValidationError

from domain.object_keys import WORKERS, pace_key
from engines.pace import Pace
from runtime.object_store import ObjectMissingError, ObjectStore, ObjectStoreUnavailableError, waiting_at_most
from workflows.contracts import MAX_GARMENTS

TOLD_EVERY_SECONDS, TOLD_AGAIN_SECONDS = 3600.0, 5.0
"""How often a worker tells its times, and after how long where the store was away."""

BELIEVED_FOR = timedelta(days=1)
"""What was not told again for so long is about a machine that is gone. A worker that starts anew, which may take
minutes, must not be forgotten meanwhile."""

LOOK_SECONDS, PATIENCE_SECONDS = 2.0, 2.0
"""For how long what was read is used again, and how long a look waits for the store:
beyond what the request that waits for it may."""

Seconds = Annotated[float, Field(ge=0, le=86_400)]

log = structlog.get_logger(__name__)


class DrawingSeconds(BaseModel):
    """What one machine tells.

    Attributes:
        by_garments: Seconds for a picture with one garment, with two, and so on, by the slowest of its engines.
    """

    by_garments: Annotated[list[Seconds], Field(min_length=MAX_GARMENTS, max_length=MAX_GARMENTS)]

    @classmethod
    def of(cls, paces: Sequence[Pace]) -> DrawingSeconds:
        """For what engines have measured."""
        counts = range(1, MAX_GARMENTS + 1)
        slowest = [max(pace.seconds_for(garments) for pace in paces) for garments in counts]
        return cls(by_garments=[min(round(seconds, 1), 86_400.0) for seconds in slowest])


async def keep_telling(store: ObjectStore, paces: Sequence[Pace], host: str | None = None) -> None:
    """Tell how long drawing takes on this machine for as long as this runs, and forget machines that are gone.

    Without a pace, what this machine told before is deleted, and this ends.
    """
    key = pace_key(host or socket.gethostname())
    while True:
        try:
            if not paces:
                await store.delete(key)
                return
            await store.put(key, DrawingSeconds.of(paces).model_dump_json().encode(), "application/json")
            gone = datetime.now(UTC) - BELIEVED_FOR
            await store.delete_keys([each.key for each in await store.list_page(WORKERS) if each.written_at < gone])
        except ObjectStoreUnavailableError as error:
            log.warning("the time of drawing cannot be told yet", reason=str(error)[:200])
            await asyncio.sleep(TOLD_AGAIN_SECONDS)
        else:
            await asyncio.sleep(TOLD_EVERY_SECONDS)


class DrawingTimes:
    """Knows how long drawing takes on the slowest of the machines that tell it.

    Args:
        store: Where they tell it.
        clock: Seconds that only grow.
    """

    def __init__(self, store: ObjectStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._read_at: float | None = None
        self._told: list[DrawingSeconds] | None = None
        self._looking: asyncio.Task[None]

    async def seconds_for(self, garments: int) -> float:
        """How long drawing takes for a picture with so many garments; 0 where nobody tells.

        While the store is away, what was read last is used. All wait for the first look: until then nothing is known.
        """
        due = self._read_at is None or self._clock() - self._read_at >= LOOK_SECONDS
        if due:
            self._read_at = self._clock()
            # Others may wait for it too: whoever begins it has no more to spend on it than they.
            self._looking = asyncio.create_task(self._look(), context=contextvars.Context())
        if due or self._told is None:
            await asyncio.shield(self._looking)  # of others too, whoever began it and is cancelled
        return max((each.by_garments[garments - 1] for each in self._told or ()), default=0.0)

    async def _look(self) -> None:
        try:
            with waiting_at_most(PATIENCE_SECONDS):
                self._told = await self._read()
        except ObjectStoreUnavailableError as error:
            log.warning("the time of drawing cannot be read", reason=str(error)[:200])
            if self._told is None:
                self._read_at = None

    async def _read(self) -> list[DrawingSeconds]:
        since = datetime.now(UTC) - BELIEVED_FOR
        told = []
        for each in await self._store.list_page(WORKERS):
            if each.written_at < since:
                continue
            try:
                told.append(DrawingSeconds.model_validate_json(await self._store.get(each.key)))
            except (ObjectMissingError, ValidationError):  # gone just now, or told by another release
                continue
        return told
