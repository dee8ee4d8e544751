"""Starts the workflows of jobs that were accepted while Temporal was away, or by an API process that died."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import structlog
from pydantic import ValidationError
from sqlalchemy.exc import SQLAlchemyError

from domain.errors import ErrorCode
from domain.jobs import jobs
from gateway.calls import TemporalAwayError
from gateway.temporal import TemporalGateway
from intake.job import workflow_input_of
from runtime.database import Database

INTERVAL_SECONDS = 1.0
HEAD_START = timedelta(seconds=2)  # the API process that accepted a job starts it itself, within a second
BATCH = 50

log = structlog.get_logger(__name__)


async def relay_round(database: Database, temporal: TemporalGateway, result_ttl: timedelta) -> int:
    """Start the jobs of the outbox, and fail those whose deadline has passed, for which Temporal is not needed.

    Returns:
        How many jobs were handed to Temporal.
    """
    waiting = await database.read(jobs.list_unstarted, older_than=HEAD_START, limit=BATCH)
    started = 0
    for job in waiting:
        code: ErrorCode | None = "timed_out" if job.deadline_at <= datetime.now(UTC) else None
        try:
            job_input = workflow_input_of(job)
        except ValidationError:
            # A row that no version of this code can start must not hold up those behind it.
            log.exception("job cannot be started", job_id=str(job.id))
            code = "generation_failed"
        if code is not None:
            await database.write(jobs.fail_job, job_id=job.id, error_code=code, keep=result_ttl, now=datetime.now(UTC))
            continue
        await temporal.start_tryon(job_input)
        await database.write(jobs.mark_started, job_id=job.id)
        started += 1
        log.info("job handed to Temporal by the relay", job_id=str(job.id))
    return started


async def relay_forever(database: Database, temporal: TemporalGateway, result_ttl: timedelta) -> None:
    """Run a round a second; a part that is away delays it."""
    while True:
        try:
            await relay_round(database, temporal, result_ttl)
        except (TemporalAwayError, SQLAlchemyError, OSError) as error:
            log.warning("relay waits", reason=str(error)[:200])
        await asyncio.sleep(INTERVAL_SECONDS)
