"""``purge``: nothing is kept longer than it should be, whoever failed to delete it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from temporalio import activity

from domain import idempotency, jobs
from domain.object_keys import JOBS, RESULTS, job_of_key, job_of_result, job_prefix, result_key
from runtime.database import Database
from runtime.object_store import ObjectStore
from runtime.settings import JobSettings
from workflows import steps
from workflows.contracts import SweepInput, SweepReport

ORPHAN_AGE = timedelta(hours=1)
"""Pictures of a job that no row tells of are kept this long: it may be on its way through acceptance."""


class PurgingActivities:
    """The scheduled step that deletes. Each round does a bounded amount; the next goes on."""

    def __init__(self, database: Database, store: ObjectStore, settings: JobSettings) -> None:
        self._database = database
        self._store = store
        self._settings = settings

    @activity.defn(name=steps.PURGE.name)
    async def purge(self, request: SweepInput) -> SweepReport:
        """Delete results past their time, what clean-ups have missed, old job rows and old idempotency keys."""
        deleted = await self._delete_expired(request.limit)
        deleted += await self._delete_inputs(request.limit)
        deleted += await self._delete_results(request.limit)
        now = datetime.now(UTC)
        async with self._database.transaction() as session:
            forgotten = await idempotency.forget_old_keys(session, now=now)
            forgotten += await jobs.delete_old(
                session, finished_before=now - timedelta(days=self._settings.record_days), limit=request.limit
            )
        return SweepReport(deleted=deleted, forgotten=forgotten)

    async def _delete_expired(self, limit: int) -> int:
        async with self._database.reading() as session:
            expired = await jobs.list_expired(session, limit=limit)
        deleted = 0
        for job in expired:
            if job.result_key:
                deleted += await self._store.delete_prefix(job.result_key)
            async with self._database.transaction() as session:
                if job.erased_at is None:
                    await jobs.forget_result(session, job_id=job.id)
                else:
                    await jobs.forget_contents(session, job_id=job.id)
        return deleted

    async def _delete_inputs(self, limit: int) -> int:
        """Inputs and intermediate pictures of jobs that have ended, or never came to be."""
        found = _jobs_of(await self._store.list_keys(JOBS), job_of_key)[:limit]
        old = set(_jobs_of(await self._store.list_keys(JOBS, older_than=ORPHAN_AGE), job_of_key))
        async with self._database.reading() as session:
            standings = await jobs.standings(session, job_ids=found)
        deleted = 0
        for job_id in found:
            standing = standings.get(job_id)
            if standing.ended if standing else job_id in old:
                deleted += await self._store.delete_prefix(job_prefix(str(job_id)))
        return deleted

    async def _delete_results(self, limit: int) -> int:
        """Results that no poll can reach: of jobs that failed while they were written, or have no row any more."""
        found = _jobs_of(await self._store.list_keys(RESULTS, older_than=ORPHAN_AGE), job_of_result)[:limit]
        async with self._database.reading() as session:
            standings = await jobs.standings(session, job_ids=found)
        deleted = 0
        for job_id in found:
            standing = standings.get(job_id)
            if standing is None or (standing.ended and not standing.has_result):
                deleted += await self._store.delete_prefix(result_key(str(job_id)))
        return deleted


def _jobs_of(keys: list[str], job_of: Callable[[str], uuid.UUID | None]) -> list[uuid.UUID]:
    return sorted({job_id for key in keys if (job_id := job_of(key)) is not None})
