"""Refusals as types."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import tryon_client
from domain.errors import CATALOGUE
from tests.tryon_client.conftest import OpenClient
from tests.tryon_client.replies import JOB, refusal
from tests.tryon_client.scripted_server import DROP, Reply, ScriptedServer
from tryon_client import (
    AccountBlocked,
    AuthenticationFailed,
    Conflict,
    ConnectionFailed,
    DailyCapReached,
    IdempotencyConflict,
    InvalidRequest,
    JobFailed,
    NotAllowed,
    NotFound,
    PaymentRequired,
    RateLimited,
    ServiceUnavailable,
    TryOnApiError,
    TryOnError,
    UnexpectedAnswer,
    WaitTimeout,
)
from tryon_client.answers import BY_STATUS


@pytest.fixture
def client(open_client: OpenClient) -> Any:
    """One that never tries twice."""
    return open_client(max_retries=0)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "field_invalid", InvalidRequest),
        (413, "image_too_large", InvalidRequest),
        (422, "image_not_readable", InvalidRequest),
        (401, "unauthorized", AuthenticationFailed),
        (402, "volume_exhausted", PaymentRequired),
        (403, "account_blocked", AccountBlocked),
        (403, "key_scope_missing", NotAllowed),
        (404, "job_not_found", NotFound),
        (409, "idempotency_in_progress", IdempotencyConflict),
        (409, "external_id_taken", Conflict),
        (429, "rate_limited", RateLimited),
        (429, "daily_cap_reached", DailyCapReached),
        (429, "key_daily_cap_reached", DailyCapReached),
        (429, "never_heard_of", RateLimited),
        (500, "internal", ServiceUnavailable),
        (503, "busy", ServiceUnavailable),
        (599, None, ServiceUnavailable),
        (418, "never_heard_of", TryOnApiError),
        (400, None, InvalidRequest),
    ],
)
async def test_a_refusal_is_an_error_of_its_kind(
    client: Any, server: ScriptedServer, status: int, code: str | None, kind: type[TryOnApiError]
) -> None:
    server.reply(refusal(status, code, X_Request_Id="r-1", Retry_After="90"))
    with pytest.raises(TryOnApiError) as caught:
        await client.get(JOB)
    error = caught.value
    assert type(error) is kind
    assert (error.status, error.code, error.request_id, error.retry_after) == (status, code, "r-1", 90)
    assert error.sentence == f"Refused with {status}."
    assert f"status {status}" in str(error)


def test_every_refusal_that_the_service_knows_has_a_kind_of_its_own() -> None:
    statuses = {entry.status for entry in CATALOGUE.values() if entry.status is not None}
    assert {status for status in statuses if status < 500 and status not in BY_STATUS} == {405}


@pytest.mark.parametrize("page", [b"<html>502 Bad Gateway</html>", b'["error"]', b'{"error": 5}', b"", b"\xff\xfe"])
async def test_a_proxys_page_is_an_error_too(client: Any, server: ScriptedServer, page: bytes) -> None:
    server.reply(Reply(502, page))
    with pytest.raises(ServiceUnavailable, match="status 502 and no explanation"):
        await client.get(JOB)


@pytest.mark.parametrize(
    "answer",
    [
        Reply(200, b"<html>Welcome</html>"),
        Reply(200, []),
        Reply(200, {}),
        Reply(200, {"status": "completed"}),
        Reply(200, {"status": "completed", "resultImageBase64": 5, "generationTimeMs": 5}),
        Reply(200, {"status": "completed", "resultImageBase64": "data:image/jpeg;base64,#", "generationTimeMs": 5}),
        Reply(302, None, {"Location": "/login"}),
    ],
)
async def test_what_does_not_read_as_the_api_is_said_to_be_so(
    client: Any, server: ScriptedServer, answer: Reply
) -> None:
    server.reply(answer)
    with pytest.raises(UnexpectedAnswer):
        await client.get(JOB)


@pytest.mark.parametrize("call", ["usage", "start", "product", "products"])
async def test_so_are_the_other_answers(client: Any, server: ScriptedServer, jpeg: bytes, call: str) -> None:
    server.reply(Reply(200, {"unknown": 1}))
    with pytest.raises(UnexpectedAnswer):
        match call:
            case "usage":
                await client.usage()
            case "start":
                await client.start(jpeg, product_id="prod_1")
            case "product":
                await client.products.get("prod_1")
            case "products":
                [item async for item in client.products.list()]


async def test_a_status_that_nobody_has_heard_of_is_still_in_progress(client: Any, server: ScriptedServer) -> None:
    server.reply(Reply(200, {"status": "queued", "position": 3}))
    assert not (await client.get(JOB)).finished


async def test_no_answer_at_all_is_a_failed_connection(client: Any, server: ScriptedServer) -> None:
    server.reply(DROP)
    with pytest.raises(ConnectionFailed, match=f"GET /api/v1/tryon/{JOB}") as caught:
        await client.get(JOB)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    "error",
    [RateLimited(429, "rate_limited", "Slow down.", "r-1", 3.0), JobFailed(JOB, "No person."), WaitTimeout(JOB, 5)],
)
def test_errors_travel_between_processes(error: TryOnError) -> None:
    error.job_id = JOB
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_every_error_can_be_caught_as_one() -> None:
    kinds = [getattr(tryon_client, name) for name in tryon_client.__all__]
    errors = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(errors) == 17
    assert all(issubclass(kind, TryOnError) for kind in errors)
