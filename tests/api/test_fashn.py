"""FASHN's own client library, unchanged, against this service: nothing but its address and key are ours."""

from __future__ import annotations

import asyncio
import base64
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from fashn import APIStatusError, AsyncFashn, AuthenticationError, BadRequestError, NotFoundError, RateLimitError
from PIL import Image
from temporalio.client import Client

from api.fashn import CATEGORIES, FAILURES, NAMES
from domain.access.rates import RatePolicy
from domain.accounts import OwnTerms
from domain.errors import CATALOGUE
from domain.jobs import jobs
from domain.money.quota import add_topup
from runtime.database import Database
from tests.api.catalogue import opened_catalogue
from tests.api.conftest import Api, OpenApi
from tests.factories import create_caller
from tests.ledger_entries import entries_of_job
from tests.pictures import data_uri, encoded, padded, photo
from tests.rates import generous_rates
from workflows.contracts import TryOnInput

TOP: dict[str, Any] = {"model_image": data_uri(), "garment_image": data_uri(), "category": "tops"}


def library(api: Api, key: str | None = None, **options: Any) -> AsyncFashn:
    inner = httpx.AsyncClient(transport=api.client._transport, base_url="http://tryon")
    return AsyncFashn(api_key=key or api.caller.key, base_url="http://tryon", http_client=inner, **options)


@pytest.fixture
async def fashn(api: Api) -> AsyncIterator[AsyncFashn]:
    async with library(api, max_retries=0) as client:
        yield client


def job_of(prediction_id: str) -> uuid.UUID:
    """The job behind a prediction; what follows its id says what the output is to be."""
    return uuid.UUID(prediction_id[:36])


async def job_input(api: Api, prediction_id: str) -> TryOnInput:
    job = await api.parts.database.read(jobs.get_job, job_id=job_of(prediction_id))
    return TryOnInput.model_validate(job.workflow_input)


async def failed(api: Api, prediction_id: str, code: str) -> None:
    await api.parts.database.write(
        jobs.fail_job, job_id=job_of(prediction_id), error_code=code, keep=timedelta(hours=1), now=datetime.now(UTC)
    )


def subscribed(client: AsyncFashn, **inputs: Any) -> Any:
    return client.predictions.subscribe(model_name="tryon-v1.6", inputs={**TOP, **inputs})


async def test_a_prediction_from_start_to_picture(open_api: OpenApi, temporal: Client) -> None:
    """With a test key: both workers' part that needs no engine is real."""
    async with opened_catalogue(open_api, temporal) as catalogue:
        tester = await create_caller(catalogue.api.parts.database, catalogue.api.parts.digester, mode="test")
        seen: list[str] = []
        async with library(catalogue.api, tester.key) as client:
            result = await client.predictions.subscribe(
                model_name="tryon-v1.6",
                inputs={**TOP, "return_base64": True, "output_format": "jpeg"},
                on_queue_update=lambda status: seen.append(status.status),
            )
    assert (result.status, result.error, result.credits_used) == ("completed", None, 1)
    (output,) = result.output or []
    header, _, data = output.partition(",")
    assert header == "data:image/jpeg;base64"
    assert base64.b64decode(data).startswith(b"\xff\xd8\xff")
    assert seen[-1] == "completed"


@pytest.mark.parametrize(("wanted", "as_base64"), [("png", True), ("png", False), ("jpeg", False)])
async def test_the_output_is_the_file_that_was_asked_for(
    api: Api, fashn: AsyncFashn, wanted: str, as_base64: bool
) -> None:
    inputs: Any = {**TOP, "output_format": wanted, "return_base64": as_base64}
    started = await fashn.predictions.run(model_name="tryon-v1.6", inputs=inputs)
    await api.complete(str(job_of(started.id)), encoded(photo()))
    (output,) = (await fashn.predictions.status(started.id)).output or []
    if as_base64:
        header, _, data = output.partition(",")
        assert header == f"data:image/{wanted};base64"
        found = base64.b64decode(data)
    else:
        address = urlsplit(output)
        async with httpx.AsyncClient(transport=api.client._transport, base_url="http://tryon") as browser:
            found = (await browser.get(f"{address.path}?{address.query}")).content
    with Image.open(BytesIO(found)) as picture:
        assert (picture.format or "").lower() == wanted


async def test_a_registered_garment_needs_no_category(open_api: OpenApi, temporal: Client) -> None:
    async with opened_catalogue(open_api, temporal) as catalogue, library(catalogue.api) as client:
        await catalogue.create(externalId="SKU-1", category="lower_body")
        started = await client.predictions.run(
            model_name="tryon-v1.6", inputs={"model_image": data_uri(), "garment_image": "product:SKU-1"}
        )
        (garment,) = (await job_input(catalogue.api, started.id)).garments
        assert (garment.category, garment.product is not None) == ("lower_body", True)


