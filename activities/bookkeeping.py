"""The steps that end a job, and the one that proves that the money adds up. Each may run any number of times."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import Session
from temporalio import activity

from domain.errors import known_code
from domain.jobs import jobs
from domain.money.ledger import check_ledger
from domain.object_keys import check_prefix, job_prefix, result_key
from domain.tables import Job
from runtime.database import Database
from runtime.metric_catalogue import LEDGER, LEDGER_CHECKED
from runtime.metrics import activity_meter
from runtime.object_store import ObjectStore
from workflows import steps
from workflows.contracts import (
    CleanUpCheckInput,
    CleanUpInput,
    LedgerCheckInput,
    LedgerCheckReport,
    ReleaseInput,
    SettleInput,
    SweepReport,
    TryOnOutcome,
)

log = structlog.get_logger(__name__)


LOST = TryOnOutcome(status="failed", error_code="job_not_found")
"""Of a run whose job has no row: the database was restored to a time before the job, and Temporal was not."""


def outcome_of(job: Job) -> TryOnOutcome:
    """The outcome in the row. The row is the truth, even if another process wrote it."""
    return TryOnOutcome.model_validate(
        {"status": job.status, "generation_ms": job.generation_ms, "error_code": job.error_code}
    )


@dataclass
class BookkeepingActivities:
    """Steps about money."""

    database: Database
    store: ObjectStore
    result_ttl: timedelta
    longest_result_ttl: timedelta | None = None

    @activity.defn(name=steps.SETTLE.name)
    async def settle(self, request: SettleInput) -> TryOnOutcome:
        """Complete the job and bill it, unless it ended before; says how it really ended."""
        return await self.database.write(
            self._ended,
            jobs.complete_job,
            uuid.UUID(request.job_id),
            result_key=request.result.key,
            engine=request.report.engine,
            report=request.report.model_dump(mode="json", by_alias=True),
            longest=self.longest_result_ttl,
        )

    @activity.defn(name=steps.RELEASE.name)
    async def release(self, request: ReleaseInput) -> TryOnOutcome:
        """Fail the job unbilled, unless it ended before; says how it really ended."""
        return await self.database.write(
            self._ended,
            jobs.fail_job,
            uuid.UUID(request.job_id),
            error_code=known_code(request.error_code),  # a run of an older release may ask for any
            error_advice=request.error_advice,
        )

    @activity.defn(name=steps.CLEAN_UP.name)
    async def clean_up(self, request: CleanUpInput) -> SweepReport:
        """Delete inputs and intermediate pictures, and a result that nobody can fetch."""
        deleted = await self.store.delete_prefix(job_prefix(request.job_id))
        job_id = uuid.UUID(request.job_id)
        standing = (await self.database.read(jobs.standings, job_ids=[job_id])).get(job_id)
        if standing is None or (standing.ended and not standing.has_result):
            deleted += await self.store.delete_prefix(result_key(request.job_id))
        return SweepReport(deleted=deleted)

    @activity.defn(name=steps.CLEAN_UP_CHECK.name)
    async def clean_up_check(self, request: CleanUpCheckInput) -> SweepReport:
        """Delete everything that a check has stored."""
        prefix = check_prefix(request.account_id, request.check_id)
        return SweepReport(deleted=await self.store.delete_prefix(prefix))

    @activity.defn(name=steps.CHECK_LEDGER.name)
    async def check_ledger(self, _request: LedgerCheckInput) -> LedgerCheckReport:
        """Recompute every balance; what disagrees is an error in the log, and the count a gauge."""
        found = await self.database.read(check_ledger)
        for each in found:
            log.error("the ledger disagrees", **{**asdict(each), "account_id": str(each.account_id)})
        meter = activity_meter()
        meter.set(LEDGER, len(found))
        # The schedule goes to any worker; what another one has found earlier does not hold any more.
        meter.set(LEDGER_CHECKED, time.time())
        return LedgerCheckReport(disagreements=len(found))

    def _ended(self, session: Session, /, end: Callable[..., bool], job_id: uuid.UUID, **values: Any) -> TryOnOutcome:
        try:
            end(session, job_id=job_id, keep=self.result_ttl, now=datetime.now(UTC), **values)
        except NoResultFound:
            log.warning("a run has ended whose job is unknown", job_id=str(job_id))
            return LOST
        job = jobs.get_job(session, job_id=job_id)
        session.refresh(job)
        return outcome_of(job)
