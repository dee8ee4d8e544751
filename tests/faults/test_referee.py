"""The referee of the fault tests: it says nothing of what is right, and sees each thing that can be wrong."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy import delete, select, update

from domain import webhooks
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.object_keys import JOBS, job_prefix, result_key
from domain.tables import Allowance, Job, WebhookDelivery
from domain.webhooks import EndpointTerms, message_id
from runtime.database import Database
from tests.factories import Caller, create_caller, create_job
from tests.faults import __main__ as program
from tests.faults import faults, referee
from tests.faults.faults import Listed
from tests.faults.referee import Verdict, announced, judge
from tests.faults.world import Call, Customer, World
from tests.memory_store import MemoryObjectStore
from tests.pictures import data_uri, encoded

NOW = datetime.now(UTC)


@dataclass
class Scene:
    """What the referee looks at of a world."""

    database: Database
    caller: Caller
    store: MemoryObjectStore = field(default_factory=MemoryObjectStore)
    probes: set[uuid.UUID] = field(default_factory=set)
    customers: list[Customer] = field(default_factory=list)
    figures: dict[str, int] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    purges: bool = True
    hits: Counter[str] = field(default_factory=Counter)
    healing: None = None
    in_progress: None = None

    def forget(self) -> None:
        pass

    async def until_healthy(self) -> float:
        return 0.0

    def expect(self, right: bool, words: str) -> None:
        self.complaints += [] if right else [words]

    async def gateway(self) -> Any:
        """Of a Temporal whose one schedule is the purge."""
        handle = SimpleNamespace(trigger=self.purge)
        return SimpleNamespace(client=SimpleNamespace(get_schedule_handle=lambda _name: handle))

    async def purge(self) -> None:
        """Delete what it deletes within the hour."""
        if self.purges:
            await self.store.delete_prefix(JOBS)

    @property
    def account_id(self) -> uuid.UUID:
        return self.caller.account_id

    async def job(self, end: str, *, told: str | None = None) -> uuid.UUID:
        """A job that ended so, and its customer, who was told this or the same."""
        job_id = await create_job(self.database, self.caller)
        about: dict[str, Any] = {"job_id": job_id, "keep": timedelta(hours=1), "now": NOW}
        if end == "completed":
            key = result_key(str(job_id))
            await self.store.put(key, b"picture", "image/jpeg")
            await self.database.write(jobs.complete_job, result_key=key, engine="fake", report={}, **about)
        elif end == "failed":
            await self.database.write(jobs.fail_job, error_code="timed_out", **about)
        error = "It took too long." if end == "failed" else ""
        self.customers.append(Customer(job_id=str(job_id), end=end if told is None else told, error=error))
        return job_id

    async def verdict(self, **options: Any) -> Verdict:
        return await judge(cast("World", self), self.customers, set(), 0.0, **options)


@pytest.fixture
async def scene(own_database: Database, digester: KeyDigester, monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(referee, "GONE_SECONDS", -1.0)
    scene = Scene(own_database, await create_caller(own_database, digester))
    await scene.job("completed")
    return scene


async def test_what_is_right_is_no_complaint(scene: Scene) -> None:
    scene.probes.add(await scene.job("completed"))
    scene.customers.pop()
    verdict = await scene.verdict()
    assert (verdict.jobs, verdict.completed, verdict.complaints(may_fail=False)) == (1, 1, [])


async def test_a_job_that_failed_is_told_with_its_reason_where_none_may_fail(scene: Scene) -> None:
    await scene.job("failed")
    verdict = await scene.verdict()
    assert verdict.complaints(may_fail=True) == []
    assert verdict.complaints(may_fail=False) == ["1 failed: It took too long."]


async def nobody_hears_of_the_end(scene: Scene) -> None:
    await scene.job("completed", told="")


async def the_row_is_gone(scene: Scene) -> None:
    scene.customers.append(Customer(job_id=str(uuid.uuid4()), end="completed"))


async def one_post_is_two_jobs(scene: Scene) -> None:
    await scene.job("completed")
    scene.customers.pop()


async def an_end_is_told_that_is_none(scene: Scene) -> None:
    await scene.job("processing", told="completed")


async def a_failed_job_is_billed(scene: Scene) -> None:
    job_id = await scene.job("completed", told="failed")
    with scene.database.transaction() as session:
        session.execute(update(Job).where(Job.id == job_id).values(status="failed", result_key=None))
    await scene.store.delete(result_key(str(job_id)))


async def another_end_is_told(scene: Scene) -> None:
    await scene.job("completed", told="failed")


async def the_picture_is_of_another_photo(scene: Scene) -> None:
    (customer,) = scene.customers
    customer.end_with({"status": "completed", "resultImageBase64": data_uri(encoded(Customer().photo))})


async def a_call_is_answered_with_a_fault(scene: Scene) -> None:
    scene.customers[0].calls.append(Call("GET", 0.0, 1.0, 500, ""))


async def a_counter_is_off(scene: Scene) -> None:
    with scene.database.transaction() as session:
        session.execute(update(Allowance).values(settled=Allowance.settled + 1))


async def no_picture_comes(scene: Scene) -> None:
    (customer,) = scene.customers
    customer.end_with({"status": "completed"})


async def a_photo_stays(scene: Scene) -> None:
    scene.purges = False
    await leave_a_photo(scene)


async def a_failed_job_keeps_its_picture(scene: Scene) -> None:
    await leave_a_picture(scene, await scene.job("failed"))


async def leave_a_photo(scene: Scene) -> None:
    await scene.store.put(job_prefix(scene.customers[0].job_id or "") + "person", b"photo", "image/jpeg")


async def leave_a_picture(scene: Scene, job_id: uuid.UUID) -> None:
    await scene.store.put(result_key(str(job_id)), b"picture", "image/jpeg")


def test_a_picture_of_ones_own_photo_is_ones_own() -> None:
    customer = Customer()
    customer.end_with({"status": "completed", "resultImageBase64": data_uri(encoded(customer.photo, quality=70))})
    assert not customer.mixed_up


async def test_what_is_not_to_be_expected_may_be_right_for_one_fault(scene: Scene) -> None:
    scene.customers[0].calls.append(Call("GET", 0.0, 1.0, 403, ""))
    assert (await scene.verdict()).complaints(may_fail=False, also=frozenset({"GET 403"})) == []


async def test_what_no_clean_up_has_deleted_is_a_complaint_where_nothing_kept_it_from_that(scene: Scene) -> None:
    rows = [await row_of(scene, leaves_nothing=leaves_nothing) for leaves_nothing in (False, True)]
    assert [(row["left"], row["left_to_purge"], row["complaints"]) for row in rows] == [
        (0, 1, []),
        (0, 1, ["1 left to purge"]),
    ]


async def row_of(scene: Scene, *, leaves_nothing: bool) -> dict[str, Any]:
    """Of a fault at which one photo is not cleaned up."""

    async def run(_world: World, _jobs: int) -> list[Customer]:
        await leave_a_photo(scene)
        return scene.customers

    listed = Listed("forgetful", "Nothing stays.", run, leaves_nothing=leaves_nothing)
    return await program._try(cast("World", scene), listed, 1, set())


async def test_a_picture_from_before_a_restore_may_wait_for_the_purge(scene: Scene) -> None:
    job_id = await scene.job("failed")
    await leave_a_picture(scene, job_id)
    assert (await scene.verdict(restored={job_id})).complaints(may_fail=True) == []


async def test_what_the_last_purge_finds_is_counted_before_it(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def purge(_world: World) -> None:
        scene.store.objects.clear()

    monkeypatch.setattr(faults, "RESULT_SECONDS", 0)
    monkeypatch.setattr(faults, "purge", purge)
    await leave_a_picture(scene, uuid.uuid4())
    await faults.nothing_stays(cast("World", scene), 0)
    assert scene.figures == {"before_purge": 2, "orphans_before_purge": 1}
    assert scene.complaints == []


@pytest.fixture
async def told(scene: Scene) -> Scene:
    """Its account has an endpoint, and two jobs that have ended since; the first had ended before."""
    terms = EndpointTerms("https://shop.example.com/", ["tryon.completed", "tryon.failed"])
    await scene.database.write(webhooks.create_endpoint, account_id=scene.account_id, terms=terms)
    for end in ("completed", "failed"):
        await scene.job(end)
    return scene


async def nothing_is_amiss(_scene: Scene, _received: set[str]) -> None:
    pass


async def an_end_has_no_message(scene: Scene, _received: set[str]) -> None:
    with scene.database.transaction() as session:
        session.execute(delete(WebhookDelivery).where(WebhookDelivery.event == "tryon.failed"))


async def a_delivery_failed(scene: Scene, _received: set[str]) -> None:
    with scene.database.transaction() as session:
        failed = update(WebhookDelivery).where(WebhookDelivery.event == "tryon.failed")
        session.execute(failed.values(status="failed"))


async def a_message_never_came(_scene: Scene, received: set[str]) -> None:
    received.pop()


@pytest.mark.parametrize(
    ("wrong", "figures"),
    [
        (nothing_is_amiss, {"delivered": 2, "untold": 0}),
        (an_end_has_no_message, {"delivered": 1, "untold": 1}),
        (a_delivery_failed, {"delivered": 1, "untold": 1}),
        (a_message_never_came, {"delivered": 2, "untold": 1}),
    ],
)
async def test_every_end_has_to_be_told(told: Scene, wrong: Any, figures: dict[str, int]) -> None:
    with told.database.transaction() as session:
        session.execute(update(WebhookDelivery).values(status="delivered"))
        received = {message_id(each) for each in session.scalars(select(WebhookDelivery.message_id))}
    await wrong(told, received)
    early = {uuid.UUID(told.customers[0].job_id)}
    assert announced(cast("World", told), received, early) == figures


@pytest.mark.parametrize(
    ("wrong", "complaints"),
    [
        (nobody_hears_of_the_end, ["1 lost"]),
        (the_row_is_gone, ["1 lost"]),
        (one_post_is_two_jobs, ["1 twice"]),
        (an_end_is_told_that_is_none, ["1 stuck", "1 told otherwise"]),
        (a_failed_job_is_billed, ["1 misbilled", "2 disagreements"]),
        (another_end_is_told, ["1 told otherwise"]),
        (the_picture_is_of_another_photo, ["1 mixed up"]),
        (a_call_is_answered_with_a_fault, ["1 answered GET 500"]),
        (a_counter_is_off, ["1 disagreements"]),
        (no_picture_comes, ["1 without picture"]),
        (a_photo_stays, ["1 left"]),
        (a_failed_job_keeps_its_picture, ["1 left"]),
    ],
)
async def test_each_wrong_is_a_complaint(scene: Scene, wrong: Any, complaints: list[str]) -> None:
    await wrong(scene)
    assert (await scene.verdict()).complaints(may_fail=True) == complaints
