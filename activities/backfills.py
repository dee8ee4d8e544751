"""The steps of a backfill: those over all items, and those that deal with one.

What they write lies below the backfill's prefix; writing it again changes nothing. Items become ordinary jobs: the same
checks, limits and billing as a request.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import Session
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.bookkeeping import LOST, outcome_of
from activities.device import heartbeats
from activities.objects import add_outcomes, outcomes_at
from domain import accounts, products
from domain import object_keys as keys
from domain.errors import TryOnError
from domain.jobs import backfills, jobs
from domain.jobs.backfills import ItemStanding
from domain.jobs.jobs import NewJob
from domain.money import quota
from domain.money.plans import PlanBook
from domain.object_keys import BACKFILLS, FAILURES, OUTCOMES, PROGRESS, USES
from domain.tables import Account
from imaging.decoder_pool import DecoderPool
from imaging.limits import ImageLimits
from intake.backfills import WholeItems, folders_used, read_rows, sent_garment, stored_pictures, whole_items
from intake.job import Picture, inspect_pictures, lengthened, new_job, resolve_products, workflow_input_of
from intake.pace import DrawingTimes
from intake.pages import CONTENT_TYPE, PAGE_ITEMS, lines_of, pages_of, read_page
from runtime.database import Database
from runtime.metric_catalogue import BACKFILL_ITEMS, BACKFILL_WAITS
from runtime.metrics import activity_meter
from runtime.object_store import ObjectMissingError, ObjectStore
from workflows import steps
from workflows.backfills import contracts
from workflows.backfills.contracts import AcceptedItem, AcceptItemInput, BackfillItem, ItemOutcome, KeepResultInput
from workflows.contracts import ObjectRef, TryOnOutcome

PROBLEMS_TOLD = 20  # as many as a person mends before trying again

LONGEST_PROBLEM = 300  # characters; a name that is not known may be as long as the file

LARGEST_MANIFEST_BYTES = 64 * 1024 * 1024  # a hundred thousand long rows

ASKED_AT_ONCE = 500  # items in one question to the database

WAITED_FOR = frozenset({"volume_exhausted", "trial_ended", "daily_cap_reached", "account_blocked"})
"""Refusals that say nothing about the item: it waits until they are over."""

ASK_AGAIN = timedelta(seconds=5)


@dataclass
class BackfillActivities:
    """The steps."""

    database: Database
    store: ObjectStore
    plans: PlanBook
    limits: ImageLimits
    decoders: DecoderPool

    def __post_init__(self) -> None:
        """Ask GPU workers how long they draw, by way of the store."""
        self._drawing_times = DrawingTimes(self.store)

    @activity.defn(name=steps.PLAN_BACKFILL.name)
    async def plan_backfill(self, request: contracts.PlanInput) -> contracts.BackfillPlan:
        """Judge every item and lay them out in pages.

        Raises:
            ApplicationError: ``backfill_invalid``; nothing was begun.
        """
        async with heartbeats():
            backfill = request.backfill
            account = await self.database.read(accounts.find_account_named, name=backfill.account)
            if not accounts.is_there(account):
                raise invalid([f"account: there is none with the id or e-mail address {backfill.account!r}."])
            found = await self._items(backfill)
            problems = [str(problem) for problem in found.problems] or await self._missing_objects(found.items)
            named = {garment.product_id for item in found.items for garment in item.garments if garment.product_id}
            if backfill.dry_run:
                problems += await self.database.read(_missing_products, account.id, named)
            if problems:
                raise invalid(problems)
            if not backfill.dry_run:
                mark = keys.own_backfills_prefix(str(account.id)) + request.backfill_id
                await self.store.put(mark, b"", CONTENT_TYPE)
                await self._lay_out(request.backfill_id, found.items)
            done, left = await self.database.read(_done_and_left, self.plans, account, found.items)
        return contracts.BackfillPlan(
            account_id=str(account.id),
            items=len(found.items),
            people=len({item.person for item in found.items}),
            products=len(named),
            done_before=done,
            generations_left=left,
        )

    @activity.defn(name=steps.RECORD_OUTCOMES.name)
    async def record_outcomes(self, request: contracts.RecordInput) -> contracts.RecordReport:
        """Add outcomes to their pages, and say how far the backfill is."""
        by_page: dict[int, list[ItemOutcome]] = {}
        for outcome in request.outcomes:
            by_page.setdefault(outcome.number // PAGE_ITEMS, []).append(outcome)
        for page, outcomes in by_page.items():
            key = keys.backfill_page_key(request.backfill_id, "outcomes", page)
            await add_outcomes(self.store, key, outcomes, ItemOutcome)
        progress = request.model_dump_json(exclude={"outcomes"}, indent=1).encode()
        await self.store.put(keys.backfill_key(request.backfill_id, PROGRESS), progress, "application/json")
        for outcome in request.outcomes:
            activity_meter().add(BACKFILL_ITEMS, outcome=outcome.status)
        return contracts.RecordReport(written=len(request.outcomes))

    @activity.defn(name=steps.FINISH_BACKFILL.name)
    async def finish_backfill(self, request: contracts.FinishInput) -> contracts.FinishReport:
        """Put the outcomes together, and the items that failed into a manifest of their own."""
        name, failed = request.backfill_id, list[BackfillItem]()
        async with heartbeats():
            outcomes: dict[int, ItemOutcome] = {}
            for key in await self.store.list_keys(f"{keys.backfill_prefix(name)}outcomes/"):
                outcomes |= await outcomes_at(self.store, key, ItemOutcome)
            numbers = sorted(number for number, outcome in outcomes.items() if outcome.status == "failed")
            for page in sorted({number // PAGE_ITEMS for number in numbers}):
                items = await self._page(name, page)
                failed += [items[number % PAGE_ITEMS] for number in numbers if number // PAGE_ITEMS == page]
        told, failures = keys.backfill_key(name, OUTCOMES), keys.backfill_key(name, FAILURES)
        await self.store.put(told, lines_of(outcomes[number] for number in sorted(outcomes)), CONTENT_TYPE)
        await self.store.put(failures, lines_of(failed), CONTENT_TYPE)
        return contracts.FinishReport(outcomes=told, failures=failures if failed else None)

    @activity.defn(name=steps.ACCEPT_ITEM.name)
    async def accept_item(self, request: AcceptItemInput) -> AcceptedItem:
        """Have the item accepted as a job, unless it was done before, a job of it is in progress, or all is erased."""
        account_id = uuid.UUID(request.account_id)
        account = await self.database.read(accounts.find_account, account_id=account_id)
        if not accounts.is_there(account):  # an erasure does not see every backfill that begins
            return AcceptedItem(state="stopped")
        page, place = divmod(request.number, PAGE_ITEMS)
        item = (await self._page(request.backfill_id, page))[place]
        key = item.key or ""
        standing = await self.database.read(backfills.find_item, account_id=account_id, key=key)
        known = _taken_up_before(request, key, standing)
        if known is not None:
            if known.result is None or known.result in await self.store.list_keys(known.result):
                return known
            # The picture is not there any more.
            await self.database.write(backfills.forget_result, account_id=account_id, key=key, result_key=known.result)
            return known.model_copy(update={"result": None})
        try:
            new = await self._new_job(request, item)
            return await self.database.write(_accept, self.plans, request, key, new, now=datetime.now(UTC))
        except TryOnError as error:
            if error.code == "busy":
                raise  # tried again for as long as an item may hold up the others
            state = "waiting" if error.code in WAITED_FOR else "refused"
            if state == "waiting":
                activity_meter().add(BACKFILL_WAITS, code=error.code)
            return AcceptedItem(key=key, state=state, error_code=error.code, retry_after_seconds=error.retry_after)

    @activity.defn(name=steps.AWAIT_JOB.name)
    async def await_job(self, request: contracts.AwaitJobInput) -> TryOnOutcome:
        """How the job ended; fails, to be tried again, while it has not."""
        try:
            job = await self.database.read(jobs.get_job, job_id=uuid.UUID(request.job_id))
        except NoResultFound:
            return LOST
        if job.status == jobs.PROCESSING:
            raise ApplicationError(
                "in progress",
                type="in_progress",
                next_retry_delay=ASK_AGAIN,
                category=ApplicationErrorCategory.BENIGN,
            )
        return outcome_of(job)

    @activity.defn(name=steps.KEEP_RESULT.name)
    async def keep_result(self, request: KeepResultInput) -> contracts.KeptResult:
        """Copy the picture to where the backfill keeps it, before polls lose it."""
        own = keys.backfill_result_key(request.backfill_id, request.key)
        account_id, job_id = uuid.UUID(request.account_id), uuid.UUID(request.job_id)
        try:
            await self.store.put(own, await self.store.get(keys.result_key(request.job_id)), "image/jpeg")
        except ObjectMissingError:
            standing = await self.database.read(backfills.find_item, account_id=account_id, key=request.key)
            kept = standing.picture if standing is not None and standing.item.job_id == job_id else None
        else:
            kept = await self.database.write(
                backfills.note_result,
                account_id=account_id,
                key=request.key,
                job_id=job_id,
                result_key=own,
                now=datetime.now(UTC),
            )
        if kept != own:  # an erasure would not find it, be it of this try or of one that was cut off
            await self.store.delete(own)
        return contracts.KeptResult(result=kept)

    async def _items(self, backfill: contracts.BackfillInput) -> WholeItems:
        if (backfill.manifest is None) == (not backfill.items):
            raise invalid(["either items or manifest has to be given, and not both."])
        if backfill.manifest is None:
            return whole_items(list(enumerate(backfill.items, 1)), backfill.defaults)
        if not backfill.manifest.startswith(BACKFILLS):
            raise invalid([f"manifest: must be the key of an object below {BACKFILLS}."])
        try:
            data = await self.store.get(backfill.manifest)
        except ObjectMissingError:
            raise invalid([f"manifest: there is no object {backfill.manifest} in {self.store.bucket}."]) from None
        if len(data) > LARGEST_MANIFEST_BYTES:
            raise invalid([f"manifest: has {len(data)} bytes; at most {LARGEST_MANIFEST_BYTES} are read."])
        rows = await asyncio.to_thread(read_rows, data)
        found = await asyncio.to_thread(whole_items, rows.items, backfill.defaults)
        found.problems = sorted([*rows.problems, *found.problems], key=lambda problem: problem.row)
        if not found.items and not found.problems:
            raise invalid(["manifest: holds no items."])
        return found

    async def _missing_objects(self, items: Sequence[BackfillItem]) -> list[str]:
        """Pictures that are not where an item says, each with the first item that does."""
        wanted = stored_pictures(items)
        there = set(await self.store.list_keys(BACKFILLS))
        return [f"{name}: there is no object {key}." for key, name in wanted.items() if key not in there]

    async def _lay_out(self, backfill_id: str, items: Sequence[BackfillItem]) -> None:
        """Write the pages; those of an earlier backfill of the same name go."""
        for kind in ("items/", "outcomes/", OUTCOMES, FAILURES, PROGRESS):
            await self.store.delete_prefix(keys.backfill_key(backfill_id, kind))
        uses = json.dumps(sorted(folders_used(items) - {backfill_id})).encode()
        await self.store.put(keys.backfill_key(backfill_id, USES), uses, "application/json")
        for number, page in enumerate(pages_of(items, PAGE_ITEMS)):
            await self.store.put(keys.backfill_page_key(backfill_id, "items", number), page, CONTENT_TYPE)

    async def _page(self, backfill_id: str, page: int) -> list[BackfillItem]:
        return read_page(await self.store.get(keys.backfill_page_key(backfill_id, "items", page)), BackfillItem)

    async def _new_job(self, request: AcceptItemInput, item: BackfillItem) -> NewJob:
        """The job that the item asks for, with every picture of it looked into."""
        stored = await self._stored(item, request.account_id)
        several = len(item.garments) > 1
        sent = [
            sent_garment(garment, f"garments[{index}]." if several else "", stored)
            for index, garment in enumerate(item.garments)
        ]
        account_id = uuid.UUID(request.account_id)
        garments = await self.database.read(resolve_products, account_id, sent)
        drawing_seconds = await self._drawing_times.seconds_for(len(garments))
        return new_job(
            job_id=uuid.uuid4(),
            account_id=account_id,
            api_key_id=None,
            person=stored[item.person or ""],
            garments=garments,
            uploads={},
            deadline=lengthened(timedelta(seconds=request.deadline_seconds), drawing_seconds),
            drawing_seconds=drawing_seconds,
            priority=request.priority,
            relayed=False,
            engine=item.engine,
        )

    async def _stored(self, item: BackfillItem, account_id: str) -> dict[str, ObjectRef]:
        found = {}
        for key, name in stored_pictures([item]).items():
            try:
                data = await self.store.get(key)
            except ObjectMissingError:
                raise TryOnError("image_not_readable", f"{name}: there is no object {key}.") from None
            media_types = await inspect_pictures([Picture(name, data)], self.limits, self.decoders, account_id)
            content_type = media_types[name]
            found[key] = await asyncio.to_thread(ObjectRef.of, self.store.bucket, key, data, content_type)
        return found


def invalid(problems: Sequence[str]) -> ApplicationError:
    """The failure of a backfill whose input is wrong."""
    told = "\n".join(problem[:LONGEST_PROBLEM] for problem in problems[:PROBLEMS_TOLD])
    rest = len(problems) - PROBLEMS_TOLD
    message = told + (f"\nand {rest} more" if rest > 0 else "")
    return ApplicationError(message, len(problems), type=contracts.BACKFILL_INVALID, non_retryable=True)


def _done_and_left(
    session: Session, plans: PlanBook, account: Account, items: Sequence[BackfillItem]
) -> tuple[int, int]:
    """How many items have a picture, and how many generations the account has left."""
    left = quota.generations_left(session, plans, account=account, now=datetime.now(UTC))
    names = [item.key or "" for item in items]
    asked = [names[start : start + ASKED_AT_ONCE] for start in range(0, len(names), ASKED_AT_ONCE)]
    return sum(backfills.count_done(session, account_id=account.id, keys=some) for some in asked), left


def _missing_products(session: Session, account_id: uuid.UUID, names: Collection[str]) -> list[str]:
    return [
        f"productId: there is no product {name}."
        for name in sorted(names)
        if products.find_for_tryon(session, account_id=account_id, product_id_text=name) is None
    ]


def _accept(
    session: Session, plans: PlanBook, request: AcceptItemInput, key: str, new: NewJob, *, now: datetime
) -> AcceptedItem:
    # With the account locked, another backfill with the same key has been here or comes later.
    quota.lock_account(session, account_id=new.account_id)
    known = _taken_up_before(request, key, backfills.find_item(session, account_id=new.account_id, key=key))
    if known is not None:
        return known
    job = jobs.accept_job(session, plans, new, now=now)
    backfills.note_job(
        session, account_id=job.account_id, key=key, job_id=job.id, backfill_id=request.backfill_id, now=now
    )
    return AcceptedItem(key=key, state="accepted", job_id=str(new.job_id), job=workflow_input_of(job))


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
        return AcceptedItem(key=key, state="done", job_id=str(job.id), result=standing.picture)
    if standing.item.backfill_id != request.backfill_id:
        return AcceptedItem(key=key, state="running", job_id=str(job.id))
    # Of this very step, which was cut off before it could say so: whether its run has begun, starting it will tell.
    return AcceptedItem(key=key, state="accepted", job_id=str(job.id), job=workflow_input_of(job))
