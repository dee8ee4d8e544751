"""Steps that deal with a backfill as a whole: ``plan_backfill``, ``record_outcomes`` and ``finish_backfill``."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from sqlalchemy.orm import Session
from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.device import heartbeats
from domain import accounts, products
from domain.jobs import backfills
from domain.money import quota
from domain.money.plans import PlanBook
from domain.object_keys import (
    BACKFILLS,
    backfill_failures_key,
    backfill_outcomes_key,
    backfill_page_key,
    backfill_prefix,
    backfill_progress_key,
    backfill_uses_key,
    own_backfill_key,
)
from domain.tables import Account
from intake.backfill_items import (
    CONTENT_TYPE,
    PAGE_ITEMS,
    WholeItems,
    folders_used,
    lines_of,
    pages_of,
    read_outcomes,
    read_page,
    stored_pictures,
    whole_items,
)
from intake.backfill_rows import Problem, read_rows
from runtime.database import Database
from runtime.metric_catalogue import BACKFILL_ITEMS
from runtime.metrics import activity_meter
from runtime.object_store import ObjectMissingError, ObjectStore
from workflows import steps
from workflows.backfills.contracts import (
    BACKFILL_INVALID,
    BackfillInput,
    BackfillItem,
    BackfillPlan,
    FinishInput,
    FinishReport,
    ItemOutcome,
    PlanInput,
    RecordInput,
    RecordReport,
)

PROBLEMS_TOLD = 20
"""As many as a person mends before trying again."""

LONGEST_PROBLEM = 300
"""Characters; a name that is not known may be as long as the file."""

LARGEST_MANIFEST_BYTES = 64 * 1024 * 1024
"""A hundred thousand long rows."""

ASKED_AT_ONCE = 500
"""Items in one question to the database."""


class BackfillActivities:
    """Steps over all items. What they write lies below the backfill's prefix; writing it again changes nothing."""

    def __init__(self, database: Database, store: ObjectStore, plans: PlanBook) -> None:
        self._database = database
        self._store = store
        self._plans = plans

    @activity.defn(name=steps.PLAN_BACKFILL.name)
    async def plan_backfill(self, request: PlanInput) -> BackfillPlan:
        """Judge every item and lay them out in pages.

        Raises:
            ApplicationError: ``backfill_invalid``; nothing was begun.
        """
        async with heartbeats():
            backfill = request.backfill
            account = await self._database.read(accounts.find_account_named, name=backfill.account)
            if account is None or account.erased_at is not None:
                raise invalid([f"account: there is none with the id or e-mail address {backfill.account!r}."])
            found = await self._items(backfill)
            problems = [str(problem) for problem in found.problems] or await self._missing_objects(found.items)
            if backfill.dry_run:
                problems += await self._missing_products(account.id, found.items)
            if problems:
                raise invalid(problems)
            if not backfill.dry_run:
                mark = own_backfill_key(str(account.id), request.backfill_id)
                await self._store.put(mark, b"", CONTENT_TYPE)
                await self._lay_out(request.backfill_id, found.items)
            return await self._plan(account, found.items)

    @activity.defn(name=steps.RECORD_OUTCOMES.name)
    async def record_outcomes(self, request: RecordInput) -> RecordReport:
        """Add outcomes to their pages, and say how far the backfill is."""
        by_page: dict[int, list[ItemOutcome]] = {}
        for outcome in request.outcomes:
            by_page.setdefault(outcome.number // PAGE_ITEMS, []).append(outcome)
        for page, outcomes in by_page.items():
            key = backfill_page_key(request.backfill_id, "outcomes", page)
            known = await self._outcomes(key) | {outcome.number: outcome for outcome in outcomes}
            await self._store.put(key, lines_of(known[number] for number in sorted(known)), CONTENT_TYPE)
        progress = request.model_dump_json(exclude={"outcomes"}, indent=1).encode()
        await self._store.put(backfill_progress_key(request.backfill_id), progress, "application/json")
        for outcome in request.outcomes:
            activity_meter().add(BACKFILL_ITEMS, outcome=outcome.status)
        return RecordReport(written=len(request.outcomes))

    @activity.defn(name=steps.FINISH_BACKFILL.name)
    async def finish_backfill(self, request: FinishInput) -> FinishReport:
        """Put the outcomes together, and the items that failed into a manifest of their own."""
        async with heartbeats():
            outcomes: dict[int, ItemOutcome] = {}
            for key in await self._store.list_keys(f"{backfill_prefix(request.backfill_id)}outcomes/"):
                outcomes |= await self._outcomes(key)
            failed = await self._failed_items(request.backfill_id, outcomes)
        told, failures = backfill_outcomes_key(request.backfill_id), backfill_failures_key(request.backfill_id)
        await self._store.put(told, lines_of(outcomes[number] for number in sorted(outcomes)), CONTENT_TYPE)
        await self._store.put(failures, lines_of(failed), CONTENT_TYPE)
        return FinishReport(outcomes=told, failures=failures if failed else None)

    async def _items(self, backfill: BackfillInput) -> WholeItems:
        if (backfill.manifest is None) == (not backfill.items):
            raise invalid(["either items or manifest has to be given, and not both."])
        if backfill.manifest is None:
            return whole_items(list(enumerate(backfill.items, 1)), backfill.defaults)
        if not backfill.manifest.startswith(BACKFILLS):
            raise invalid([f"manifest: must be the key of an object below {BACKFILLS}."])
        try:
            data = await self._store.get(backfill.manifest)
        except ObjectMissingError:
            raise invalid([f"manifest: there is no object {backfill.manifest} in {self._store.bucket}."]) from None
        if len(data) > LARGEST_MANIFEST_BYTES:
            raise invalid([f"manifest: has {len(data)} bytes; at most {LARGEST_MANIFEST_BYTES} are read."])
        rows = await asyncio.to_thread(read_rows, data)
        found = await asyncio.to_thread(whole_items, rows.items, backfill.defaults)
        found.problems = sorted([*rows.problems, *found.problems], key=_row_of)
        if not found.items and not found.problems:
            raise invalid(["manifest: holds no items."])
        return found

    async def _missing_objects(self, items: Sequence[BackfillItem]) -> list[str]:
        """Pictures that are not where an item says, each with the first item that does."""
        wanted = stored_pictures(items)
        there = set(await self._store.list_keys(BACKFILLS))
        return [f"{name}: there is no object {key}." for key, name in wanted.items() if key not in there]

    async def _missing_products(self, account_id: uuid.UUID, items: Sequence[BackfillItem]) -> list[str]:
        def missing(session: Session) -> list[str]:
            return [
                f"productId: there is no product {name}."
                for name in sorted(_products_of(items))
                if products.find_for_tryon(session, account_id=account_id, product_id_text=name) is None
            ]

        return await self._database.read(missing)

    async def _lay_out(self, backfill_id: str, items: Sequence[BackfillItem]) -> None:
        """Write the pages; those of an earlier backfill of the same name go."""
        for kind in ("items/", "outcomes/", "outcomes.jsonl", "failed.jsonl", "progress.json"):
            await self._store.delete_prefix(f"{backfill_prefix(backfill_id)}{kind}")
        uses = json.dumps(sorted(folders_used(items) - {backfill_id})).encode()
        await self._store.put(backfill_uses_key(backfill_id), uses, "application/json")
        for number, page in enumerate(pages_of(items)):
            await self._store.put(backfill_page_key(backfill_id, "items", number), page, CONTENT_TYPE)

    async def _plan(self, account: Account, items: Sequence[BackfillItem]) -> BackfillPlan:
        keys = [item.key or "" for item in items]
        left = await self._database.read(quota.generations_left, self._plans, account=account, now=datetime.now(UTC))
        done = await self._database.read(_count_done, account.id, keys)
        return BackfillPlan(
            account_id=str(account.id),
            items=len(items),
            people=len({item.person for item in items}),
            products=len(_products_of(items)),
            done_before=done,
            generations_left=left,
        )

    async def _outcomes(self, key: str) -> dict[int, ItemOutcome]:
        try:
            return read_outcomes(await self._store.get(key))
        except ObjectMissingError:
            return {}

    async def _failed_items(self, backfill_id: str, outcomes: dict[int, ItemOutcome]) -> list[BackfillItem]:
        failed = sorted(number for number, outcome in outcomes.items() if outcome.status == "failed")
        items = []
        for page in sorted({number // PAGE_ITEMS for number in failed}):
            all_of_page = read_page(await self._store.get(backfill_page_key(backfill_id, "items", page)))
            items += [all_of_page[number % PAGE_ITEMS] for number in failed if number // PAGE_ITEMS == page]
        return items


def invalid(problems: Sequence[str]) -> ApplicationError:
    """The failure of a backfill whose input is wrong."""
    told = "\n".join(problem[:LONGEST_PROBLEM] for problem in problems[:PROBLEMS_TOLD])
    rest = len(problems) - PROBLEMS_TOLD
    return ApplicationError(
        told + (f"\nand {rest} more" if rest > 0 else ""), len(problems), type=BACKFILL_INVALID, non_retryable=True
    )


def _row_of(problem: Problem) -> int:
    return problem.row


def _products_of(items: Sequence[BackfillItem]) -> set[str]:
    return {garment.product_id for item in items for garment in item.garments if garment.product_id is not None}


def _count_done(session: Session, account_id: uuid.UUID, keys: Collection[str]) -> int:
    listed = list(keys)
    counts = [
        backfills.count_done(session, account_id=account_id, keys=listed[start : start + ASKED_AT_ONCE])
        for start in range(0, len(listed), ASKED_AT_ONCE)
    ]
    return sum(counts)
