"""What is sent again, when, and under which key."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from domain.access.idempotency import LEASE
from tests.tryon_client.conftest import FakeTime, OpenClient
from tests.tryon_client.replies import ACCEPTED, COMPLETED, JOB, PICTURE, processing, refusal
from tests.tryon_client.scripted_server import DROP, Received, Reply, ScriptedServer
from tryon_client import (
    Conflict,
    ConnectionFailed,
    DailyCapReached,
    IdempotencyConflict,
    InvalidRequest,
    NotFound,
    PaymentRequired,
    RateLimited,
    ServiceUnavailable,
    TryOnApiError,
    TryOnClient,
    UnexpectedAnswer,
)
from tryon_client.operations import API_REQUESTS, LONGEST_BACKOFF_SECONDS, LONGEST_CLAIM_SECONDS

TAKEN = refusal(409, "idempotency_in_progress", Retry_After="1")


async def test_a_post_is_repeated_under_the_same_key_with_the_same_bytes(
    client: Any, server: ScriptedServer, jpeg: bytes
) -> None:
    server.reply(refusal(503, "busy"), DROP, Reply(202, ACCEPTED.body, {"Idempotent-Replayed": "true"}))
    job = await client.start(jpeg, product_id="prod_1")
    assert (job.job_id, job.replayed) == (JOB, True)
    assert len({sent.headers["Idempotency-Key"] for sent in server.received}) == 1
    assert len({sent.content for sent in server.received}) == 1
    assert uuid.UUID(server.received[0].headers["Idempotency-Key"]).version == 4


async def test_every_call_has_a_key_of_its_own(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(ACCEPTED, ACCEPTED)
    for _ in range(2):
        await client.start(jpeg, product_id="prod_1")
    assert len({sent.headers["Idempotency-Key"] for sent in server.received}) == 2


async def test_the_callers_own_key_is_used(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(refusal(500), ACCEPTED)
    await client.start(jpeg, product_id="prod_1", idempotency_key="order 17")
    assert [sent.headers["Idempotency-Key"] for sent in server.received] == ["order 17"] * 2


@pytest.mark.parametrize(
    "failure",
    [
        DROP,
        refusal(429, "rate_limited", Retry_After="3"),
        refusal(429),
        refusal(409, "idempotency_in_progress"),
        *(refusal(status) for status in (408, 500, 502, 503, 504)),
    ],
    ids=lambda failure: str(failure.status),
)
async def test_what_may_pass_is_tried_again(client: Any, server: ScriptedServer, failure: Reply) -> None:
    server.reply(failure, processing())
    assert (await client.get(JOB)).status == "processing"


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (refusal(402, "volume_exhausted"), PaymentRequired),
        (refusal(402, "volume_exhausted", Retry_After="1"), PaymentRequired),
        (refusal(429, "daily_cap_reached", Retry_After="1"), DailyCapReached),
        (refusal(429, "of_next_year", Retry_After="1"), RateLimited),
        (refusal(400, "field_invalid"), InvalidRequest),
        (refusal(422, "idempotency_mismatch"), InvalidRequest),
        (refusal(409, "external_id_taken", Retry_After="1"), Conflict),
        (refusal(404, "job_not_found"), NotFound),
        (refusal(501), ServiceUnavailable),
    ],
)
async def test_what_will_not_pass_is_said_at_once(
    client: Any, server: ScriptedServer, time: FakeTime, failure: Reply, kind: type[TryOnApiError]
) -> None:
    server.reply(failure)
    with pytest.raises(kind):
        await client.get(JOB)
    assert time.slept == []


def lost_at_first(server: ScriptedServer, time: FakeTime, *, seconds: float) -> None:
    """The first request is never answered, and for so long every other one finds its key taken."""
    began = time.now

    def answer(request: Received) -> Reply:
        if request.method == "GET":
            return COMPLETED
        return TAKEN if time.now < began + seconds else ACCEPTED

    server.reply(DROP)
    server.answer = answer


async def test_a_key_that_a_lost_request_has_is_waited_for(
    open_client: OpenClient, server: ScriptedServer, time: FakeTime, jpeg: bytes
) -> None:
    lost_at_first(server, time, seconds=LEASE.total_seconds())
    job = await open_client(max_retries=1).start(jpeg, product_id="prod_1")
    assert job.job_id == JOB
    assert len({sent.headers["Idempotency-Key"] for sent in server.received}) == 1
    assert len(server.received) < API_REQUESTS, "the wait leaves requests for the polls"


def test_it_is_waited_for_until_one_try_comes_after_the_services_lease() -> None:
    assert LEASE.total_seconds() + LONGEST_BACKOFF_SECONDS <= LONGEST_CLAIM_SECONDS


async def test_a_key_that_stays_taken_is_told_with_the_error(
    client: Any, server: ScriptedServer, time: FakeTime, jpeg: bytes
) -> None:
    lost_at_first(server, time, seconds=1e6)
    with pytest.raises(IdempotencyConflict) as caught:
        await client.start(jpeg, product_id="prod_1")
    assert LEASE.total_seconds() < sum(time.slept) <= LONGEST_CLAIM_SECONDS + 0.5
    assert caught.value.idempotency_key == server.received[0].headers["Idempotency-Key"]


async def test_with_a_deadline_the_key_is_waited_for_until_then(
    client: Any, server: ScriptedServer, time: FakeTime, jpeg: bytes
) -> None:
    lost_at_first(server, time, seconds=LONGEST_CLAIM_SECONDS + 10)
    assert (await client.run_and_wait(jpeg, product_id="prod_1", timeout=200)).image == PICTURE


async def test_and_no_longer(client: Any, server: ScriptedServer, time: FakeTime, jpeg: bytes) -> None:
    lost_at_first(server, time, seconds=1e6)
    with pytest.raises(IdempotencyConflict):
        await client.run_and_wait(jpeg, product_id="prod_1", timeout=40)
    assert 40 - LONGEST_BACKOFF_SECONDS <= sum(time.slept) < 40


async def test_a_key_that_turns_out_to_be_another_requests_is_said_at_once(
    client: Any, server: ScriptedServer, time: FakeTime, jpeg: bytes
) -> None:
    server.reply(TAKEN, refusal(422, "idempotency_mismatch"))
    with pytest.raises(InvalidRequest):
        await client.start(jpeg, product_id="prod_1", idempotency_key="order 17")
    assert time.slept == [1]


async def test_each_try_that_may_have_claimed_the_key_is_waited_for(
    client: Any, server: ScriptedServer, time: FakeTime, jpeg: bytes
) -> None:
    slept = LEASE.total_seconds() + 1
    server.reply(*[refusal(409, "idempotency_in_progress", Retry_After=f"{slept:.0f}"), DROP] * 2, ACCEPTED)
    await client.start(jpeg, product_id="prod_1")
    assert sum(time.slept) > 2 * slept


async def test_no_answer_leaves_the_key_to_ask_again_with(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(*[DROP] * 4)
    with pytest.raises(ConnectionFailed) as caught:
        await client.start(jpeg, product_id="prod_1")
    assert caught.value.idempotency_key == server.received[0].headers["Idempotency-Key"]


async def test_an_answer_that_cannot_be_read_leaves_it_too(client: Any, server: ScriptedServer, jpeg: bytes) -> None:
    server.reply(Reply(202, b"<h1>All is well</h1>"))
    with pytest.raises(UnexpectedAnswer) as caught:
        await client.start(jpeg, product_id="prod_1")
    assert caught.value.idempotency_key == server.received[0].headers["Idempotency-Key"]


async def test_three_retries_and_no_more(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(*[refusal(503)] * 4)
    with pytest.raises(ServiceUnavailable):
        await client.get(JOB)
    assert len(time.slept) == 3


async def test_as_many_as_the_caller_wants(open_client: OpenClient, server: ScriptedServer) -> None:
    server.reply(DROP, DROP)
    with pytest.raises(ConnectionFailed):
        await open_client(max_retries=1).get(JOB)


async def test_the_pauses_grow_and_vary(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(*[refusal(503)] * 3, processing(), *[refusal(503)] * 3, processing())
    await client.get(JOB)
    await client.get(JOB)
    for pause, longest in zip(time.slept, [0.5, 1, 2] * 2, strict=True):
        assert longest / 2 <= pause <= longest
    assert time.slept[:3] != time.slept[3:]


@pytest.mark.parametrize("status", [429, 503])
async def test_the_servers_own_pause_goes_before(
    client: Any, server: ScriptedServer, time: FakeTime, status: int
) -> None:
    server.reply(refusal(status, "rate_limited", Retry_After="60"), processing())
    await client.get(JOB)
    assert time.slept == [60]


async def test_a_pause_until_a_date_is_understood(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    server.reply(refusal(503, Retry_After=date), processing())
    await client.get(JOB)
    assert 25 < time.slept[0] <= 30


async def test_too_long_a_pause_is_the_callers_decision(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(refusal(429, "rate_limited", Retry_After="61"))
    with pytest.raises(RateLimited) as caught:
        await client.get(JOB)
    assert (caught.value.retry_after, time.slept) == (61, [])


async def test_a_pause_that_cannot_be_read_is_our_own(client: Any, server: ScriptedServer, time: FakeTime) -> None:
    server.reply(refusal(503, Retry_After="soon"), processing())
    await client.get(JOB)
    assert time.slept[0] <= 0.5


async def test_a_deletion_whose_answer_was_lost_is_done(client: Any, server: ScriptedServer) -> None:
    server.reply(DROP, refusal(404, "job_not_found"), DROP, refusal(404, "product_not_found"))
    await client.delete(JOB)
    await client.products.archive("prod_1")


async def test_a_deletion_of_nothing_is_not(client: Any, server: ScriptedServer) -> None:
    server.reply(refusal(404, "job_not_found"))
    with pytest.raises(NotFound):
        await client.delete(JOB)


async def test_nobody_at_the_address_is_retried_and_then_said(time: FakeTime) -> None:
    with (
        TryOnClient("http://127.0.0.1:9", "key", sleep=time.sleep, clock=time.clock) as client,
        pytest.raises(ConnectionFailed),
    ):
        client.get(JOB)
    assert len(time.slept) == 3
