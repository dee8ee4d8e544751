"""Request rates as a caller meets them: over HTTP, with a clock that the test moves."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError
from sqlalchemy.exc import OperationalError

from api.app import create_app
from api.parts import open_parts
from api.rate_limit import DatabaseRateLog, RateLimiter, ValkeyRateLog
from api.routes import RouteTable
from domain import accounts
from domain.access import keys
from domain.access.rates import RatePolicy, RateState
from domain.accounts import OwnTerms
from domain.money.plans import Plan, RequestRate
from runtime.database import Database
from runtime.settings import RateLimitSettings, Settings
from tests.api.conftest import Api, OpenApi
from tests.factories import PLANS
from tests.servers.processes import free_port

pytestmark = pytest.mark.databases("sqlite", "postgresql")

REQUESTS = RatePolicy("requests", requests=20, window_seconds=300)
MANAGEMENT = RatePolicy("management", requests=2, window_seconds=60)
VISITOR, PUBLISHABLE = RatePolicy("visitor", 20, 300), RatePolicy("publishable", 600, 300)
MANAGED = "/api/v1/usage"


@dataclass
class Clock:
    """Unix time that passes when the test says so."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def limited(open_api: OpenApi, database: Database, clock: Clock) -> AsyncIterator[Api]:
    limiter = RateLimiter(DatabaseRateLog(database, clock), REQUESTS, MANAGEMENT, VISITOR, PUBLISHABLE)
    async with open_api(rate_limiter=limiter) as api:
        yield api


async def poll(api: Api, **headers: str) -> httpx.Response:
    """Ask for a job that is not there: 404, and counted."""
    return await api.client.get(f"/api/v1/tryon/{uuid.uuid4()}", headers=headers)


async def spend(api: Api, calls: int) -> None:
    for _ in range(calls):
        assert (await poll(api)).status_code == 404


async def test_twenty_calls_pass_and_the_next_is_refused_until_the_first_has_left_the_window(
    limited: Api, clock: Clock
) -> None:
    for number in range(20):
        answer = await poll(limited)
        assert answer.status_code == 404
        assert answer.headers["RateLimit-Policy"] == '"requests";q=20;w=300'
        assert answer.headers["RateLimit"] == f'"requests";r={19 - number};t={300 - number}'
        clock.now += 1
    clock.now += 0.5
    refused = await poll(limited)
    assert refused.status_code == 429
    assert refused.json() == {"error": "Too many requests. Please wait a moment and try again."}
    assert refused.headers["X-Error-Code"] == "rate_limited"
    assert refused.headers["Retry-After"] == "280"
    assert refused.headers["RateLimit-Policy"] == '"requests";q=20;w=300'
    assert refused.headers["RateLimit"] == '"requests";r=0;t=280'
    assert refused.headers["Connection"] == "close"
    clock.now += 279
    assert (await poll(limited)).headers["Retry-After"] == "1"
    clock.now += 1
    assert (await poll(limited)).status_code == 404
    assert (await poll(limited)).status_code == 429


async def test_starts_and_polls_share_one_window(limited: Api) -> None:
    await spend(limited, 18)
    for path in ("/api/v1/tryon", "/api/v1/tryon/combo"):
        assert (await limited.post({}, path)).status_code == 400
    assert (await poll(limited)).status_code == 429
    for path in ("/api/v1/tryon", "/api/v1/tryon/combo"):
        assert (await limited.post({}, path)).status_code == 429


async def test_what_is_refused_before_the_count_does_not_count(limited: Api) -> None:
    await limited.parts.database.write(
        accounts.block_account, account_id=limited.caller.account_id, reason="a test", now=datetime.now(UTC)
    )
    before_the_count = [
        (await poll(limited), 403),
        (await poll(limited, Authorization="Bearer nonsense"), 401),
        (await limited.client.get("/api/v1/nothing"), 404),
        (await limited.client.put("/api/v1/tryon"), 405),
    ]
    for answer, status in before_the_count:
        assert answer.status_code == status
        assert "RateLimit" not in answer.headers
    await limited.parts.database.write(accounts.unblock_account, account_id=limited.caller.account_id)
    assert (await poll(limited)).headers["RateLimit"] == '"requests";r=19;t=300'


