from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest
from temporalio.testing import ActivityEnvironment

from activities.garments import GarmentActivities
from domain import accounts
from domain.access.keys import KeyDigester
from domain.object_keys import import_page_key
from imaging.decoder_pool import DecoderPool
from imaging.limits import ImageLimits
from imaging.remote import RemoteImageFetcher
from intake.pages import PAGE_ROWS, pages_of, read_outcomes
from runtime.database import Database
from tests.factories import create_caller
from tests.memory_store import MemoryObjectStore
from tests.workflows.recording.import_cases import started
from workflows.products.contracts import ROWS_AT_ONCE, RecordRowsInput, RowOutcome, TakenUpRows, TakeUpRowsInput

ROWS = PAGE_ROWS + 3


class Scene:
    """An import of one row more than fits on a page, and its steps."""

    def __init__(self, database: Database, account_id: uuid.UUID) -> None:
        self.database, self.account_id, self.store = database, account_id, MemoryObjectStore()
        self.activities = GarmentActivities(database, self.store, RemoteImageFetcher(), ImageLimits(), DecoderPool())

    async def lay_out(self) -> None:
        for number, page in enumerate(pages_of([started(place).row for place in range(ROWS)], PAGE_ROWS)):
            await self.store.put(import_page_key(str(self.account_id), "i", "rows", number), page, "application/jsonl")

    async def take_up(self, first: int) -> TakenUpRows:
        request = TakeUpRowsInput(account_id=str(self.account_id), import_id="i", first=first)
        return await ActivityEnvironment().run(self.activities.take_up_rows, request)

    async def record(self, first: int, *outcomes: RowOutcome) -> int:
        request = RecordRowsInput(account_id=str(self.account_id), import_id="i", first=first, outcomes=list(outcomes))
        return (await ActivityEnvironment().run(self.activities.record_rows, request)).written

    async def recorded(self, page: int = 0) -> dict[int, RowOutcome]:
        key = import_page_key(str(self.account_id), "i", "outcomes", page)
        return read_outcomes(await self.store.get(key), RowOutcome)


@pytest.fixture
async def scene(database: Database, digester: KeyDigester) -> Scene:
    made = Scene(database, (await create_caller(database, digester)).account_id)
    await made.lay_out()
    return made


async def test_every_row_is_taken_up_once_and_in_order(scene: Scene) -> None:
    seen = []
    for first in range(0, ROWS, ROWS_AT_ONCE):
        taken = await scene.take_up(first)
        assert not taken.stopped
        assert len(taken.rows) <= ROWS_AT_ONCE
        seen += [each.row.number for each in taken.rows]
    assert seen == list(range(2, ROWS + 2))


async def test_outcomes_are_written_once_however_often_it_is_tried(scene: Scene) -> None:
    two, three = (RowOutcome(number=number, status="created") for number in (2, 3))
    assert [await scene.record(0, two), await scene.record(0, two), await scene.record(0, three)] == [1, 1, 1]
    assert await scene.recorded() == {2: two, 3: three}
    await scene.record(PAGE_ROWS, two)
    assert await scene.recorded(1) == {2: two}


async def test_a_blocked_account_registers_no_more_and_what_was_done_is_written(scene: Scene) -> None:
    await scene.database.write(
        accounts.block_account, account_id=scene.account_id, reason="abuse", now=datetime.now(UTC)
    )
    assert await scene.take_up(0) == TakenUpRows(stopped=True)
    assert await scene.record(0, RowOutcome(number=2, status="created")) == 1


async def test_behind_an_erasure_nothing_is_written(scene: Scene) -> None:
    with scene.database.transaction() as session:
        account = accounts.find_account(session, account_id=scene.account_id)
        assert account is not None
        account.erased_at = datetime.now(UTC)
    assert await scene.take_up(0) == TakenUpRows(stopped=True)
    before = set(scene.store.objects)
    assert await scene.record(0, RowOutcome(number=2, status="created")) == 0
    assert set(scene.store.objects) == before


async def test_a_file_that_is_gone_ends_the_import(scene: Scene) -> None:
    await scene.store.delete_prefix("imports/")
    assert await scene.take_up(0) == TakenUpRows(stopped=True)
