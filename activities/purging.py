"""``purge``: nothing is kept longer than it should be, even if its own clean-up failed.

That goes for pictures, rows of jobs, sessions that are over, links, counts of failures and mail.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import UTC, datetime, timedelta
from time import monotonic

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from temporalio import activity

from activities.device import heartbeats
from domain import mails, unverified
from domain.access import idempotency
from domain.authentication import email_tokens, sessions, throttles
from domain.jobs import backfills, jobs, retention
from domain.object_keys import (
    BACKFILLS,
    IMPORTS,
    JOBS,
    RESULTS,
    backfill_prefix,
    backfill_uses_key,
    import_of_key,
    import_prefix,
    imports_prefix,
    job_of_key,
    job_of_result,
)
from runtime.database import Database
from runtime.metric_catalogue import EXPIRED
from runtime.metrics import activity_meter
from runtime.object_store import (
    PAGE,
    ObjectMissingError,
    ObjectStore,
    ObjectStoreUnavailableError,
    StoredKey,
    delete_below,
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
        + unverified.delete_unverified(session, now=now, limit=limit)
    )


ORPHAN_AGE = timedelta(hours=1)
"""Pictures of a job that no row tells of are kept this long: it may be on its way through acceptance."""

KEEP_IMPORTS = timedelta(days=7)
"""How long an owner can read what became of a file of products."""

LONGEST_ROUND_SECONDS = 120.0
"""Of the step's 240: when they are over, each kind may finish a page."""


class PurgingActivities:
    """The scheduled step that deletes. Each round does a bounded amount; the next goes on."""

    def __init__(
        self, database: Database, store: ObjectStore, settings: JobSettings, backfill_settings: BackfillSettings
    ) -> None:
        self._database = database
        self._store = store
        self._settings = settings
        self._keep_backfills = timedelta(days=backfill_settings.keep_days)

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
            self._inputs(),
            self._results(),
            self._backfills(),
            self._imports(),
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
            recorded_since = now - timedelta(days=self._settings.record_days)
            requests = await self._database.write(idempotency.forget_old_keys, now=now)
            old = await self._database.write(retention.delete_old, finished_before=recorded_since, limit=limit)
            old += await self._database.write(backfills.delete_old_items, touched_before=recorded_since, limit=limit)
            old += await self._database.write(forget_sign_ins, now=now, limit=limit)
            yield SweepReport(forgotten=requests + old)
            if old < limit:
                return

    async def _expired(self, limit: int) -> AsyncIterator[SweepReport]:
        """Pictures that are past their time."""
        page = min(limit, PAGE)
        while True:
            expired = await self._database.read(retention.list_expired, limit=page, unkept_for=self._keep_backfills)
            await self._store.delete_keys([job.result_key for job in expired if job.result_key])
            await self._database.write(retention.forget_results, job_ids=[job.id for job in expired])
            activity_meter().add(EXPIRED, len(expired))
            yield SweepReport(deleted=len(expired))
            if len(expired) < page:
                return

    async def _inputs(self) -> AsyncIterator[SweepReport]:
        """Inputs and intermediate pictures of jobs that have ended, or never came to be."""
        async for page in self._pages(JOBS):
            standings = await self._standings(page, job_of_key)
            old = datetime.now(UTC) - ORPHAN_AGE
            yield await self._deleted(
                each.key
                for each in page
                if (job_id := job_of_key(each.key)) is not None
                and (standings[job_id].ended if job_id in standings else each.written_at <= old)
            )

    async def _results(self) -> AsyncIterator[SweepReport]:
        """Results that no poll can reach: of jobs that failed while they were written, or have no row any more."""
        gone = jobs.Standing(ended=True, has_result=False)
        async for page in self._pages(RESULTS):
            standings = await self._standings(page, job_of_result)
            old = datetime.now(UTC) - ORPHAN_AGE
            yield await self._deleted(
                each.key
                for each in page
                if (job_id := job_of_result(each.key)) is not None
                and each.written_at <= old
                and standings.get(job_id, gone) == gone
            )

    async def _backfills(self) -> AsyncIterator[SweepReport]:
        """What backfills keep, where nothing has changed for long."""
        unwanted, in_use = set[str](), set[str]()
        for backfill_id in await self._store.list_folders(BACKFILLS):
            yield SweepReport()
            if await self._changed_of_late(backfill_id):
                in_use |= await self._used_by(backfill_id)
            else:
                unwanted.add(backfill_id)
        for backfill_id in _in_any_order(unwanted - in_use):
            while page := await self._store.list_page(backfill_prefix(backfill_id)):
                yield await self._deleted(each.key for each in page)

    async def _imports(self) -> AsyncIterator[SweepReport]:
        """Files of products and what became of their rows. No import takes as long as these are kept."""
        for account_id in _in_any_order(await self._store.list_folders(IMPORTS)):
            old, after = datetime.now(UTC) - KEEP_IMPORTS, ""
            while page := await self._store.list_page(imports_prefix(account_id), after=after):
                after = page[-1].key
                for names in sorted({import_of_key(each.key) for each in page if each.written_at <= old}):
                    yield SweepReport(deleted=await delete_below(self._store, import_prefix(*names)))
                yield SweepReport()

    async def _pages(self, prefix: str) -> AsyncIterator[list[StoredKey]]:
        """All keys below, from a place by chance on and round to it.

        Ids are spread evenly, so no round has to know where the one before it stopped.
        """
        begin = f"{prefix}{uuid.uuid4()}"
        for first, last in ((begin, ""), ("", begin)):
            after = first
            while page := await self._store.list_page(prefix, after=after):
                after = page[-1].key
                yield [each for each in page if not last or each.key <= last]
                if last and after > last:
                    break

    async def _changed_of_late(self, backfill_id: str) -> bool:
        old, after = datetime.now(UTC) - self._keep_backfills, ""
        while page := await self._store.list_page(backfill_prefix(backfill_id), after=after):
            if any(each.written_at > old for each in page):
                return True
            after = page[-1].key
        return False

    async def _used_by(self, backfill_id: str) -> set[str]:
        """Other folders that hold pictures of a backfill's items."""
        try:
            return set(json.loads(await self._store.get(backfill_uses_key(backfill_id))))
        except ObjectMissingError:
            return set()

    async def _standings(
        self, page: list[StoredKey], job_of: Callable[[str], uuid.UUID | None]
    ) -> dict[uuid.UUID, jobs.Standing]:
        job_ids = {job_id for each in page if (job_id := job_of(each.key)) is not None}
        return await self._database.read(jobs.standings, job_ids=job_ids)

    async def _deleted(self, keys: Iterable[str]) -> SweepReport:
        unwanted = list(keys)
        await self._store.delete_keys(unwanted)
        return SweepReport(deleted=len(unwanted))


def _in_any_order(names: Iterable[str]) -> list[str]:
    """So that the same ones are not last in every round."""
    shuffled = list(names)
    random.shuffle(shuffled)
    return shuffled
