"""What is refused on headers alone, in the decided order and before the body is read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import OperationalError
from starlette.types import Message

from domain import accounts
from domain.access import keys
from tests.api.conftest import Api, single

BAD_KEYS = {
    "missing": None,
    "another scheme": "Basic abc",
    "no key": "Bearer ",
    "malformed": "Bearer vto_live_short",
    "unknown": "Bearer vto_live_" + "a" * 43,
}


@pytest.mark.parametrize("header", BAD_KEYS.values(), ids=BAD_KEYS)
async def test_every_bad_key_is_the_same_401(api: Api, header: str | None) -> None:
    api.client.headers.pop("Authorization")
    headers = {} if header is None else {"Authorization": header}
    answer = await api.client.post("/api/v1/tryon", json=single(), headers=headers)
    assert answer.status_code == 401
    assert answer.json() == {"error": "The API key is missing or not valid."}
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["bearer", "BEARER"])
async def test_the_scheme_is_read_in_any_case(api: Api, scheme: str) -> None:
    api.client.headers["Authorization"] = f"{scheme} {api.caller.key}"
    assert (await api.post(single())).status_code == 202


async def test_a_revoked_key_is_401(api: Api) -> None:
    await api.parts.database.write(keys.revoke_key, key_id=api.caller.key_id)
    assert (await api.post(single())).status_code == 401


async def test_a_blocked_account_is_403_polls_too(api: Api) -> None:
    job_id = (await api.post(single())).json()["jobId"]
    await api.parts.database.write(
        accounts.block_account, account_id=api.caller.account_id, reason="abuse", now=datetime.now(UTC)
    )
    assert (await api.post(single())).status_code == 403
    assert (await api.poll(job_id)).status_code == 403


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api/v2/tryon/x", 404),
        ("POST", "/api/v1/tryon/x/y", 404),
        ("PUT", "/api/v1/tryon/combo", 405),
        ("PUT", "/api/v1/tryon", 405),
        ("PATCH", "/api/v1/tryon/combo", 405),
        ("GET", "/api/v1/tryon/combo", 405),
        ("GET", "/nothing", 404),
    ],
)
async def test_the_route_is_judged_before_the_key(api: Api, method: str, path: str, status: int) -> None:
    api.client.headers.pop("Authorization")
    answer = await api.client.request(method, path)
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}


async def test_a_refused_caller_is_answered_before_the_body_is_read(api: Api) -> None:
    happened: list[str] = []

    async def receive() -> Message:
        happened.append("read")
        return {"type": "http.request", "body": b"x" * 100_000, "more_body": len(happened) < 10}

    async def send(message: Message) -> None:
        happened.append(message["type"])
        if message["type"] == "http.response.start":
            assert message["status"] == 401
            assert (b"connection", b"close") in message["headers"]

    await api.app(
        {
            "type": "http",
            "method": "POST",
            "path": "/api/v1/tryon",
            "query_string": b"",
            "headers": [(b"host", b"localhost"), (b"authorization", b"Bearer nonsense")],
        },
        receive,
        send,
    )
    assert happened[:2] == ["http.response.start", "http.response.body"]
    assert happened[2:] == ["read"] * 8 + ["http.response.body"]


async def test_a_sane_request_id_is_kept_and_another_is_replaced(api: Api) -> None:
    kept = await api.client.get("/healthz", headers={"X-Request-Id": "shop-42"})
    assert kept.headers["X-Request-Id"] == "shop-42"
    replaced = await api.client.get("/healthz", headers={"X-Request-Id": "a b\tc" * 50})
    assert len(replaced.headers["X-Request-Id"]) == 32


async def test_no_answer_may_be_cached(api: Api) -> None:
    for answer in (await api.post(single()), await api.poll("x"), await api.client.get("/nothing")):
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("fault", "status"),
    [(OperationalError("", {}, Exception()), 503), (ConnectionRefusedError(), 503), (KeyError(), 500)],
)
async def test_a_database_that_is_away_is_503_and_a_fault_of_ours_is_500(
    api: Api, monkeypatch: pytest.MonkeyPatch, fault: Exception, status: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(api.parts.database, "read", fail)
    answer = await api.poll("x")
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
