"""Money and time over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from runtime.database import Database
from tests.api.conftest import Api, single
from tests.factories import create_caller

pytestmark = pytest.mark.databases("sqlite", "postgresql")


async def test_402_says_that_it_is_about_money(api: Api, database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=1))
    assert (await api.client.post("/api/v1/tryon", json=single(), headers=caller.headers)).status_code == 202
    answer = await api.client.post("/api/v1/tryon", json=single(), headers=caller.headers)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (402, "volume_exhausted")
    assert "Retry-After" not in answer.headers
    assert answer.json().keys() == {"error"}


async def test_a_trial_that_is_over_is_402(api: Api, database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, plan="trial", now=datetime.now(UTC) - timedelta(days=8))
    answer = await api.client.post("/api/v1/tryon", json=single(), headers=caller.headers)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (402, "trial_ended")


async def test_429_for_the_daily_cap_names_midnight(api: Api, database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(daily_cap=0))
    answer = await api.client.post("/api/v1/tryon", json=single(), headers=caller.headers)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (429, "daily_cap_reached")
    now = datetime.now(UTC)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    assert abs(int(answer.headers["Retry-After"]) - (midnight - now).total_seconds()) < 5


async def test_pictures_are_judged_before_money(api: Api, database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=0))
    body = single(garmentImageUrl="data:image/png;base64,AAAA")
    assert (await api.client.post("/api/v1/tryon", json=body, headers=caller.headers)).status_code == 422


async def test_nothing_is_stored_for_a_job_that_cannot_be_paid(
    api: Api, database: Database, digester: KeyDigester
) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=0))
    await api.client.post("/api/v1/tryon", json=single(), headers=caller.headers)
    assert api.store.objects == {}


async def test_a_poll_meets_no_quota(api: Api, database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester, own_terms=OwnTerms(included=1, daily_cap=1))
    job_id = (await api.client.post("/api/v1/tryon", json=single(), headers=caller.headers)).json()["jobId"]
    assert (await api.client.get(f"/api/v1/tryon/{job_id}", headers=caller.headers)).status_code == 200


async def test_usage_tells_how_the_account_stands(api: Api, database: Database, digester: KeyDigester) -> None:
    born = datetime.now(UTC) - timedelta(days=1)
    caller = await create_caller(database, digester, plan="trial", now=born)
    await api.client.post("/api/v1/tryon", json=single(), headers=caller.headers)
    body = (await api.client.get("/api/v1/usage", headers=caller.headers)).json()
    period, ends = body.pop("period"), body.pop("trialEndsAt")
    assert body == {
        "plan": "trial",
        "included": 10,
        "used": 0,
        "reserved": 1,
        "topUpRemaining": 0,
        "dailyCap": 10,
        "dailyUsed": 1,
    }
    assert datetime.fromisoformat(period["start"]) == born
    assert period["end"] == ends
    assert datetime.fromisoformat(ends) == born + timedelta(days=7)
