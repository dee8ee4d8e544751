"""The client and the real application, in one process: what one sends, the other understands."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from temporalio.client import Client

from api.rate_limit import DatabaseRateLog, RateLimiter
from domain.access.rates import RatePolicy
from domain.jobs import jobs
from runtime.database import Database
from tests.api.catalogue import Catalogue, in_shop, opened_catalogue
from tests.api.conftest import Api, OpenApi
from tests.factories import create_caller
from tryon_client import (
    AsyncTryOnClient,
    AuthenticationFailed,
    Conflict,
    DailyCapReached,
    Garment,
    InvalidRequest,
    JobFailed,
    NotFound,
    PaymentRequired,
    RateLimited,
    ServiceUnavailable,
    TryOnApiError,
    WaitTimeout,
)

HOUR = timedelta(hours=1)


class LossyTransport(httpx.AsyncBaseTransport):
    """Delivers every request, and loses as many answers as it is told to."""

    def __init__(self, inner: httpx.AsyncBaseTransport, lost: int) -> None:
        self._inner = inner
        self._lost = lost

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        if self._lost:
            self._lost -= 1
            raise httpx.ReadError("the answer was lost", request=request)
        return response


async def no_sleep(_seconds: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
def client(api: Api) -> AsyncTryOnClient:
    return AsyncTryOnClient("http://tryon", api.caller.key, http=api.client, sleep=no_sleep)


async def test_a_job_from_start_to_picture_in_one_held_poll(
    api: Api, client: AsyncTryOnClient, jpeg: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    request = api.client.request

    async def counted(**arguments: object) -> httpx.Response:
        sent.append(str(arguments["method"]))
        return await request(**arguments)  # type: ignore[arg-type]  # handed on as it came

    monkeypatch.setattr(api.client, "request", counted)
    job = await client.start(jpeg, jpeg, category="upper_body", garment_category="t-shirt", view_angle="back")
    waiting = asyncio.create_task(client.wait(job.job_id))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    await api.complete(job.job_id, b"the picture")
    result = await waiting
    assert (result.job_id, result.image) == (job.job_id, b"the picture")
    assert result.generation_ms > 0
    assert sent == ["POST", "GET"]


async def test_a_poll_is_held_no_longer_than_asked(client: AsyncTryOnClient, jpeg: bytes) -> None:
    job = await client.start(jpeg, jpeg, category="upper_body")
    began = time.monotonic()
    assert (await client.get(job.job_id, wait=1)).status == "processing"
    assert 0.9 < time.monotonic() - began < 20


async def test_the_services_own_rate_limit_sets_the_pace(
    open_api: OpenApi, database: Database, jpeg: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRYON_JOB_LONGEST_WAIT_SECONDS", "1")
    log, slept = DatabaseRateLog(database), list[float]()
    rates = {"requests": (4, 60), "management": (100, 1), "visitor": (4, 60), "publishable": (100, 1)}
    limiter = RateLimiter(log, *(RatePolicy(name, *numbers) for name, numbers in rates.items()))

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def stop_at_the_second_poll(_request: httpx.Request) -> None:
        if slept:
            raise InterruptedError

    async with open_api(rate_limiter=limiter) as api:
        api.client.event_hooks["request"].append(stop_at_the_second_poll)
        client = AsyncTryOnClient(
            "http://tryon", api.caller.key, http=api.client, sleep=sleep, clock=lambda: time.monotonic() + sum(slept)
        )
        job = await client.start(jpeg, jpeg, category="upper_body")
        with pytest.raises(InterruptedError):
            await client.wait(job.job_id)
    assert 15 < sum(slept) <= 20  # two requests for the rest of the minute


async def test_patience_ends(client: AsyncTryOnClient, jpeg: bytes) -> None:
    job = await client.start(jpeg, jpeg, category="upper_body")
    with pytest.raises(WaitTimeout):
        await client.wait(job.job_id, timeout=1.5)


async def test_a_combo_of_every_field_is_accepted(api: Api, client: AsyncTryOnClient, jpeg: bytes) -> None:
    shirt = Garment(
        jpeg,
        "upper_body",
        back_image=jpeg,
        garment_category="shirt",
        size="M",
        customer_size="L",
        garment_state="open",
        tuck_state="tucked",
        view_angle="left",
    )
    job = await client.start(jpeg, [shirt, Garment("https://shop.example/jeans.jpg", "lower_body")])
    with api.parts.database.reading() as session:
        assert jobs.get_job(session, job_id=uuid.UUID(job.job_id)).kind == "combo"


async def test_no_field_of_ours_is_unknown_to_the_service(api: Api, client: AsyncTryOnClient, jpeg: bytes) -> None:
    ignored: list[str | None] = []

    async def note(response: httpx.Response) -> None:
        ignored.append(response.headers.get("X-Ignored-Fields"))

    api.client.event_hooks["response"].append(note)
    await client.start(
        jpeg,
        jpeg,
        category="upper_body",
        back_image=jpeg,
        garment_category="shirt",
        size="M",
        customer_size="L",
        garment_state="open",
        tuck_state="tucked",
        view_angle="back",
    )
    assert ignored == [None]


async def test_a_lost_answer_starts_and_reserves_one_job(api: Api, jpeg: bytes) -> None:
    lossy = httpx.AsyncClient(transport=LossyTransport(api.client._transport, lost=2))
    client = AsyncTryOnClient("http://tryon", api.caller.key, http=lossy, sleep=no_sleep)
    job = await client.start(jpeg, jpeg, category="upper_body")
    assert job.replayed
    assert (await client.usage()).reserved == 1


async def test_the_callers_key_starts_one_job_for_one_request(client: AsyncTryOnClient, jpeg: bytes) -> None:
    first = await client.start(jpeg, jpeg, category="upper_body", idempotency_key="order 17")
    again = await client.start(jpeg, jpeg, category="upper_body", idempotency_key="order 17")
    assert (first.replayed, again.replayed) == (False, True)
    assert first.job_id == again.job_id
    with pytest.raises(InvalidRequest) as caught:
        await client.start(jpeg, jpeg, category="lower_body", idempotency_key="order 17")
    assert caught.value.code == "idempotency_mismatch"


async def test_a_failed_job_has_its_sentence(api: Api, client: AsyncTryOnClient, jpeg: bytes) -> None:
    job = await client.start(jpeg, jpeg, category="upper_body")
    await api.parts.database.write(
        jobs.fail_job, job_id=uuid.UUID(job.job_id), error_code="person_not_found", keep=HOUR, now=datetime.now(UTC)
    )
    with pytest.raises(JobFailed, match="No person was found"):
        await client.wait(job.job_id)


async def test_a_deleted_job_is_gone(client: AsyncTryOnClient, jpeg: bytes) -> None:
    job = await client.start(jpeg, jpeg, category="upper_body")
    await client.delete(job.job_id)
    with pytest.raises(NotFound) as caught:
        await client.get(job.job_id)
    assert caught.value.code == "job_not_found"
    assert caught.value.request_id


async def test_jobs_are_found_and_their_pictures_seen(api: Api, client: AsyncTryOnClient, jpeg: bytes) -> None:
    began = datetime.now(UTC)
    orders = [{"orderId": str(number)} for number in range(3)]
    ids = [(await client.start(jpeg, jpeg, category="upper_body", metadata=order)).job_id for order in orders]
    await api.complete(ids[1], jpeg)
    assert [job.job_id async for job in client.jobs(page_size=2)] == ids[::-1]
    [found] = [job async for job in client.jobs(metadata=orders[1], status="completed", created_after=began)]
    assert (found.job_id, found.metadata, found.mode, found.error) == (ids[1], orders[1], "live", None)
    assert found.picture_expires_at is not None
    assert [job async for job in client.jobs(created_before=began)] == []
    assert await client.picture(ids[1]) == jpeg
    assert (await client.picture(ids[1], "png", size=100)).startswith(b"\x89PNG")
    link = await client.picture_link(ids[1], 60)
    assert link.expires_at - began < timedelta(seconds=70)
    assert ids[1] in link.url
    with pytest.raises(Conflict):
        await client.picture(ids[0])
    with pytest.raises(ValueError, match="jpeg, png, webp"):
        await client.picture(ids[1], "gif")  # type: ignore[arg-type]  # that is the point


async def test_usage_counts_what_was_started(client: AsyncTryOnClient, jpeg: bytes) -> None:
    await client.start(jpeg, jpeg, category="upper_body")
    usage = await client.usage()
    assert (usage.plan, usage.used, usage.reserved, usage.daily_used) == ("starter", 0, 1, 1)
    assert usage.period_start < usage.period_end
    assert usage.trial_ends_at is None


async def test_a_wrong_key_is_said_at_once(api: Api) -> None:
    client = AsyncTryOnClient("http://tryon", "vto_live_wrong", http=api.client)
    with pytest.raises(AuthenticationFailed):
        await client.usage()


async def test_a_picture_that_only_looks_like_one_is_refused(client: AsyncTryOnClient, jpeg: bytes) -> None:
    with pytest.raises(InvalidRequest) as caught:
        await client.start(jpeg[:100], jpeg, category="upper_body")
    assert (caught.value.status, caught.value.code) == (422, "image_not_readable")


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("volume_exhausted", PaymentRequired),
        ("trial_ended", PaymentRequired),
        ("daily_cap_reached", DailyCapReached),
        ("rate_limited", RateLimited),
        ("internal", ServiceUnavailable),
        ("storage_unavailable", ServiceUnavailable),
    ],
)
async def test_the_refusals_that_can_be_rehearsed_have_their_kinds(
    api: Api, jpeg: bytes, code: str, kind: type[TryOnApiError]
) -> None:
    caller = await create_caller(api.parts.database, api.parts.digester, mode="test")
    client = AsyncTryOnClient("http://tryon", caller.key, http=api.client, sleep=no_sleep)
    with pytest.raises(kind) as caught:
        await client.start(jpeg, product_id=f"test_refused_{code}")
    assert (type(caught.value), caught.value.code) == (kind, code)


@pytest.fixture
async def catalogue(open_api: OpenApi, temporal: Client) -> AsyncIterator[Catalogue]:
    async with opened_catalogue(open_api, temporal) as opened:
        yield opened


async def test_the_life_of_a_product(catalogue: Catalogue, jpeg: bytes) -> None:
    client = AsyncTryOnClient("http://tryon", catalogue.api.caller.key, http=catalogue.api.client)
    shirt = await client.products.create(
        "Shirt", "upper_body", in_shop(catalogue), external_id="SKU-1", back_image=jpeg, size="M"
    )
    trousers = await client.products.create("Trousers", "lower_body", jpeg, external_id="SKU-2")
    assert (shirt.external_id, shirt.has_back_image, shirt.size, shirt.status) == ("SKU-1", True, "M", "active")
    assert [item.id async for item in client.products.list(page_size=1)] == [trousers.id, shirt.id]
    changed = await client.products.update(shirt.id, size=None, name="Blouse")
    assert (changed.size, changed.name, changed.revision) == (None, "Blouse", 2)
    assert await client.products.get(shirt.id) == changed
    with pytest.raises(Conflict):
        await client.products.update(shirt.id, external_id="SKU-2")
    await client.products.archive(shirt.id)
    assert [item.id async for item in client.products.list("archived")] == [shirt.id]
    with pytest.raises(NotFound) as caught:
        await client.start(jpeg, product_id=shirt.id)
    assert caught.value.code == "product_not_found"
    assert (await client.products.update(shirt.id, status="active")).status == "active"
    assert (await client.start(jpeg, product_id=shirt.id)).job_id
