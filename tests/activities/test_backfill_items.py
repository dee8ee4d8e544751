"""Items that become jobs: under the same checks, limits and billing as a request."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.backfills import BackfillActivities
from domain import accounts
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.erasure import begin_erasure
from domain.errors import TryOnError
from domain.jobs import jobs
from domain.object_keys import result_key
from domain.tables import Job
from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from intake.job import workflow_input_of
from intake.pages import PAGE_ITEMS, pages_of
from runtime.database import Database
from tests.factories import PLANS, Caller, create_caller
from tests.ledger_entries import entries_of_job
from tests.memory_store import MemoryObjectStore
from tests.pictures import encoded
from workflows.backfills.contracts import (
    AcceptedItem,
    AcceptItemInput,
    AwaitJobInput,
    BackfillItem,
    ItemGarment,
    KeepResultInput,
    KeptResult,
)
from workflows.contracts import ObjectRef

PERSON, SHIRT = "backfills/photos/anna.jpg", "backfills/photos/shirt.png"


def item(key: str = "one", **fields: Any) -> BackfillItem:
    garment = {"garment_image_url": SHIRT, "category": "upper_body", **fields.pop("garment", {})}
    return BackfillItem(key=key, garments=[ItemGarment.model_validate(garment)], **{"person": PERSON, **fields})


class Scene:
    """An account's backfill in a store."""

    def __init__(self, database: Database, caller: Caller) -> None:
        self.database, self.caller = database, caller
        self.store = MemoryObjectStore()
        self._steps = BackfillActivities(database, self.store, PLANS, ImageLimits(), DecoderPool())

    async def lay_out(self, *items: BackfillItem, backfill_id: str = "b") -> None:
        for number, page in enumerate(pages_of(items, PAGE_ITEMS)):
            await self.store.put(f"backfills/{backfill_id}/items/{number:06}.jsonl", page, "application/jsonl")

    async def accept(self, number: int = 0, backfill_id: str = "b") -> AcceptedItem:
        request = AcceptItemInput(
            backfill_id=backfill_id,
            account_id=str(self.caller.account_id),
            number=number,
            priority=4,
            deadline_seconds=900,
        )
        return await ActivityEnvironment().run(self._steps.accept_item, request)

    async def keep(self, accepted: AcceptedItem, backfill_id: str = "b") -> KeptResult:
        request = KeepResultInput(
            backfill_id=backfill_id,
            account_id=str(self.caller.account_id),
            key=accepted.key or "",
            job_id=accepted.job_id or "",
        )
        return await ActivityEnvironment().run(self._steps.keep_result, request)

    async def await_job(self, accepted: AcceptedItem) -> Any:
        return await ActivityEnvironment().run(self._steps.await_job, AwaitJobInput(job_id=accepted.job_id or ""))

    async def complete(self, accepted: AcceptedItem) -> None:
        key = result_key(accepted.job_id or "")
        await self.store.put(key, b"a picture", "image/jpeg")
        await self.database.write(
            jobs.complete_job,
            job_id=uuid.UUID(accepted.job_id),
            result_key=key,
            engine="warp",
            report={},
            keep=timedelta(hours=1),
            now=datetime.now(UTC),
        )

    async def fail(self, accepted: AcceptedItem) -> None:
        await self.database.write(
            jobs.fail_job,
            job_id=uuid.UUID(accepted.job_id),
            error_code="timed_out",
            keep=timedelta(hours=1),
            now=datetime.now(UTC),
        )

    async def job(self, accepted: AcceptedItem) -> Job:
        return await self.database.read(jobs.get_job, job_id=uuid.UUID(accepted.job_id))

    async def kinds(self, accepted: AcceptedItem) -> list[str]:
        with self.database.reading() as session:
            return list(entries_of_job(session, job_id=uuid.UUID(accepted.job_id)))


@pytest.fixture
async def scene(database: Database, digester: KeyDigester) -> Scene:
    scene = Scene(database, await create_caller(database, digester))
    await scene.store.put(PERSON, encoded(), "image/jpeg")
    await scene.store.put(SHIRT, encoded(format="PNG"), "image/png")
    return scene


async def test_an_item_becomes_a_job_that_the_relay_leaves_alone(scene: Scene) -> None:
    await scene.lay_out(item())
    accepted = await scene.accept()
    assert (accepted.state, accepted.key) == ("accepted", "one")
    assert accepted.job is not None
    assert (accepted.job.priority, accepted.job.deadline_seconds, accepted.job.kind) == (4, 900, "single")
    photo = await scene.store.get(PERSON)
    assert accepted.job.person == ObjectRef.of("tryon", PERSON, photo, "image/jpeg")
    assert accepted.job.garments[0].picture is not None
    job = await scene.job(accepted)
    assert (job.status, job.api_key_id, accepted.job) == ("processing", None, workflow_input_of(job))
    assert accepted.job.deadline_at == job.deadline_at
    assert job.started_at is not None
    assert await scene.kinds(accepted) == ["reserve"]


