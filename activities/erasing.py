"""The steps that erase an account: ``end_account_runs``, ``delete_account_objects`` and ``forget_account_rows``.

Each may run any number of times, and goes on where one that was cut off has stopped.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from temporalio import activity

from activities.device import heartbeats
from domain import erasure
from domain import object_keys as keys
from domain.jobs import jobs
from domain.object_keys import PROGRESS
from domain.tables import Place
from gateway.calls import RunNotFoundError
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.object_store import ObjectMissingError, ObjectStore
from workflows import steps
from workflows.contracts import ErasedAccount, ErasureReport

AT_ONCE = 500  # rows in one transaction, and ids in one question

SWEPT_AFTER = timedelta(days=2)
"""Folders of jobs that ended longer ago are gone: the purge has looked at all of them hundreds of times since."""

log = structlog.get_logger(__name__)


@dataclass
class ErasingActivities:
    """Steps about one account, which `domain.erasure.begin_erasure` has shut before."""

    database: Database
    store: ObjectStore
    temporal: TemporalGateway

    @activity.defn(name=steps.END_ACCOUNT_RUNS.name)
    async def end_account_runs(self, request: ErasedAccount) -> ErasureReport:
        """Fail and release the jobs in progress, and have their runs and the account's backfills stop."""
        account_id, cancelled = uuid.UUID(request.account_id), 0
        async with heartbeats():
            for job_id in await self.database.read(jobs.list_open_of_account, account_id=account_id):
                now = datetime.now(UTC)
                cancelled += await self.database.write(
                    jobs.fail_job, job_id=job_id, error_code="cancelled", keep=timedelta(0), now=now
                )
                await self.temporal.cancel_job(job_id)
            async for run in self.temporal.backfills(request.account_id):
                with contextlib.suppress(RunNotFoundError):  # it has just ended
                    await self.temporal.steer_backfill(run.backfill_id, "cancel")
                    cancelled += 1
        return ErasureReport(cancelled=cancelled)

    @activity.defn(name=steps.DELETE_ACCOUNT_OBJECTS.name)
    async def delete_account_objects(self, request: ErasedAccount) -> ErasureReport:
        """Delete results, inputs, pictures of products and checks, logos and backfills.

        Only what rows and the account's own folders tell of is asked for, however much others have stored.
        """
        async with heartbeats():
            account_id = uuid.UUID(request.account_id)
            deleted = await self._delete_objects_of_jobs(account_id)
            deleted += await self._delete_pictures_of_items(account_id)
            # The account's own folder last: it says which backfills are its.
            for prefix in (
                *await self._backfill_folders(request.account_id),
                keys.catalogue_prefix(request.account_id),
                keys.imports_prefix(request.account_id),
                keys.checks_prefix(request.account_id),
                keys.account_prefix(request.account_id),
            ):
                deleted += await self.store.delete_prefix(prefix)
            return ErasureReport(deleted=deleted)

    @activity.defn(name=steps.FORGET_ACCOUNT_ROWS.name)
    async def forget_account_rows(self, request: ErasedAccount) -> ErasureReport:
        """Empty the rows of jobs, delete what else there is, and note that it is done."""
        account_id, forgotten = uuid.UUID(request.account_id), 0
        position: Place | None = None
        async with heartbeats():
            while position := await self.database.write(
                erasure.empty_jobs, account_id=account_id, after=position, limit=AT_ONCE, now=datetime.now(UTC)
            ):
                pass
            while deleted := await self.database.write(erasure.delete_rows, account_id=account_id, limit=AT_ONCE):
                forgotten += deleted
            await self.database.write(erasure.finish_erasure, account_id=account_id, now=datetime.now(UTC))
        log.info("account erased", account_id=request.account_id)
        return ErasureReport(forgotten=forgotten)

    async def _delete_objects_of_jobs(self, account_id: uuid.UUID) -> int:
        """Results by their keys, and what lies in folders of jobs."""
        deleted, last, ended_since = 0, None, datetime.now(UTC) - SWEPT_AFTER
        while page := await self.database.read(
            erasure.jobs_with_objects, account_id=account_id, ended_since=ended_since, after=last, limit=AT_ONCE
        ):
            await self.store.delete_keys([keys.result_key(str(job_id)) for job_id in page])
            deleted, last = deleted + len(page), page[-1]
            for job_id in page:
                deleted += await self.store.delete_prefix(keys.job_prefix(str(job_id)))
        return deleted

    async def _delete_pictures_of_items(self, account_id: uuid.UUID) -> int:
        """Pictures of the account's items that are left, each by its whole key: its folder is not the account's."""
        deleted, last = 0, ""
        while page := await self.database.read(
            erasure.backfill_results, account_id=account_id, after=last, limit=AT_ONCE
        ):
            await self.store.delete_keys([key for _, key in page])
            deleted, last = deleted + len(page), page[-1][0]
        return deleted

    async def _backfill_folders(self, account_id: str) -> list[str]:
        """Folders of the account's backfills, without those whose names another account has used too."""
        identifier = uuid.UUID(account_id)
        own = keys.own_backfills_prefix(account_id)
        marked = {key.removeprefix(own) for key in await self.store.list_keys(own)}
        named = marked | await self.database.read(erasure.backfills_of, account_id=identifier)
        folders = {each for each in named if await self._owner_of(each) in (account_id, None)}
        folders -= await self.database.read(erasure.shared_backfills, account_id=identifier, backfill_ids=folders)
        return [keys.backfill_prefix(each) for each in sorted(folders)]

    async def _owner_of(self, backfill_id: str) -> str | None:
        """The account that a backfill says it is for; None where it has not said so."""
        try:
            progress = json.loads(await self.store.get(keys.backfill_key(backfill_id, PROGRESS)))
        except (ObjectMissingError, ValueError):
            return None
        owner = progress.get("progress", {}).get("accountId") if isinstance(progress, dict) else None
        return str(owner) if owner is not None else None
