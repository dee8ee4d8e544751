"""``purge``: nothing is kept longer than it should be, even if its own clean-up failed.

That goes for pictures, rows of jobs, sessions that are over, links, counts of failures and mail.
"""

from __future__ import annotations

import contextlib
import json
import random
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from temporalio import activity

from activities.device import heartbeats
from domain import erasure, mails, webhooks
from domain import object_keys as keys
from domain.access import idempotency, rates
from domain.authentication import email_tokens, sessions, throttles
from domain.jobs import backfills, jobs
from domain.object_keys import BACKFILLS, CHECKS, IMPORTS, JOBS, RESULTS, USES, folder_of, job_of_key
from runtime.database import Database
from runtime.metric_catalogue import EXPIRED
from runtime.metrics import activity_meter
from runtime.object_store import (
    PAGE,
    ObjectMissingError,
    ObjectStore,
    ObjectStoreUnavailableError,
    StoredKey,
)
from runtime.settings import BackfillSettings, JobSettings
from workflows import steps
from workflows.contracts import SweepInput, SweepReport


def forget_sign_ins(session: Session, *, now: datetime, limit: int) -> int:
    """Delete what is past its time, and at most ``limit`` accounts that nobody confirmed; returns how many rows."""
    return (
        sessions.delete_over(session, now=now)
        + email_tokens.delete_expired(session, now=now)
        + throttles.forget_old(session, now=now)
        + mails.delete_old(session, now=now)
        + erasure.delete_unverified(session, now=now, limit=limit)
    )


ORPHAN_AGE = timedelta(hours=1)
"""Pictures of a job that no row tells of are kept this long: it may be on its way through acceptance. Those of checks,
which have no row, as long."""

KEEP_IMPORTS = timedelta(days=7)  # how long an owner can read what became of a file of products

LONGEST_ROUND_SECONDS = 120.0  # of the step's 240: when they are over, each kind may finish a page


