"""``reconcile``: what makes up for workers, workflows and whole servers that went away in mid-job."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.client import Client

from domain import jobs
from domain.object_keys import job_prefix
from runtime.database import Database
from runtime.metric_catalogue import RECONCILED
from runtime.metrics import activity_meter
from runtime.object_store import ObjectStore
from workflows import steps
from workflows.contracts import SweepInput, SweepReport
from workflows.liveness import end_of_run

QUIET_PERIOD = timedelta(seconds=30)
"""A job this young is not looked at: its run has only begun."""

OVERDUE_GRACE = timedelta(seconds=30)
"""A run releases its own job at the deadline; one that has not done so by then cannot."""


class ReconcilingActivities:
    """The scheduled step that ends jobs. Each round does a bounded amount; the next goes on."""

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
                    ended = await jobs.fail_job(
                        session, job_id=job.id, error_code=code, keep=self._result_ttl, now=datetime.now(UTC)
                    )
                if ended:
                    released += 1
                    activity_meter().add(RECONCILED, action=code)
                await self._store.delete_prefix(job_prefix(str(job.id)))
        return SweepReport(released=released)
