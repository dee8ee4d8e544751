"""The state of the database, the queues and the disk as gauges.

Every CPU worker records the same, so a query takes the largest of them, never their sum. A gauge keeps its last
value when nothing can be read any more; the time of the last reading distinguishes that from an idle service.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog
from sqlalchemy.exc import SQLAlchemyError
from temporalio.client import Client

from domain.counts import count_jobs, count_what_waits
from gateway.calls import TemporalAwayError
from gateway.queues import QUEUES, queue_state
from runtime import metric_catalogue as catalogue
from runtime.database import Database
from runtime.metrics import Meter

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class StateMetrics:
    """Reads the state and records it.

    Attributes:
        file: The SQLite database; None with PostgreSQL, whose disk is not watched here.
        sends_mail: Whether there is a server that takes mail; without one mail is meant to wait.
    """

    database: Database
    client: Client
    meter: Meter
    file: Path | None
    sends_mail: bool

    async def record(self) -> None:
        """Read and record once.

        Raises:
            SQLAlchemyError: The database is away.
            TemporalAwayError: Temporal is away; the rest was recorded.
        """
        record = self.meter.set
        jobs = await self.database.read(count_jobs, now=datetime.now(UTC))
        for state, count in (("waiting", jobs.waiting), ("running", jobs.running), ("kept", jobs.kept)):
            record(catalogue.JOBS_IN_STATE, count, state=state)
        record(catalogue.OUTBOX_PENDING, jobs.waiting)
        record(catalogue.OUTBOX_OLDEST, jobs.oldest_waiting_seconds)
        record(catalogue.RESERVATIONS_OPEN, jobs.reserved)
        owners = await self.database.read(count_what_waits, now=datetime.now(UTC))
        record(catalogue.MAILS_WAITING, owners.mails if self.sends_mail else 0)
        record(catalogue.MAIL_OLDEST, owners.oldest_mail_seconds if self.sends_mail else 0.0)
        record(catalogue.WEBHOOKS_LATE, owners.late_webhooks)
        record(catalogue.ERASURES_OPEN, owners.erasures)
        record(catalogue.ORDERS_OPEN, owners.orders)
        if self.file is not None:
            usage = shutil.disk_usage(self.file.resolve().parent)
            record(catalogue.STORAGE_FREE, usage.free)
            record(catalogue.STORAGE_SIZE, usage.total)
        record(catalogue.STATE_READ, time.time())
        for queue, kind in QUEUES:
            waiting = (await queue_state(self.client, queue, kind)).waiting
            record(catalogue.QUEUE_BACKLOG, waiting, queue=queue, type=kind)

    async def record_forever(self, interval_seconds: float) -> None:
        """Record again and again; a part that is away leaves its gauges as they are."""
        while True:
            try:
                await self.record()
            except (SQLAlchemyError, TemporalAwayError, OSError) as error:
                log.warning("state cannot be read", reason=str(error)[:200])
            await asyncio.sleep(interval_seconds)
