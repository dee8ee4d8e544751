"""Planning, recording and finishing a backfill."""

from __future__ import annotations

import json
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.backfills import BackfillActivities
from imaging.decoder_pool import DecoderPool
from imaging.limits import ImageLimits
from intake.pages import PAGE_ITEMS, read_page
from runtime.database import Database
from tests.factories import PLANS, Caller
from tests.memory_store import MemoryObjectStore
from workflows.backfills.contracts import (
    BackfillInput,
    BackfillItem,
    BackfillPlan,
    BackfillProgress,
    FinishInput,
    ItemOutcome,
    PlanInput,
    RecordInput,
)

PERSON = "backfills/photos/anna.jpg"
ID = "summer"


@pytest.fixture
async def store() -> MemoryObjectStore:
    store = MemoryObjectStore()
    await store.put(PERSON, b"a photo", "image/jpeg")
    return store


@pytest.fixture
def steps_of(database: Database, store: MemoryObjectStore) -> BackfillActivities:
    return BackfillActivities(database, store, PLANS, ImageLimits(), DecoderPool())


def items(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"key": f"item-{index}", "person": PERSON, "productId": "SKU", **fields} for index in range(count)]


async def plan(steps_of: BackfillActivities, caller: Caller, **fields: Any) -> BackfillPlan:
    backfill = BackfillInput.model_validate({"account": str(caller.account_id), **fields})
    return await ActivityEnvironment().run(steps_of.plan_backfill, PlanInput(backfill_id=ID, backfill=backfill))


async def refusal(steps_of: BackfillActivities, caller: Caller, **fields: Any) -> str:
    with pytest.raises(ApplicationError) as refused:
        await plan(steps_of, caller, **fields)
    assert (refused.value.type, refused.value.non_retryable) == ("backfill_invalid", True)
    return refused.value.message


async def test_inline_items_are_laid_out_whole(
    steps_of: BackfillActivities, caller: Caller, store: MemoryObjectStore
) -> None:
    planned = await plan(steps_of, caller, items=items(3), defaults={"size": "M"})
    assert (planned.items, planned.people, planned.products, planned.account_id) == (3, 1, 1, str(caller.account_id))
    assert planned.generations_left > 0
    page = read_page(await store.get("backfills/summer/items/000000.jsonl"), BackfillItem)
    assert [item.key for item in page] == ["item-0", "item-1", "item-2"]
    assert {garment.size for item in page for garment in item.garments} == {"M"}


async def test_a_manifest_fills_pages_and_those_of_an_older_backfill_go(
    steps_of: BackfillActivities, caller: Caller, store: MemoryObjectStore
) -> None:
    await store.put("backfills/summer/items/000009.jsonl", b"", "application/jsonl")
    await store.put("backfills/summer/outcomes/000000.jsonl", b"", "application/jsonl")
    lines = "\n".join(json.dumps(item) for item in items(PAGE_ITEMS + 1))
    await store.put("backfills/m.jsonl", lines.encode(), "application/jsonl")
    planned = await plan(steps_of, caller, manifest="backfills/m.jsonl")
    assert planned.items == PAGE_ITEMS + 1
    assert json.loads(await store.get("backfills/summer/uses.json")) == ["photos"]
    pages = await store.list_keys("backfills/summer/items/") + await store.list_keys("backfills/summer/outcomes")
    assert pages == ["backfills/summer/items/000000.jsonl", "backfills/summer/items/000001.jsonl"]
    assert len(read_page(await store.get(pages[1]), BackfillItem)) == 1


async def test_a_dry_run_looks_for_products_too_and_writes_nothing(
    steps_of: BackfillActivities, caller: Caller, store: MemoryObjectStore
) -> None:
    said = await refusal(steps_of, caller, items=items(2), dry_run=True)
    assert said == "productId: there is no product SKU."
    garment = {"productId": None, "garmentImageUrl": "https://a.example/x", "category": "upper_body"}
    assert (await plan(steps_of, caller, items=items(2, **garment), dry_run=True)).items == 2
    assert await store.list_keys("") == [PERSON]


