"""A POST that is sent again never makes a second job."""

from __future__ import annotations

import asyncio
import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select, update

from domain.access import idempotency, keys
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.tables import IdempotencyKey, Job
from runtime.database import Database
from runtime.object_store import ObjectStoreUnavailableError
from tests.api.conftest import Api, combo, single
from tests.factories import create_caller

pytestmark = pytest.mark.databases("sqlite", "postgresql")

PATH = "/api/v1/tryon"


async def post(api: Api, key: str, body: Any | None = None, path: str = PATH, **headers: str) -> httpx.Response:
    content = json.dumps(body or single())
    headers = {"Idempotency-Key": key, "Content-Type": "application/json", **headers}
    return await api.client.post(path, content=content, headers=headers)


async def jobs_of(api: Api, database: Database) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).where(Job.account_id == api.caller.account_id)) or 0


async def test_the_same_request_again_is_the_same_job(api: Api, database: Database) -> None:
    body = single(unknown=1)
    first, second = await post(api, "k1", body), await post(api, "k1", body)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json() == second.json()
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    for name in ("Location", "X-Ignored-Fields"):
        assert first.headers[name] == second.headers[name]
    assert await jobs_of(api, database) == 1


async def test_a_replay_costs_no_quota(api: Api, database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=1, daily_cap=1))
    answers = [await post(api, "k", **caller.headers) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202] * 3


@pytest.mark.parametrize("path", [PATH, f"{PATH}/combo"])
async def test_another_body_under_the_same_key_is_422(api: Api, path: str) -> None:
    await post(api, "k2")
    answer = await post(api, "k2", combo() if path.endswith("combo") else single(size="M"), path)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (422, "idempotency_mismatch")


async def test_a_combo_can_be_repeated_too(api: Api) -> None:
    body = combo()
    answers = [await post(api, "k3", body, f"{PATH}/combo") for _ in range(2)]
    assert answers[0].json() == answers[1].json()


async def test_of_many_first_uses_at_once_one_makes_the_job(api: Api, database: Database) -> None:
    body = single()
    answers = await asyncio.gather(*(post(api, "k4", body) for _ in range(8)))
    assert {answer.status_code for answer in answers} <= {202, 409}
    assert len({answer.json()["jobId"] for answer in answers if answer.status_code == 202}) == 1
    for answer in answers:
        if answer.status_code == 409:
            assert answer.headers["X-Error-Code"] == "idempotency_in_progress"
            assert int(answer.headers["Retry-After"]) >= 1
    assert await jobs_of(api, database) == 1


async def test_keys_of_two_accounts_have_nothing_to_do_with_each_other(
    api: Api, database: Database, digester: KeyDigester
) -> None:
    other = await create_caller(database, digester)
    body = single()
    first, second = await post(api, "k5", body), await post(api, "k5", body, **other.headers)
    assert first.json()["jobId"] != second.json()["jobId"]
    assert "Idempotent-Replayed" not in second.headers


async def test_a_live_request_is_no_repetition_of_a_test_keys(
    api: Api, database: Database, digester: KeyDigester
) -> None:
    _, test_key = await database.write(keys.create_key, digester, account_id=api.caller.account_id, mode="test")
    body = single()
    assert (await post(api, "k5b", body, Authorization=f"Bearer {test_key}")).status_code == 202
    assert (await post(api, "k5b", body)).headers["X-Error-Code"] == "idempotency_mismatch"


async def test_only_accepted_requests_are_remembered(api: Api) -> None:
    refused = await post(api, "k6", single(garmentImageUrl="data:image/png;base64,AAAA"))
    assert refused.status_code == 422
    assert (await post(api, "k6")).status_code == 202


async def test_a_fault_of_ours_gives_the_key_back(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(key: str, data: bytes, content_type: str) -> None:
        raise ObjectStoreUnavailableError(key)

    body = single()
    with monkeypatch.context() as broken:
        broken.setattr(api.store, "put", away)
        assert (await post(api, "k7", body)).status_code == 503
    assert (await post(api, "k7", body)).status_code == 202


async def test_a_claim_whose_process_died_is_taken_over(api: Api, database: Database) -> None:
    body = single()
    abandoned = await database.write(
        idempotency.claim_key, account_id=api.caller.account_id, key="k8", fingerprint="0" * 64, now=datetime.now(UTC)
    )
    assert isinstance(abandoned, idempotency.Claim)
    await age(database, api, timedelta(seconds=45))
    assert (await post(api, "k8", body)).status_code in {409, 422}
    await age(database, api, timedelta(seconds=60))
    assert (await post(api, "k8", body)).status_code == 202
    with pytest.raises(Exception, match="idempotency_in_progress"), database.transaction() as session:
        idempotency.complete_claim(session, abandoned, job_id=uuid.uuid4())


async def test_a_key_is_forgotten_after_a_day(api: Api, database: Database) -> None:
    body = single()
    first = await post(api, "k9", body)
    await age(database, api, timedelta(hours=23))
    again = await post(api, "k9", body)
    await age(database, api, timedelta(hours=24))
    second = await post(api, "k9", body)
    assert again.json()["jobId"] == first.json()["jobId"] != second.json()["jobId"]


async def test_quotes_around_a_key_are_not_part_of_it(api: Api) -> None:
    body = single()
    first, second = await post(api, "k10", body), await post(api, '"k10"', body)
    assert first.json() == second.json()


@pytest.mark.parametrize("key", ["", " ", '""', "a" * 256, "tab\tinside"])
async def test_a_key_that_is_none_is_400(api: Api, key: str) -> None:
    answer = await post(api, key)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (400, "idempotency_key_invalid")


async def age(database: Database, api: Api, by: timedelta) -> None:
    with database.transaction() as session:
        session.execute(
            update(IdempotencyKey)
            .where(IdempotencyKey.account_id == api.caller.account_id)
            .values(claimed_at=datetime.now(UTC) - by)
        )
