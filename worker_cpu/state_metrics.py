"""The state of the database, the queues and the disk as gauges.

Every CPU worker records the same, so a query takes the largest of them, never their sum. A gauge keeps its last
value when nothing can be read any more; the time of the last reading tells that from a service at rest.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import structlog
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from temporalio.client import Client

from domain.counts import count_jobs, count_what_waits
from gateway.calls import TemporalAwayError
from gateway.queues import QUEUES, queue_state
from runtime import metric_catalogue as catalogue
from runtime.database import Database
from runtime.metrics import Meter

log = structlog.get_logger(__name__)


class StateMetrics:
    """Reads the state and records it.

    Args:
        database: Whose jobs and reservations.
        client: Whose queues.
        meter: Where to.
        folder: Of the SQLite database; None with another one, whose disk is somebody else's to watch.
        sends_mail: Whether there is a server that takes mail; without one mail is meant to wait.
    """

    def __init__(
        self, database: Database, client: Client, meter: Meter, folder: Path | None, *, sends_mail: bool
    ) -> None:
        self._database = database
        self._client = client
        self._meter = meter
        self._folder = folder
        self._sends_mail = sends_mail

    async def record(self) -> None:
        """Read and record once.

        Raises:
            SQLAlchemyError: The database is away.
            TemporalAwayError: Temporal is away; the rest was recorded.
        """
        await self._record_jobs()
        await self._record_owners()
        self._record_disk()
        self._meter.set(catalogue.STATE_READ, time.time())
        for queue, kind in QUEUES:
            waiting = (await queue_state(self._client, queue, kind)).waiting
            self._meter.set(catalogue.QUEUE_BACKLOG, waiting, queue=queue, type=kind)

    async def record_forever(self, interval_seconds: float) -> None:
        """Record again and again; a part that is away leaves its gauges as they are."""
        while True:
            try:
                await self.record()
            except (SQLAlchemyError, TemporalAwayError, OSError) as error:
                log.warning("state cannot be read", reason=str(error)[:200])
            await asyncio.sleep(interval_seconds)

    async def _record_jobs(self) -> None:
        counts = await self._database.read(count_jobs, now=datetime.now(UTC))
        for state, count in (("waiting", counts.waiting), ("running", counts.running), ("kept", counts.kept)):
            self._meter.set(catalogue.JOBS_IN_STATE, count, state=state)
        self._meter.set(catalogue.OUTBOX_PENDING, counts.waiting)
        self._meter.set(catalogue.OUTBOX_OLDEST, counts.oldest_waiting_seconds)
        self._meter.set(catalogue.RESERVATIONS_OPEN, counts.reserved)

    async def _record_owners(self) -> None:
        counts = await self._database.read(count_what_waits, now=datetime.now(UTC))
        self._meter.set(catalogue.MAILS_WAITING, counts.mails if self._sends_mail else 0)
        self._meter.set(catalogue.MAIL_OLDEST, counts.oldest_mail_seconds if self._sends_mail else 0.0)
        self._meter.set(catalogue.ERASURES_OPEN, counts.erasures)
        self._meter.set(catalogue.ORDERS_OPEN, counts.orders)

    def _record_disk(self) -> None:
        if self._folder is not None:
            usage = shutil.disk_usage(self._folder)
            self._meter.set(catalogue.STORAGE_FREE, usage.free)
            self._meter.set(catalogue.STORAGE_SIZE, usage.total)


def sqlite_folder(url: str) -> Path | None:
    """Where the SQLite database of this address lies; None for another database, or one in memory."""
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database or parsed.database == ":memory:":
        return None
    return Path(parsed.database).resolve().parent