async def test_an_items_engine_is_its_jobs(scene: Scene) -> None:
    await scene.lay_out(item(engine="klein"), item("two"))
    accepted = [(await scene.accept(number)).job for number in range(2)]
    assert [job.engine for job in accepted if job] == ["klein", None]


async def test_on_a_slow_machine_an_item_may_take_longer_than_its_backfill_says(scene: Scene) -> None:
    await scene.store.put("workers/one.json", b'{"by_garments": [1000, 2000, 3000, 4000]}', "application/json")
    await scene.lay_out(item())
    accepted = await scene.accept()
    assert accepted.job is not None
    assert (accepted.job.deadline_seconds, accepted.job.drawing_seconds) == (4000, 1000)


async def test_a_step_that_is_repeated_accepts_the_item_once(scene: Scene) -> None:
    await scene.lay_out(item())
    first, again = await scene.accept(), await scene.accept()
    assert again == first


async def test_two_backfills_at_once_accept_the_item_once(scene: Scene) -> None:
    await scene.lay_out(item())
    await scene.lay_out(item(), backfill_id="c")
    both = await asyncio.gather(scene.accept(), scene.accept(backfill_id="c"))
    assert sorted(accepted.state for accepted in both) == ["accepted", "running"]
    assert both[0].job_id == both[1].job_id


async def test_an_item_that_is_done_is_skipped_wherever_its_picture_is(scene: Scene) -> None:
    await scene.lay_out(item())
    await scene.lay_out(item(), backfill_id="c")
    first = await scene.accept()
    await scene.complete(first)
    done = await scene.accept(backfill_id="c")
    assert (done.state, done.job_id, done.result) == ("done", first.job_id, None)
    kept = await scene.keep(done, "c")
    assert kept.result == "backfills/c/results/one.jpg"
    assert await scene.store.get(kept.result) == b"a picture"
    assert (await scene.accept()).result == kept.result
    assert await scene.keep(first) == kept
    assert await scene.store.list_keys("backfills/b/results/") == []
    await scene.store.delete_prefix(kept.result)
    assert (await scene.accept()).result is None
    assert (await scene.keep(first)).result == "backfills/b/results/one.jpg"
    assert await scene.kinds(first) == ["reserve", "settle"]


async def test_an_item_that_failed_is_done_anew(scene: Scene) -> None:
    await scene.lay_out(item())
    first = await scene.accept()
    await scene.fail(first)
    second = await scene.accept()
    assert (second.state, second.job_id != first.job_id) == ("accepted", True)
    assert (await scene.kinds(first), await scene.kinds(second)) == (["reserve", "release"], ["reserve"])


async def test_another_account_has_items_of_its_own(scene: Scene, digester: KeyDigester) -> None:
    await scene.lay_out(item())
    await scene.accept()
    scene.caller = await create_caller(scene.database, digester)
    assert (await scene.accept()).state == "accepted"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"garment": {"garment_image_url": None, "product_id": "no-such-product"}}, "product_not_found"),
        ({"person": "backfills/photos/gone.jpg"}, "image_not_readable"),
        ({"garment": {"garment_image_url": "backfills/photos/text"}}, "image_not_readable"),
    ],
)
async def test_an_item_that_cannot_be_done_is_refused_and_costs_nothing(
    scene: Scene, wrong: dict[str, Any], code: str
) -> None:
    await scene.store.put("backfills/photos/text", b"no picture", "text/plain")
    await scene.lay_out(item(**wrong))
    refused = await scene.accept()
    assert (refused.state, refused.error_code, refused.job_id) == ("refused", code, None)
    with scene.database.reading() as session:
        assert jobs.list_open_of_account(session, account_id=scene.caller.account_id) == []


