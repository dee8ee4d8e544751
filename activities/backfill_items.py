"""Steps that deal with one item of a backfill: ``accept_item``, ``await_job`` and ``keep_result``."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.bookkeeping import outcome_of
from domain.errors import TryOnError
from domain.jobs import backfills, jobs
from domain.jobs.backfills import ItemStanding
from domain.jobs.jobs import NewJob
from domain.money.plans import PlanBook
from domain.money.quota import lock_account
from domain.object_keys import backfill_page_key, backfill_result_key, result_key
from imaging.decoder_pool import DecoderPool
from imaging.limits import ImageLimits
from intake.backfill_items import PAGE_ITEMS, read_page, sent_garment, stored_pictures
from intake.job import new_job, resolve_products, workflow_input_of
from intake.pictures import Picture, inspect_pictures
from runtime.database import Database
from runtime.metric_catalogue import BACKFILL_WAITS
from runtime.metrics import activity_meter
from runtime.object_store import ObjectMissingError, ObjectStore
from workflows import steps
from workflows.backfills.contracts import (
    AcceptedItem,
    AcceptItemInput,
    AwaitJobInput,
    BackfillItem,
    KeepResultInput,
    KeptResult,
)
from workflows.contracts import ObjectRef, TryOnOutcome

WAITED_FOR = frozenset({"volume_exhausted", "trial_ended", "daily_cap_reached", "account_blocked"})
"""Refusals that say nothing about the item: it waits until they are over."""

ASK_AGAIN = timedelta(seconds=5)


class BackfillItemActivities:
    """Items become ordinary jobs: the same checks, limits and billing as a request."""

    def __init__(
        self, database: Database, store: ObjectStore, plans: PlanBook, limits: ImageLimits, decoders: DecoderPool
    ) -> None:
        self._database = database
        self._store = store
        self._plans = plans
        self._limits = limits
        self._decoders = decoders

    @activity.defn(name=steps.ACCEPT_ITEM.name)
    async def accept_item(self, request: AcceptItemInput) -> AcceptedItem:
        """Have the item accepted as a job, unless it was done before or a job of it is in progress."""
        item = await self._item(request)
        key = item.key or ""
        standing = await self._database.read(backfills.find_item, account_id=uuid.UUID(request.account_id), key=key)
        known = _taken_up_before(request, key, standing)
        if known is not None:
            return await self._as_it_is(request, known)
        try:
            return await self._accepted(request, key, await self._new_job(request, item))
        except TryOnError as error:
            state = "waiting" if error.code in WAITED_FOR else "refused"
            if state == "waiting":
                activity_meter().add(BACKFILL_WAITS, code=error.code)
            return AcceptedItem(key=key, state=state, error_code=error.code, retry_after_seconds=error.retry_after)

    @activity.defn(name=steps.AWAIT_JOB.name)
    async def await_job(self, request: AwaitJobInput) -> TryOnOutcome:
        """How the job ended; fails, to be tried again, while it has not."""
        job = await self._database.read(jobs.get_job, job_id=uuid.UUID(request.job_id))
        if job.status == jobs.PROCESSING:
            raise ApplicationError(
                "in progress",
                type="in_progress",
                next_retry_delay=ASK_AGAIN,
                category=ApplicationErrorCategory.BENIGN,
            )
        return outcome_of(job)

    @activity.defn(name=steps.KEEP_RESULT.name)
    async def keep_result(self, request: KeepResultInput) -> KeptResult:
        """Copy the picture to where the backfill keeps it, before polls lose it."""
        own = backfill_result_key(request.backfill_id, request.key)
        try:
            await self._store.put(own, await self._store.get(result_key(request.job_id)), "image/jpeg")
        except ObjectMissingError:
            kept = await self._noted(request, own, is_there=False)
        else:
            kept = await self._noted(request, own, is_there=True)
        if kept != own:  # an erasure would not find it, be it of this try or of one that was cut off
            await self._store.delete(own)
        return KeptResult(result=kept)

    async def _noted(self, request: KeepResultInput, own: str, *, is_there: bool) -> str | None:
        account_id, job_id = uuid.UUID(request.account_id), uuid.UUID(request.job_id)
        if is_there:
            return await self._database.write(
                backfills.note_result,
                account_id=account_id,
                key=request.key,
                job_id=job_id,
                result_key=own,
                now=datetime.now(UTC),
            )
        standing = await self._database.read(backfills.find_item, account_id=account_id, key=request.key)
        return standing.item.result_key if standing is not None and standing.item.job_id == job_id else None

    async def _as_it_is(self, request: AcceptItemInput, known: AcceptedItem) -> AcceptedItem:
        """The same, but for a picture that is not there any more."""
        if known.result is None or known.result in await self._store.list_keys(known.result):
            return known
        await self._database.write(
            backfills.forget_result, account_id=uuid.UUID(request.account_id), key=known.key, result_key=known.result
        )
        return known.model_copy(update={"result": None})

    async def _item(self, request: AcceptItemInput) -> BackfillItem:
        page, place = divmod(request.number, PAGE_ITEMS)
        return read_page(await self._store.get(backfill_page_key(request.backfill_id, "items", page)))[place]

    async def _new_job(self, request: AcceptItemInput, item: BackfillItem) -> NewJob:
        """The job that the item asks for, with every picture of it looked into."""
        stored = await self._stored(item, request.account_id)
        several = len(item.garments) > 1
        sent = [
            sent_garment(garment, f"garments[{index}]." if several else "", stored)
            for index, garment in enumerate(item.garments)
        ]
        account_id = uuid.UUID(request.account_id)
        garments = await self._database.read(resolve_products, account_id, sent)
        return new_job(
            job_id=uuid.uuid4(),
            account_id=account_id,
            api_key_id=None,
            person=stored[item.person or ""],
            garments=garments,
            uploads={},
            deadline=timedelta(seconds=request.deadline_seconds),
            priority=request.priority,
            relayed=False,
        )

    async def _stored(self, item: BackfillItem, account_id: str) -> dict[str, ObjectRef]:
        found = {}
        for key, name in stored_pictures([item]).items():
            try:
                data = await self._store.get(key)
            except ObjectMissingError:
                raise TryOnError("image_not_readable", f"{name}: there is no object {key}.") from None
            picture = Picture(name, data)
            facts = await inspect_pictures([picture], self._limits, self._decoders, account_id)
            content_type = facts[name].content_type
            found[key] = await asyncio.to_thread(ObjectRef.of, self._store.bucket, key, data, content_type)
        return found

    async def _accepted(self, request: AcceptItemInput, key: str, new: NewJob) -> AcceptedItem:
        now = datetime.now(UTC)

        def accept(session: Session) -> AcceptedItem:
            # With the account locked, another backfill with the same key has been here or comes later.
            lock_account(session, account_id=new.account_id)
            standing = backfills.find_item(session, account_id=new.account_id, key=key)
            known = _taken_up_before(request, key, standing)
            if known is not None:
                return known
            job = jobs.accept_job(session, self._plans, new, now=now)
            backfills.note_job(
                session,
                account_id=new.account_id,
                key=key,
                job_id=new.job_id,
                backfill_id=request.backfill_id,
                now=now,
            )
            return AcceptedItem(key=key, state="accepted", job_id=str(new.job_id), job=workflow_input_of(job))

        return await self._database.write(accept)


def _taken_up_before(request: AcceptItemInput, key: str, standing: ItemStanding | None) -> AcceptedItem | None:
    """What is to be done about an item that a backfill has taken up; nothing if it has to be done anew."""
    if standing is None or standing.job is None:
        return None
    job = standing.job
    if job.status == jobs.FAILED:
        # What its customer had erased in mid-job is not drawn again behind their back.
        erased = AcceptedItem(key=key, state="refused", job_id=str(job.id), error_code=job.error_code)
        return erased if job.erased_at is not None else None
    if job.status == jobs.COMPLETED:
        return AcceptedItem(key=key, state="done", job_id=str(job.id), result=standing.item.result_key)
    if standing.item.backfill_id != request.backfill_id:
        return AcceptedItem(key=key, state="running", job_id=str(job.id))
    # Of this very step, which was cut off before it could say so: whether its run has begun, starting it will tell.
    return AcceptedItem(key=key, state="accepted", job_id=str(job.id), job=workflow_input_of(job))