async def test_what_is_refused_after_the_count_counts_and_says_so(limited: Api) -> None:
    too_long = "x" * (limited.parts.settings.images.body_cap(3) + 1)
    answers = [
        (await limited.post({"customerPhotoBase64": 1}), 400),
        (await limited.client.post("/api/v1/tryon", content=b"{"), 400),
        (await limited.client.post("/api/v1/tryon", content=too_long), 413),
        (await poll(limited), 404),
    ]
    for number, (answer, status) in enumerate(answers):
        assert answer.status_code == status
        assert answer.headers["RateLimit"] == f'"requests";r={19 - number};t=300'


async def test_a_refused_call_does_not_count(limited: Api, clock: Clock) -> None:
    await spend(limited, 20)
    clock.now += 299
    for _ in range(30):
        assert (await limited.client.post("/api/v1/tryon", content=b"x")).status_code == 429
    clock.now += 1
    await spend(limited, 20)


async def test_another_key_of_the_account_has_its_own_window(limited: Api) -> None:
    await spend(limited, 20)
    assert (await poll(limited)).status_code == 429
    _, key = await limited.parts.database.write(
        keys.create_key, limited.parts.digester, account_id=limited.caller.account_id
    )
    assert (await poll(limited, Authorization=f"Bearer {key}")).headers["RateLimit"] == '"requests";r=19;t=300'