async def test_everything_that_is_wrong_is_said_at_once(steps_of: BackfillActivities, caller: Caller) -> None:
    wrong = [{"key": f"k{index}", "productId": "SKU"} for index in range(25)]
    said = (await refusal(steps_of, caller, items=wrong)).splitlines()
    assert said[0] == "row 1: person: is missing."
    assert (len(said), said[-1]) == (21, "and 5 more")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"account": "nobody@example.com", "items": items(1)}, "account: there is none"),
        ({}, "either items or manifest"),
        ({"items": items(1), "manifest": "backfills/m"}, "either items or manifest"),
        ({"manifest": "jobs/x/input/0"}, "manifest: must be the key of an object below backfills/"),
        ({"manifest": "backfills/none"}, "manifest: there is no object backfills/none"),
        ({"manifest": "backfills/empty"}, "manifest: holds no items"),
        (
            {"items": items(1, person="backfills/photos/nobody.jpg")},
            "person: there is no object backfills/photos/nobody",
        ),
    ],
)
async def test_bad_input_is_refused_with_a_sentence(
    steps_of: BackfillActivities, caller: Caller, store: MemoryObjectStore, fields: dict[str, Any], said: str
) -> None:
    await store.put("backfills/empty", b"\n", "application/jsonl")
    assert (await refusal(steps_of, caller, **fields)).startswith(said)


def outcome(number: int, status: str = "completed", **fields: Any) -> ItemOutcome:
    return ItemOutcome.model_validate({"number": number, "key": f"item-{number}", "status": status, **fields})


async def record(steps_of: BackfillActivities, *outcomes: ItemOutcome) -> None:
    progress = BackfillProgress(account_id="a", total=3, completed=len(outcomes))
    request = RecordInput(backfill_id=ID, progress=progress, outcomes=list(outcomes), status="running")
    await ActivityEnvironment().run(steps_of.record_outcomes, request)


async def test_outcomes_are_added_and_a_repeated_step_changes_nothing(
    steps_of: BackfillActivities, caller: Caller, store: MemoryObjectStore
) -> None:
    await plan(steps_of, caller, items=items(3))
    failed = outcome(1, "failed", error_code="timed_out")
    await record(steps_of, outcome(2))
    await record(steps_of, outcome(0), failed)
    await record(steps_of, outcome(0), failed)
    page = (await store.get("backfills/summer/outcomes/000000.jsonl")).decode().splitlines()
    assert [json.loads(line)["number"] for line in page] == [0, 1, 2]
    assert json.loads(await store.get("backfills/summer/progress.json"))["progress"]["completed"] == 2
    report = await ActivityEnvironment().run(steps_of.finish_backfill, FinishInput(backfill_id=ID))
    assert (await store.get(report.outcomes)).decode().splitlines() == page
    assert report.failures is not None
    (again,) = read_page(await store.get(report.failures), BackfillItem)
    assert again.key == "item-1"


async def test_a_manifest_of_failures_can_be_started_as_it_is(
    steps_of: BackfillActivities, caller: Caller, store: MemoryObjectStore
) -> None:
    await plan(steps_of, caller, items=items(2))
    await record(steps_of, outcome(0), outcome(1, "failed", error_code="timed_out"))
    report = await ActivityEnvironment().run(steps_of.finish_backfill, FinishInput(backfill_id=ID))
    planned = await ActivityEnvironment().run(
        steps_of.plan_backfill,
        PlanInput(
            backfill_id="again", backfill=BackfillInput(account=str(caller.account_id), manifest=report.failures)
        ),
    )
    assert planned.items == 1
    assert await store.get("backfills/again/items/000000.jsonl") == await store.get("backfills/summer/failed.jsonl")


async def test_without_failures_there_is_no_manifest_of_them(
    steps_of: BackfillActivities, caller: Caller, store: MemoryObjectStore
) -> None:
    await plan(steps_of, caller, items=items(1))
    await record(steps_of, outcome(0))
    report = await ActivityEnvironment().run(steps_of.finish_backfill, FinishInput(backfill_id=ID))
    assert report.failures is None
