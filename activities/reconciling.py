"""``reconcile``: what makes up for workers, workflows and whole servers that went away in mid-job."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from temporalio import activity
from temporalio.client import Client

from activities.mail import start_waiting
from domain import erasure
from domain.jobs import jobs
from domain.object_keys import job_prefix
from runtime.database import Database
from runtime.metric_catalogue import RECONCILED
from runtime.metrics import activity_meter
from runtime.object_store import ObjectStore
from workflows import steps
from workflows.contracts import SweepInput, SweepReport
from workflows.erasing import start_erasure
from workflows.erasure_contracts import EraseAccountInput
from workflows.liveness import end_of_run

QUIET_PERIOD = timedelta(seconds=30)
"""A job this young is not looked at: its run has only begun."""

OVERDUE_GRACE = timedelta(seconds=30)
"""A run releases its own job at the deadline; one that has not done so by then cannot."""

MAIL_HEAD_START = timedelta(minutes=1)
"""Whoever writes a message has it sent; one that lies for longer was left behind."""


class ReconcilingActivities:
    """The scheduled step that ends jobs, and goes on with erasures. A round does a bounded amount; the next goes on."""

    def __init__(
        self,
        database: Database,
        store: ObjectStore,
        temporal: Client,
        result_ttl: timedelta,
        *,
        sends_mail: bool = False,
    ) -> None:
        """Take what is worked with; ``sends_mail`` where there is a server that takes mail."""
        self._database = database
        self._store = store
        self._temporal = temporal
        self._result_ttl = result_ttl
        self._sends_mail = sends_mail

    @activity.defn(name=steps.RECONCILE.name)
    async def reconcile(self, request: SweepInput) -> SweepReport:
        """Fail and release jobs that nobody will finish any more; go on with erasures and mail left behind."""
        released = await self._release_jobs(request.limit)
        # Money first: neither of these may keep a round from it, however much there is and whatever goes wrong.
        await self._resume_erasures(request.limit)
        if self._sends_mail:
            late = datetime.now(UTC) - MAIL_HEAD_START
            await start_waiting(self._database, self._temporal, before=late, limit=request.limit)
        return SweepReport(released=released)

    async def _release_jobs(self, limit: int) -> int:
        async with self._database.reading() as session:
            open_jobs = await jobs.list_open(session, older_than=QUIET_PERIOD, limit=limit)
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
        return released

    async def _resume_erasures(self, limit: int) -> None:
        """Start runs for accounts that are still to be erased; those that have one are left to it."""
        async with self._database.reading() as session:
            unfinished = await erasure.list_unfinished(
                session, older_than=QUIET_PERIOD, now=datetime.now(UTC), limit=limit
            )
        for account_id in unfinished:
            await start_erasure(self._temporal, EraseAccountInput(account_id=str(account_id)))