@pytest.mark.parametrize(
    ("theirs", "ours"), [("tops", "upper_body"), ("bottoms", "lower_body"), ("one-pieces", "full_body")]
)
async def test_a_run_is_a_try_on_like_any_other(api: Api, fashn: AsyncFashn, theirs: str, ours: str) -> None:
    answer = await fashn.predictions.with_raw_response.run(
        model_name="tryon-v1.6",
        inputs={**TOP, "category": theirs, "garment_image": "https://shop.example/a.jpg", "mode": "quality", "seed": 5},
    )
    started = await answer.parse()
    assert (answer.status_code, started.error) == (200, None)
    assert answer.headers["X-Ignored-Fields"] == "inputs.mode, inputs.seed"
    (garment,) = (await job_input(api, started.id)).garments
    assert (garment.category, garment.picture_url) == (ours, "https://shop.example/a.jpg")
    with api.parts.database.reading() as session:
        assert entries_of_job(session, job_id=job_of(started.id)) == ["reserve"]


async def test_one_question_is_held_until_the_job_has_ended(api: Api, fashn: AsyncFashn) -> None:
    inputs: Any = {**TOP, "return_base64": True, "output_format": "jpeg"}
    started = await fashn.predictions.run(model_name="tryon-v1.6", inputs=inputs)
    asking = asyncio.create_task(fashn.predictions.status(started.id))
    await asyncio.sleep(0.2)
    assert not asking.done()
    await api.complete(str(job_of(started.id)), b"\xff\xd8\xffjpeg")
    status = await asking
    assert (status.id, status.status, status.error) == (started.id, "completed", None)
    assert status.output == ["data:image/jpeg;base64," + base64.b64encode(b"\xff\xd8\xffjpeg").decode()]


@pytest.mark.parametrize(("code", "entry"), [each for each in CATALOGUE.items() if each[1].status is None])
async def test_every_failure_has_a_name_that_the_library_knows(
    api: Api, fashn: AsyncFashn, code: str, entry: Any
) -> None:
    started = await fashn.predictions.run(model_name="tryon-v1.6", inputs=TOP)
    await failed(api, started.id, code)
    status = await fashn.predictions.status(started.id)
    assert status.status == {"timed_out": "time_out", "cancelled": "canceled"}.get(code, "failed")
    assert status.error is not None
    assert (status.error.name, status.error.message) == (FAILURES.get(code, "InternalServerError"), entry.sentence)
    strict = type(status.error).model_validate(status.error.model_dump())
    assert strict.name == status.error.name, "one of the names of its types"


@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        ({"model_image": "https://shop.example/me.jpg"}, "inputs.model_image: must be a data: URI"),
        ({"model_image": "saved:anna"}, "inputs.model_image: must be a data: URI"),
        ({"garment_image": "http://shop.example/a.jpg"}, "inputs.garment_image:"),
        ({"category": "auto"}, "inputs.category: must be tops, bottoms or one-pieces"),
        ({"num_samples": 2}, "inputs.num_samples: must be 1"),
        ({"output_format": "webp"}, "inputs.output_format: must be png or jpeg"),
    ],
)
async def test_what_has_no_counterpart_is_refused_with_a_sentence(
    api: Api, fashn: AsyncFashn, inputs: dict[str, Any], named: str
) -> None:
    with pytest.raises(BadRequestError) as raised:
        await fashn.predictions.run(model_name="tryon-v1.6", inputs={**TOP, **inputs})
    assert raised.value.body["error"] == "BadRequest"
    assert named in raised.value.body["message"]
    assert api.store.objects == {}


async def test_other_models_and_webhooks_are_refused(fashn: AsyncFashn) -> None:
    with pytest.raises(BadRequestError, match=r"only tryon-v1\.6"):
        await fashn.predictions.run(model_name="tryon-max", inputs={"model_image": "a", "product_image": "b"})
    with pytest.raises(BadRequestError, match="webhook_url: is not taken from a request"):
        await fashn.predictions.run(model_name="tryon-v1.6", inputs=TOP, webhook_url="https://shop.example/hook")


async def test_refusals_that_come_before_the_body_have_the_same_shape(api: Api, database: Database) -> None:
    async with library(api, "vto_live_wrong", max_retries=0) as client:
        with pytest.raises(AuthenticationError) as raised:
            await subscribed(client)
    assert raised.value.body == {"error": "UnauthorizedAccess", "message": CATALOGUE["unauthorized"].sentence}


