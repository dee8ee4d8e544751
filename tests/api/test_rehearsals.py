"""Test keys: every outcome on demand, no model, no bill."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import pytest

from api.tryon.accepting import REFUSALS, rehearsal_product_ids
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.errors import CATALOGUE
from domain.jobs import jobs
from domain.tables import Job
from runtime.database import Database
from tests.api.conftest import Api, OpenApi, combo, single
from tests.factories import Caller, create_caller


def rehearsed(product_id: str) -> dict[str, object]:
    return single(productId=product_id, garmentImageUrl=..., category=...)


@pytest.fixture
async def tester(database: Database, digester: KeyDigester) -> Caller:
    """A caller whose account could not pay for anything."""
    return await create_caller(database, digester, mode="test", own_terms=OwnTerms(included=0, daily_cap=0))


@pytest.fixture
async def test_api(open_api: OpenApi, tester: Caller) -> AsyncIterator[Api]:
    async with open_api() as api:
        api.client.headers.update(tester.headers)
        yield api


async def accepted(api: Api, database: Database, body: dict[str, object], path: str = "/api/v1/tryon") -> Job:
    answer = await api.post(body, path)
    assert answer.status_code == 202, answer.text
    return await database.read(jobs.get_job, job_id=uuid.UUID(answer.json()["jobId"]))


async def test_a_test_job_costs_nothing(test_api: Api, database: Database) -> None:
    job = await accepted(test_api, database, rehearsed("test_completed"))
    assert (job.allowance_id, job.counted_on) == (None, None)
    assert job.workflow_input["rehearsal"] == {"delaySeconds": 0, "errorCode": None}


async def test_slow_takes_its_time(test_api: Api, database: Database) -> None:
    job = await accepted(test_api, database, rehearsed("test_slow"))
    assert job.workflow_input["rehearsal"]["delaySeconds"] >= 10


@pytest.mark.parametrize("code", [code for code, entry in CATALOGUE.items() if entry.status is None])
async def test_every_failure_of_a_job_can_be_asked_for(test_api: Api, database: Database, code: str) -> None:
    job = await accepted(test_api, database, rehearsed(f"test_failed_{code}"))
    assert job.workflow_input["rehearsal"]["errorCode"] == code


@pytest.mark.parametrize("code", REFUSALS)
async def test_refusals_that_nobody_can_bring_about_can_be_asked_for(test_api: Api, code: str) -> None:
    answer = await test_api.post(rehearsed(f"test_refused_{code}"))
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (CATALOGUE[code].status, code)
    assert ("Retry-After" in answer.headers) == (answer.status_code in {429, 503})
    assert test_api.store.objects == {}


async def test_the_statuses_of_the_contract_are_among_them() -> None:
    assert {402, 429, 500} <= {CATALOGUE[code].status for code in REFUSALS}


async def test_a_combo_may_name_one_too(test_api: Api, database: Database) -> None:
    garment = {"garmentImageUrl": single()["garmentImageUrl"], "category": "upper_body"}
    job = await accepted(
        test_api, database, combo(garment, {"productId": "test_failed_several_people"}), "/api/v1/tryon/combo"
    )
    assert job.workflow_input["rehearsal"]["errorCode"] == "several_people"


async def test_anything_else_is_checked_as_usual_and_completes(test_api: Api, database: Database) -> None:
    job = await accepted(test_api, database, single())
    assert job.workflow_input["rehearsal"] == {"delaySeconds": 0, "errorCode": None}
    assert (await test_api.post(single(garmentImageUrl="data:image/png;base64,AAAA"))).status_code == 422


async def test_an_unknown_product_is_unknown_to_a_test_key_too(test_api: Api) -> None:
    assert (await test_api.post(rehearsed("no-such-product"))).status_code == 404


async def test_a_live_key_knows_none_of_them(api: Api) -> None:
    for product_id in rehearsal_product_ids():
        assert (await api.post(rehearsed(product_id))).status_code == 404
