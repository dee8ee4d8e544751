"""``reconcile`` and ``purge``: what makes up for workers, workflows and whole servers that went away in mid-job."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.client import Client

from domain import jobs
from domain.object_keys import JOBS, job_of_key, job_prefix
from runtime.database import Database
from runtime.object_store import ObjectStore
from workflows import steps
from workflows.contracts import SweepInput, SweepReport
from workflows.liveness import end_of_run

QUIET_PERIOD = timedelta(seconds=30)
"""A job this young is not looked at: its run has only begun."""

OVERDUE_GRACE = timedelta(seconds=30)
"""A run releases its own job at the deadline; one that has not done so by then cannot."""


class SweepingActivities:
    """Steps of the scheduled workflows. Each round does a bounded amount; the next goes on."""

    def __init__(self, database: Database, store: ObjectStore, temporal: Client, result_ttl: timedelta) -> None:
        self._database = database
        self._store = store
        self._temporal = temporal
        self._result_ttl = result_ttl

    @activity.defn(name=steps.RECONCILE.name)
    async def reconcile(self, request: SweepInput) -> SweepReport:
        """Fail and release jobs that nobody will finish any more."""
        async with self._database.reading() as session:
            open_jobs = await jobs.list_open(session, older_than=QUIET_PERIOD, limit=request.limit)
        released = 0
        for job in open_jobs:
            overdue = job.deadline_at + OVERDUE_GRACE <= datetime.now(UTC)
            code = "timed_out" if overdue else await end_of_run(self._temporal, str(job.id))
            if code is not None:
                async with self._database.transaction() as session:
                    released += await jobs.fail_job(session, job_id=job.id, error_code=code, keep=self._result_ttl)
                await self._store.delete_prefix(job_prefix(str(job.id)))
        return SweepReport(released=released)

    @activity.defn(name=steps.PURGE.name)
    async def purge(self, request: SweepInput) -> SweepReport:
        """Delete results that are past their time, and what the clean-up of ended jobs has missed."""
        async with self._database.reading() as session:
            expired = await jobs.list_expired(session, limit=request.limit)
        deleted = 0
        for job in expired:
            if job.result_key:
                deleted += await self._store.delete_prefix(job.result_key)
            async with self._database.transaction() as session:
                await jobs.forget_result(session, job_id=job.id)
        return SweepReport(deleted=deleted + await self._delete_leftovers(request.limit))

    async def _delete_leftovers(self, limit: int) -> int:
        """Delete inputs and intermediate pictures of jobs that have ended.

        Those of a job without a row are left: it may be on its way through acceptance at this very moment.
        """
        found = {job_of_key(key) for key in await self._store.list_keys(JOBS)} - {None}
        deleted = 0
        for job_id in sorted(found, key=str)[:limit]:
            async with self._database.reading() as session:
                ended = job_id is not None and await jobs.has_ended(session, job_id=job_id)
            if ended:
                deleted += await self._store.delete_prefix(job_prefix(str(job_id)))
        return deleted