async def test_an_item_is_not_to_blame_for_a_decoder_without_time(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step is tried again, for as long as one item may hold up the others."""

    async def inspect(*_: object, **__: object) -> str:
        raise ImageError(ImageErrorCode.TOO_COMPLEX, "by the clock", retryable=True)

    await scene.lay_out(item())
    with monkeypatch.context() as busy:
        busy.setattr(DecoderPool, "inspect", inspect)
        with pytest.raises(TryOnError, match="busy"):
            await scene.accept()
    assert (await scene.accept()).state == "accepted"


async def test_without_generations_an_item_waits(scene: Scene, digester: KeyDigester) -> None:
    terms = OwnTerms(included=1, daily_cap=1)
    scene.caller = await create_caller(scene.database, digester, own_terms=terms)
    await scene.lay_out(item("one"), item("two"))
    await scene.complete(await scene.accept(0))
    waiting = await scene.accept(1)
    assert (waiting.state, waiting.error_code, waiting.retry_after_seconds) == ("waiting", "volume_exhausted", None)


async def test_a_daily_cap_says_when_to_go_on(scene: Scene, digester: KeyDigester) -> None:
    terms = OwnTerms(included=10, daily_cap=1)
    scene.caller = await create_caller(scene.database, digester, own_terms=terms)
    await scene.lay_out(item("one"), item("two"))
    await scene.accept(0)
    waiting = await scene.accept(1)
    assert (waiting.state, waiting.error_code) == ("waiting", "daily_cap_reached")
    assert waiting.retry_after_seconds is not None
    assert 0 < waiting.retry_after_seconds <= 86_400


async def test_items_of_a_blocked_account_wait(scene: Scene) -> None:
    await scene.lay_out(item())
    await scene.database.write(
        accounts.block_account, account_id=scene.caller.account_id, reason="unpaid", now=datetime.now(UTC)
    )
    assert (await scene.accept()).error_code == "account_blocked"


async def test_items_of_an_erased_account_stop_also_once_their_pages_are_gone(scene: Scene) -> None:
    await scene.lay_out(item())
    erased = await scene.database.write(begin_erasure, account_id=scene.caller.account_id, now=datetime.now(UTC))
    assert erased
    assert await scene.accept() == AcceptedItem(state="stopped")
    await scene.store.delete_prefix("backfills/b/")
    assert (await scene.accept()).state == "stopped"


async def test_the_picture_of_a_job_that_was_erased_is_not_kept(scene: Scene) -> None:
    await scene.lay_out(item())
    accepted = await scene.accept()
    await scene.complete(accepted)
    await scene.database.write(jobs.end_access, job_id=uuid.UUID(accepted.job_id), now=datetime.now(UTC))
    assert await scene.keep(accepted) == KeptResult()
    assert await scene.store.list_keys("backfills/b/results/") == []


async def test_a_copy_that_is_yet_to_go_is_nobodys_picture(scene: Scene) -> None:
    """Its job was erased; the item still has its key."""
    await scene.lay_out(item())
    accepted = await scene.accept()
    await scene.complete(accepted)
    copy = (await scene.keep(accepted)).result
    await scene.lay_out(item(), backfill_id="c")
    assert (await scene.accept(backfill_id="c")).result == copy
    await scene.database.write(jobs.end_access, job_id=uuid.UUID(accepted.job_id), now=datetime.now(UTC))
    known = await scene.accept(backfill_id="c")
    assert (known.state, known.result) == ("done", None)
    await scene.store.delete_prefix(result_key(accepted.job_id or ""))
    assert await scene.keep(accepted) == KeptResult()
    assert await scene.store.list_keys("backfills/b/results/") == []


async def test_a_copy_that_was_cut_off_does_not_outlive_an_erasure(scene: Scene) -> None:
    await scene.lay_out(item())
    accepted = await scene.accept()
    await scene.complete(accepted)
    await scene.store.put("backfills/b/results/one.jpg", b"a picture", "image/jpeg")
    await scene.store.delete_prefix(result_key(accepted.job_id or ""))
    await scene.database.write(jobs.end_access, job_id=uuid.UUID(accepted.job_id), now=datetime.now(UTC))
    assert await scene.keep(accepted) == KeptResult()
    assert await scene.store.list_keys("backfills/b/results/") == []


async def test_a_copy_that_goes_takes_no_other_whose_key_begins_alike(scene: Scene) -> None:
    await scene.lay_out(item("one"))
    accepted = await scene.accept()
    await scene.complete(accepted)
    other = "backfills/b/results/one.jpg-too.jpg"
    await scene.store.put(other, b"another picture", "image/jpeg")
    await scene.database.write(jobs.end_access, job_id=uuid.UUID(accepted.job_id), now=datetime.now(UTC))
    assert await scene.keep(accepted) == KeptResult()
    assert await scene.store.list_keys("backfills/b/results/") == [other]


async def test_an_item_that_was_erased_in_mid_job_is_not_drawn_again(scene: Scene) -> None:
    await scene.lay_out(item())
    accepted = await scene.accept()
    await scene.fail(accepted)
    await scene.database.write(jobs.end_access, job_id=uuid.UUID(accepted.job_id), now=datetime.now(UTC))
    assert (await scene.accept()).state == "refused"


async def test_a_job_in_progress_is_asked_about_again_and_one_that_ended_tells_how(scene: Scene) -> None:
    await scene.lay_out(item())
    accepted = await scene.accept()
    with pytest.raises(ApplicationError) as asked:
        await scene.await_job(accepted)
    assert not asked.value.non_retryable
    await scene.fail(accepted)
    ended = await scene.await_job(accepted)
    assert (ended.status, ended.error_code) == ("failed", "timed_out")


async def test_nobody_waits_for_a_job_that_a_restore_of_the_database_has_lost(scene: Scene) -> None:
    ended = await scene.await_job(AcceptedItem(key="one", state="running", job_id=str(uuid.uuid4())))
    assert (ended.status, ended.error_code) == ("failed", "job_not_found")