@pytest.mark.parametrize("ending", ["", "-png", "-jpeg-base64", "-gif"])
async def test_a_job_that_is_unknown_is_not_found(fashn: AsyncFashn, ending: str) -> None:
    with pytest.raises(NotFoundError) as raised:
        await fashn.predictions.status(f"{uuid.uuid4()}{ending}")
    assert raised.value.body["error"] == "NotFound"


async def test_a_picture_that_is_none_says_which(fashn: AsyncFashn) -> None:
    with pytest.raises(APIStatusError, match=r"inputs\.garment_image") as raised:
        await fashn.predictions.run(
            model_name="tryon-v1.6", inputs={**TOP, "garment_image": data_uri(b"not a picture")}
        )
    assert (raised.value.status_code, raised.value.body["error"]) == (422, "BadRequest")
    large = data_uri(padded(encoded(photo()), 8 * 1024 * 1024 + 1))
    with pytest.raises(APIStatusError) as raised:
        await fashn.predictions.run(model_name="tryon-v1.6", inputs={**TOP, "model_image": large})
    assert raised.value.status_code == 413


@pytest.mark.parametrize(
    ("terms", "code"), [({"included": 0}, "volume_exhausted"), ({"daily_cap": 0}, "daily_cap_reached")]
)
async def test_no_volume_is_said_once_and_not_repeated(open_api: OpenApi, terms: dict[str, int], code: str) -> None:
    sent: list[httpx.Request] = []

    async def note(request: httpx.Request) -> None:
        sent.append(request)

    async with open_api(own_terms=OwnTerms(**terms)) as api, library(api) as client:
        client._client.event_hooks["request"].append(note)
        with pytest.raises(RateLimitError) as raised:
            await subscribed(client)
    assert raised.value.body["error"] == "OutOfCredits"
    assert raised.value.response.headers["X-Error-Code"] == code
    assert len(sent) == 1


async def test_the_rate_is_the_keys_own(open_api: OpenApi, database: Database) -> None:
    limiter = replace(generous_rates(database), requests=RatePolicy("requests", 1, 60))
    async with open_api(rate_limiter=limiter) as api, library(api, max_retries=0) as client:
        await client.predictions.run(model_name="tryon-v1.6", inputs=TOP)
        with pytest.raises(RateLimitError) as raised:
            await client.predictions.run(model_name="tryon-v1.6", inputs=TOP)
        assert raised.value.body["error"] == "RateLimitExceeded"
        assert int(raised.value.response.headers["Retry-After"]) > 0


async def test_a_repeated_run_under_one_key_is_one_job(fashn: AsyncFashn) -> None:
    headers = {"Idempotency-Key": "order-7"}
    first, second = [
        await fashn.predictions.run(model_name="tryon-v1.6", inputs=TOP, extra_headers=headers) for _ in range(2)
    ]
    assert first.id == second.id


async def test_credits_are_what_is_left(api: Api, fashn: AsyncFashn) -> None:
    before = await fashn.get("/v1/credits", cast_to=httpx.Response)
    await fashn.predictions.run(model_name="tryon-v1.6", inputs=TOP)
    after = await fashn.get("/v1/credits", cast_to=httpx.Response)
    left = before.json()["credits"]
    assert left["total"] == left["subscription"] + left["on_demand"] == 250
    assert after.json()["credits"]["subscription"] == left["subscription"] - 1


async def test_a_trial_that_is_over_has_no_credits(api: Api) -> None:
    ended = datetime.now(UTC) - timedelta(days=8)
    caller = await create_caller(api.parts.database, api.parts.digester, plan="trial", now=ended)
    async with library(api, caller.key) as theirs:
        answer = await theirs.get("/v1/credits", cast_to=httpx.Response)
    assert answer.json()["credits"] == {"total": 0, "subscription": 0, "on_demand": 0}


async def test_what_a_pack_pays_for_is_not_taken_from_the_plans_volume(api: Api, fashn: AsyncFashn) -> None:
    spent = await create_caller(api.parts.database, api.parts.digester, own_terms=OwnTerms(included=1))
    add = {"account_id": spent.account_id, "generations": 50, "now": datetime.now(UTC)}
    await api.parts.database.write(add_topup, api.parts.plans, **add)
    async with library(api, spent.key) as theirs:
        for _ in range(2):
            await theirs.predictions.run(model_name="tryon-v1.6", inputs=TOP)
        answer = await theirs.get("/v1/credits", cast_to=httpx.Response)
    assert answer.json()["credits"] == {"total": 49, "subscription": 0, "on_demand": 49}


def test_the_page_names_everything_that_is_answered() -> None:
    page = (Path(__file__).parents[2] / "docs" / "coming-from-fashn.md").read_text()
    for name in {*NAMES.values(), *FAILURES.values(), *FAILURES, *CATEGORIES, "RateLimitExceeded"}:
        assert f"`{name}`" in page, name
