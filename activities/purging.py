"""``purge``: nothing is kept longer than it should be, whoever failed to delete it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic

from temporalio import activity

from activities.forgetting import forget_sign_ins
from domain.access import idempotency
from domain.jobs import backfills, jobs, retention
from domain.object_keys import (
    BACKFILLS,
    IMPORTS,
    JOBS,
    RESULTS,
    backfill_of_key,
    backfill_prefix,
    backfill_uses_key,
    import_of_key,
    import_prefix,
    job_of_key,
    job_of_result,
    job_prefix,
    result_key,
)
from runtime.database import Database
from runtime.metric_catalogue import EXPIRED
from runtime.metrics import activity_meter
from runtime.object_store import ObjectMissingError, ObjectStore
from runtime.settings import BackfillSettings, JobSettings
from workflows import steps
from workflows.contracts import SweepInput, SweepReport

ORPHAN_AGE = timedelta(hours=1)
"""Pictures of a job that no row tells of are kept this long: it may be on its way through acceptance."""

KEEP_IMPORTS = timedelta(days=7)
"""How long an owner can read what became of a file of products."""

LONGEST_ROUND_SECONDS = 25.0
"""Of the step's 50: pictures past their time go first, and what is left of it is for the rest."""

ASKED_AT_ONCE = 500
"""Jobs in one question to the database."""


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
        """Delete results past their time, what clean-ups have missed, and old rows of jobs, request keys, sign-ins."""
        deleted = await self._delete_expired(request.limit)
        deleted += await self._delete_inputs(request.limit)
        deleted += await self._delete_results(request.limit)
        deleted += await self._delete_backfills()
        deleted += await self._delete_imports()
        now = datetime.now(UTC)
        async with self._database.transaction() as session:
            forgotten = await idempotency.forget_old_keys(session, now=now)
            recorded_since = now - timedelta(days=self._settings.record_days)
            forgotten += await retention.delete_old(session, finished_before=recorded_since, limit=request.limit)
            forgotten += await backfills.delete_old_items(session, touched_before=recorded_since, limit=request.limit)
        forgotten += await forget_sign_ins(self._database, now=now, limit=request.limit)
        return SweepReport(deleted=deleted, forgotten=forgotten)

    async def _delete_expired(self, limit: int) -> int:
        deleted = 0
        until = monotonic() + LONGEST_ROUND_SECONDS
        while monotonic() < until:
            async with self._database.reading() as session:
                expired = await retention.list_expired(session, limit=limit, unkept_for=self._keep_backfills)
            for job in expired:
                if job.result_key:
                    deleted += await self._store.delete_prefix(job.result_key)
                async with self._database.transaction() as session:
                    await retention.forget_result(session, job_id=job.id)
            activity_meter().add(EXPIRED, len(expired))
            if len(expired) < limit:
                break
        return deleted

    async def _delete_inputs(self, limit: int) -> int:
        """Inputs and intermediate pictures of jobs that have ended, or never came to be."""
        found = _jobs_of(await self._store.list_keys(JOBS), job_of_key)
        old = set(_jobs_of(await self._store.list_keys(JOBS, older_than=ORPHAN_AGE), job_of_key))
        standings = await self._standings(found)
        unwanted = [each for each in found if (standings[each].ended if each in standings else each in old)]
        return await self._delete([job_prefix(str(job_id)) for job_id in unwanted[:limit]])

    async def _delete_results(self, limit: int) -> int:
        """Results that no poll can reach: of jobs that failed while they were written, or have no row any more."""
        found = _jobs_of(await self._store.list_keys(RESULTS, older_than=ORPHAN_AGE), job_of_result)
        standings, gone = await self._standings(found), jobs.Standing(ended=True, has_result=False)
        unwanted = [each for each in found if standings.get(each, gone) == gone]
        return await self._delete([result_key(str(job_id)) for job_id in unwanted[:limit]])

    async def _delete_backfills(self) -> int:
        """What backfills keep, where nothing has changed for long."""
        old = set(await self._store.list_keys(BACKFILLS, older_than=self._keep_backfills))
        if not old:
            return 0
        in_use = {backfill_of_key(key) for key in await self._store.list_keys(BACKFILLS) if key not in old}
        for backfill_id in list(in_use):
            in_use |= await self._used_by(backfill_id)
        unwanted = {backfill_of_key(key) for key in old} - in_use
        return await self._delete([backfill_prefix(backfill_id) for backfill_id in sorted(unwanted)])

    async def _delete_imports(self) -> int:
        """Files of products and what became of their rows. No import takes as long as these are kept."""
        old = {import_of_key(key) for key in await self._store.list_keys(IMPORTS, older_than=KEEP_IMPORTS)}
        return await self._delete([import_prefix(*names) for names in sorted(old)])

    async def _used_by(self, backfill_id: str) -> set[str]:
        """Other folders that hold pictures of a backfill's items."""
        try:
            return set(json.loads(await self._store.get(backfill_uses_key(backfill_id))))
        except ObjectMissingError:
            return set()

    async def _standings(self, job_ids: list[uuid.UUID]) -> dict[uuid.UUID, jobs.Standing]:
        found: dict[uuid.UUID, jobs.Standing] = {}
        for start in range(0, len(job_ids), ASKED_AT_ONCE):
            async with self._database.reading() as session:
                found |= await jobs.standings(session, job_ids=job_ids[start : start + ASKED_AT_ONCE])
        return found

    async def _delete(self, prefixes: list[str]) -> int:
        return sum([await self._store.delete_prefix(prefix) for prefix in prefixes])


def _jobs_of(keys: list[str], job_of: Callable[[str], uuid.UUID | None]) -> list[uuid.UUID]:
    return sorted({job_id for key in keys if (job_id := job_of(key)) is not None})