async def test_a_plan_and_an_account_may_have_a_rate_of_their_own(
    open_api: OpenApi, database: Database, clock: Clock
) -> None:
    limiter = RateLimiter(DatabaseRateLog(database, clock), REQUESTS, MANAGEMENT, VISITOR, PUBLISHABLE)
    fast = PLANS.plans["starter"].model_copy(update={"requests": 3, "window_seconds": 60})
    plans = PLANS.model_copy(update={"plans": {**PLANS.plans, "starter": fast}})
    async with open_api(rate_limiter=limiter, plans=plans) as api:

        async def put_on(plan: str, own: OwnTerms) -> None:
            await api.parts.database.write(
                accounts.change_plan,
                plans,
                account_id=api.caller.account_id,
                plan=plan,
                own_terms=own,
                now=datetime.now(UTC),
            )

        answers = [await poll(api) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [404, 404, 404, 429]
        assert answers[3].headers["RateLimit-Policy"] == '"requests";q=3;w=60'
        assert answers[3].headers["Retry-After"] == "60"
        await put_on("growth", accounts.PLAN_AS_IT_IS)  # which has none, so the settings say
        answer = await poll(api)
        assert answer.headers["RateLimit-Policy"] == '"requests";q=20;w=300'
        assert answer.headers["RateLimit"] == '"requests";r=16;t=300'
        await put_on("starter", OwnTerms(request_rate=RequestRate(5, 10)))
        assert (await poll(api)).headers["RateLimit-Policy"] == '"requests";q=5;w=10'
        assert (await poll(api)).status_code == 429
        clock.now += 10
        assert (await poll(api)).headers["RateLimit"] == '"requests";r=4;t=10'


@pytest.mark.parametrize(("requests", "window"), [(5, None), (None, 60), (0, 60), (10_001, 60), (5, 0), (5, 2_592_001)])
def test_half_a_rate_or_an_impossible_one_is_refused(requests: int | None, window: int | None) -> None:
    with pytest.raises(ValidationError, match="a request rate"):
        Plan(requests=requests, window_seconds=window)
    with pytest.raises(ValueError, match="a request rate"):
        RequestRate.of(requests, window)


async def test_other_calls_have_a_window_of_their_own(limited: Api) -> None:
    await spend(limited, 20)
    first = await limited.client.get(MANAGED)
    assert first.status_code == 200
    assert first.headers["RateLimit-Policy"] == '"management";q=2;w=60'
    assert first.headers["RateLimit"] == '"management";r=1;t=60'
    assert (await limited.client.delete(f"/api/v1/tryon/{uuid.uuid4()}")).headers[
        "RateLimit"
    ] == '"management";r=0;t=60'
    refused = await limited.client.get(MANAGED)
    assert refused.status_code == 429
    assert refused.headers["Retry-After"] == "60"


async def test_a_fault_of_ours_counts_and_says_so(limited: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError

    monkeypatch.setattr("api.usage.usage_of", fail)
    answer = await limited.client.get(MANAGED)
    assert answer.status_code == 500
    assert answer.headers["RateLimit"] == '"management";r=1;t=60'


@pytest.mark.parametrize("path", ["/healthz", "/openapi.json"])
async def test_a_call_without_a_key_has_no_rate(limited: Api, path: str) -> None:
    for _ in range(25):
        answer = await limited.client.get(path)
        assert answer.status_code == 200
        assert "RateLimit" not in answer.headers


async def test_a_log_that_cannot_be_written_is_503_and_not_an_open_door(open_api: OpenApi) -> None:
    class Locked:
        async def hit(self, key_id: uuid.UUID, policy: RatePolicy) -> RateState:
            raise OperationalError("", {}, Exception("database is locked"))

        async def ping(self) -> None: ...

        async def close(self) -> None: ...

    async with open_api(rate_limiter=RateLimiter(Locked(), REQUESTS, MANAGEMENT, VISITOR, PUBLISHABLE)) as api:
        answer = await poll(api)
    assert answer.status_code == 503
    assert answer.headers["X-Error-Code"] == "storage_unavailable"
    assert answer.headers["Retry-After"] == "2"


async def test_a_valkey_server_that_is_away_is_503_and_not_an_open_door(open_api: OpenApi) -> None:
    log = ValkeyRateLog(f"valkey://127.0.0.1:{free_port()}/0")
    async with open_api(rate_limiter=RateLimiter(log, REQUESTS, MANAGEMENT, VISITOR, PUBLISHABLE)) as api:
        answer, ready = await poll(api), await api.client.get("/readyz")
    await log.close()
    assert answer.status_code == 503
    assert answer.headers["X-Error-Code"] == "storage_unavailable"
    assert (ready.status_code, ready.json()["parts"]["rateLimit"]) == (503, "unreachable (ConnectionError)")


@pytest.mark.parametrize(
    ("method", "path", "policy"),
    [
        ("POST", "/api/v1/tryon", "requests"),
        ("POST", "/api/v1/tryon/combo", "requests"),
        ("GET", "/api/v1/tryon/5b0f9f0e", "requests"),
        ("DELETE", "/api/v1/tryon/5b0f9f0e", "management"),
        ("GET", "/api/v1/tryons", "management"),
        ("GET", "/api/v1/usage", "management"),
        ("POST", "/api/v1/products", "management"),
    ],
)
def test_a_call_falls_under_the_policy_of_its_route(method: str, path: str, policy: str) -> None:
    routes: RouteTable = create_app(Settings()).state.routes
    assert routes.find(path).policy(method).rate == policy


async def test_a_process_counts_by_its_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRYON_KEY_PEPPER", "p" * 32)
    monkeypatch.setenv("TRYON_S3_SECRET_KEY", "secret")
    monkeypatch.setenv("TRYON_DATABASE_URL", f"sqlite:///{tmp_path}/tryon.db")
    monkeypatch.setenv("TRYON_RATE_LIMIT_REQUESTS", "7")
    async with open_parts(Settings()) as parts:
        assert isinstance(parts.rate_limiter.log, DatabaseRateLog)
        assert parts.rate_limiter.requests == RatePolicy("requests", 7, 300)
        assert parts.rate_limiter.management == RatePolicy("management", 60, 60)
    monkeypatch.setenv("TRYON_RATE_LIMIT_URL", "valkey://127.0.0.1:1/0")
    async with open_parts(Settings()) as parts:
        assert isinstance(parts.rate_limiter.log, ValkeyRateLog)


@pytest.mark.parametrize("field", ["requests", "window_seconds", "management_requests", "management_window_seconds"])
def test_no_policy_can_be_switched_off(field: str) -> None:
    with pytest.raises(ValidationError):
        RateLimitSettings(**{field: 0})
