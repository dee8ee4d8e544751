"""``reconcile``: what makes up for workers, workflows and whole servers that went away in mid-job."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import structlog
from temporalio import activity

from domain import erasure, mails, webhooks
from domain.jobs import jobs
from domain.jobs.jobs import OpenJob
from domain.object_keys import job_prefix
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.metric_catalogue import RECONCILED
from runtime.metrics import activity_meter
from runtime.object_store import ObjectStore, ObjectStoreUnavailableError
from workflows import steps
from workflows.contracts import EraseAccountInput, SweepInput, SweepReport
from workflows.queues import is_urgent

log = structlog.get_logger(__name__)

QUIET_PERIOD = timedelta(seconds=30)  # a job this young is not looked at: its run has only begun

ROUND_SECONDS = 35.0
"""How long jobs are looked at; with a last one and the deletions it is less than the step's 50 s."""

DELETING_SECONDS = 8.0

AT_ONCE = 16
"""Jobs that are looked at side by side: Temporal answers each within milliseconds, most of it on the way."""

MAIL_HEAD_START = timedelta(minutes=1)
"""The writer of a message starts sending it. A message that waits longer than this was left behind."""


@dataclass
class ReconcilingActivities:
    """The scheduled step that ends jobs, and goes on with erasures, webhooks and mail.

    What is away for one holds up no other.
    """

    database: Database
    store: ObjectStore
    temporal: TemporalGateway
    result_ttl: timedelta
    sends_mail: bool = False
    _reached: OpenJob | None = field(default=None, init=False)

    @activity.defn(name=steps.RECONCILE.name)
    async def reconcile(self, request: SweepInput) -> SweepReport:
        """Fail and release jobs that nobody will finish any more; go on with erasures, webhooks and mail left behind.

        Raises:
            Exception: The first thing that went wrong, after everything else was done, so that the run shows it.
        """
        mail = [self._resume_mail(request.limit)] if self.sends_mail else []
        released, *others = await asyncio.gather(
            self._release_jobs(),
            self._resume_erasures(request.limit),
            self._resume_webhooks(request.limit),
            *mail,
            return_exceptions=True,
        )
        for fault in (released, *others):
            if isinstance(fault, BaseException):
                raise fault
        return SweepReport(released=released)

    async def _release_jobs(self) -> int:
        """End every job that has to end, then delete what they leave."""
        now, clock = datetime.now(UTC), asyncio.get_running_loop().time
        found = await self.database.read(jobs.list_all_open, accepted_before=now - QUIET_PERIOD)
        turns, ended, faults = iter(self._in_turn(found, now)), list[OpenJob](), list[Exception]()
        until = clock() + ROUND_SECONDS

        async def work() -> None:
            for job in turns:
                if clock() > until:
                    return
                if not is_urgent(job.priority) and not jobs.is_overdue(job.deadline_at, now):
                    self._reached = job
                try:
                    if await self._end_if_dead(job, now):
                        ended.append(job)
                except Exception as error:
                    log.exception("a job could not be looked at", job_id=str(job.job_id))
                    faults.append(error)

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        if clock() <= until:
            self._reached = None
        try:
            async with asyncio.timeout(DELETING_SECONDS):
                for job in ended:
                    await self.store.delete_prefix(job_prefix(str(job.job_id)))
        except (ObjectStoreUnavailableError, TimeoutError) as error:
            log.warning("inputs of jobs that were ended are left to the purge", reason=str(error)[:200])
        if faults:
            raise faults[0]
        return len(ended)

    def _in_turn(self, found: Sequence[OpenJob], now: datetime) -> list[OpenJob]:
        """Overdue ones first, for which nobody has to be asked, then those that somebody waits for, then all others.

        Where there are more of these others than a round can ask for, the next one on this worker goes on behind the
        last of them.
        """

        def turn(job: OpenJob) -> int:
            if jobs.is_overdue(job.deadline_at, now):
                return 0
            if is_urgent(job.priority):
                return 1
            return 2 if self._reached is None or job.place > self._reached.place else 3

        return sorted(found, key=lambda job: (turn(job), job.place))

    async def _end_if_dead(self, job: OpenJob, now: datetime) -> bool:
        overdue = jobs.is_overdue(job.deadline_at, now)
        code = "timed_out" if overdue else await self.temporal.end_of_job(str(job.job_id))
        if code is None:
            return False
        ended = await self.database.write(
            jobs.fail_job, job_id=job.job_id, error_code=code, keep=self.result_ttl, now=datetime.now(UTC)
        )
        if ended:
            activity_meter().add(RECONCILED, action=code)
        if overdue:  # its run may still be drawing
            await self.temporal.cancel_job(job.job_id)
        return ended

    async def _resume_erasures(self, limit: int) -> None:
        """Start runs for accounts that are still to be erased; those that have one are left to it."""
        now = datetime.now(UTC)
        for account_id in await self.database.read(
            erasure.list_unfinished, older_than=QUIET_PERIOD, now=now, limit=limit
        ):
            await self.temporal.erase_account(EraseAccountInput(account_id=str(account_id)))

    async def _resume_webhooks(self, limit: int) -> None:
        """Start runs for deliveries that are late; those that have one, which waits for its turn, are left to it."""
        for delivery_id, account_id in await self.database.read(
            webhooks.list_overdue, now=datetime.now(UTC), limit=limit
        ):
            await self.temporal.deliver_webhook(str(delivery_id), str(account_id))

    async def _resume_mail(self, limit: int) -> None:
        late = datetime.now(UTC) - MAIL_HEAD_START
        for mail_id in await self.database.read(mails.list_waiting, written_before=late, limit=limit):
            await self.temporal.send_mail(str(mail_id))
