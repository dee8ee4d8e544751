"""The referee of the fault tests: it says nothing of what is right, and sees each thing that can be wrong."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from sqlalchemy import update

from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.object_keys import job_prefix, result_key
from domain.tables import Allowance, Job
from runtime.database import Database
from tests.factories import Caller, create_caller, create_job
from tests.faults import referee
from tests.faults.referee import Verdict, judge
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

    async def verdict(self) -> Verdict:
        return await judge(cast("World", self), self.customers, set(), 0.0)


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


async def a_photo_stays(scene: Scene) -> None:
    await scene.store.put(job_prefix(scene.customers[0].job_id or "") + "person", b"photo", "image/jpeg")


def test_a_picture_of_ones_own_photo_is_ones_own() -> None:
    customer = Customer()
    customer.end_with({"status": "completed", "resultImageBase64": data_uri(encoded(customer.photo, quality=70))})
    assert not customer.mixed_up


async def test_what_is_not_to_be_expected_may_be_right_for_one_fault(scene: Scene) -> None:
    scene.customers[0].calls.append(Call("GET", 0.0, 1.0, 403, ""))
    assert (await scene.verdict()).complaints(may_fail=False, also=frozenset({"GET 403"})) == []


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
        (a_photo_stays, ["1 left"]),
    ],
)
async def test_each_wrong_is_a_complaint(scene: Scene, wrong: Any, complaints: list[str]) -> None:
    await wrong(scene)
    assert (await scene.verdict()).complaints(may_fail=True) == complaints