@dataclass
class PurgingActivities:
    """The scheduled step that deletes. Each round does a bounded amount; the next goes on."""

    database: Database
    store: ObjectStore
    settings: JobSettings
    backfill_settings: BackfillSettings

    @activity.defn(name=steps.PURGE.name)
    async def purge(self, request: SweepInput) -> SweepReport:
        """Delete results past their time, what clean-ups have missed, and old rows of jobs, request keys, sign-ins.

        Each kind has a page in turn, until nothing is left or the round's time is up, so that none waits for the
        backlog of another; where the store is away, rows are forgotten all the same.

        Raises:
            ObjectStoreUnavailableError: It was away; everything else was done.
        """
        deleted = forgotten = 0
        failures: list[Exception] = []
        until = monotonic() + LONGEST_ROUND_SECONDS
        kinds = [
            self._forgotten(request.limit),
            self._expired(request.limit),
            self._of_jobs(JOBS, _is_unwanted_input),
            self._of_jobs(RESULTS, _is_unwanted_result),
            self._backfills(),
            self._imports(),
            self._checks(),
        ]
        async with heartbeats():
            first = True
            while kinds and (first or monotonic() < until):
                for kind in list(kinds):
                    try:
                        page = await anext(kind, None)
                    except (ObjectStoreUnavailableError, SQLAlchemyError) as error:
                        failures.append(error)
                        page = None
                    if page is None:
                        kinds.remove(kind)
                    else:
                        deleted += page.deleted
                        forgotten += page.forgotten
                first = False
        if failures:
            raise failures[0]
        return SweepReport(deleted=deleted, forgotten=forgotten)

    async def _forgotten(self, limit: int) -> AsyncIterator[SweepReport]:
        """Rows that are past their time."""
        while True:
            now = datetime.now(UTC)
            recorded_since = now - timedelta(days=self.settings.record_days)
            requests = await self.database.write(idempotency.forget_old_keys, now=now)
            requests += await self.database.write(rates.forget_old, now=now)
            old = await self.database.write(jobs.delete_old, finished_before=recorded_since, limit=limit)
            old += await self.database.write(backfills.delete_old_items, touched_before=recorded_since, limit=limit)
            old += await self.database.write(webhooks.delete_old, now=now, limit=limit)
            old += await self.database.write(forget_sign_ins, now=now, limit=limit)
            yield SweepReport(forgotten=requests + old)
            if old < limit:
                return

    async def _expired(self, limit: int) -> AsyncIterator[SweepReport]:
        """Pictures that are past their time; of jobs that were erased, the copies too that backfills keep."""
        page = min(limit, PAGE)
        while True:
            expired = await self.database.read(
                jobs.list_expired, limit=page, unkept_for=timedelta(days=self.backfill_settings.keep_days)
            )
            erased = [job.id for job in expired if job.erased_at is not None]
            copies = await self.database.read(backfills.copies_of, job_ids=erased)
            await self.store.delete_keys([job.result_key for job in expired if job.result_key])
            await self.store.delete_keys(copies)  # no more than a page: a job is of one item
            await self.database.write(jobs.forget_results, job_ids=[job.id for job in expired], copies=copies)
            activity_meter().add(EXPIRED, len(expired))
            yield SweepReport(deleted=len(expired) + len(copies))
            if len(expired) < page:
                return

    async def _of_jobs(
        self, prefix: str, is_unwanted: Callable[[jobs.Standing | None, bool], bool]
    ) -> AsyncIterator[SweepReport]:
        """Objects below a prefix, by how their job stands, if it is there, and whether they are an hour old."""
        async for page in self._pages(prefix):
            owners = [(each, job_of_key(each.key)) for each in page]
            job_ids = {job_id for _, job_id in owners if job_id is not None}
            standings = await self.database.read(jobs.standings, job_ids=job_ids)
            old = datetime.now(UTC) - ORPHAN_AGE
            yield await self._deleted(
                each.key
                for each, job_id in owners
                if job_id is not None and is_unwanted(standings.get(job_id), each.written_at <= old)
            )

    async def _backfills(self) -> AsyncIterator[SweepReport]:
        """What backfills keep, where nothing has changed for long."""
        unwanted, in_use = set[str](), set[str]()
        for backfill_id in await self.store.list_folders(BACKFILLS):
            yield SweepReport()
            if await self._changed_of_late(backfill_id):
                with contextlib.suppress(ObjectMissingError):  # other folders that hold pictures of its items
                    in_use |= set(json.loads(await self.store.get(keys.backfill_key(backfill_id, USES))))
            else:
                unwanted.add(backfill_id)
        for backfill_id in _in_any_order(unwanted - in_use):
            while page := await self.store.list_page(keys.backfill_prefix(backfill_id)):
                yield await self._deleted(each.key for each in page)

    async def _imports(self) -> AsyncIterator[SweepReport]:
        """Files of products and what became of their rows. No import takes as long as these are kept."""
        for account_id in _in_any_order(await self.store.list_folders(IMPORTS)):
            old, after = datetime.now(UTC) - KEEP_IMPORTS, ""
            while page := await self.store.list_page(keys.imports_prefix(account_id), after=after):
                after = page[-1].key
                for import_id in sorted({folder_of(each.key, 2) for each in page if each.written_at <= old}):
                    yield SweepReport(deleted=await self.store.delete_prefix(keys.import_prefix(account_id, import_id)))
                yield SweepReport()

    async def _checks(self) -> AsyncIterator[SweepReport]:
        """Pictures of checks that are over: their runs end within minutes."""
        async for page in self._pages(CHECKS):
            old = datetime.now(UTC) - ORPHAN_AGE
            yield await self._deleted(each.key for each in page if each.written_at <= old)

    async def _pages(self, prefix: str) -> AsyncIterator[list[StoredKey]]:
        """All keys below, from a place by chance on and round to it.

        Ids are spread evenly, so no round has to know where the one before it stopped.
        """
        begin = f"{prefix}{uuid.uuid4()}"
        for first, last in ((begin, ""), ("", begin)):
            after = first
            while page := await self.store.list_page(prefix, after=after):
                after = page[-1].key
                yield [each for each in page if not last or each.key <= last]
                if last and after > last:
                    break

    async def _changed_of_late(self, backfill_id: str) -> bool:
        old, after = datetime.now(UTC) - timedelta(days=self.backfill_settings.keep_days), ""
        while page := await self.store.list_page(keys.backfill_prefix(backfill_id), after=after):
            if any(each.written_at > old for each in page):
                return True
            after = page[-1].key
        return False

    async def _deleted(self, keys: Iterable[str]) -> SweepReport:
        unwanted = list(keys)
        await self.store.delete_keys(unwanted)
        return SweepReport(deleted=len(unwanted))


def _is_unwanted_input(job: jobs.Standing | None, is_old: bool) -> bool:
    """Of inputs and intermediate pictures: the job has ended, or never came to be."""
    return is_old if job is None else job.ended


def _is_unwanted_result(job: jobs.Standing | None, is_old: bool) -> bool:
    """No poll can reach it: the job failed while it was written, or has no row any more."""
    return is_old and (job is None or (job.ended and not job.has_result))


def _in_any_order(names: Iterable[str]) -> list[str]:
    """So that the same ones are not last in every round."""
    shuffled = list(names)
    random.shuffle(shuffled)
    return shuffled
