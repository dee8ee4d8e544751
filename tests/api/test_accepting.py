from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import Client

from domain.jobs import jobs
from gateway.temporal import TemporalGateway
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi, combo, single
from tests.ledger_entries import entries_of_job
from tests.pictures import data_uri, encoded, padded, photo
from workflows.contracts import TryOnInput
from workflows.queues import tryon_workflow_id

pytestmark = pytest.mark.databases("sqlite", "postgresql")


async def job_input(api: Api, job_id: str) -> TryOnInput:
    job = await api.parts.database.read(jobs.get_job, job_id=uuid.UUID(job_id))
    return TryOnInput.model_validate(job.workflow_input)


async def test_a_post_answers_202_with_exactly_the_contracts_keys(api: Api) -> None:
    answer = await api.post(single())
    assert answer.status_code == 202
    assert answer.json().keys() == {"jobId", "status"}
    assert answer.json()["status"] == "processing"
    assert str(uuid.UUID(answer.json()["jobId"])) == answer.json()["jobId"]


async def test_an_accepted_job_is_stored_reserved_and_started(api: Api, idle_temporal: Client) -> None:
    job_id = (await api.post(single())).json()["jobId"]
    with api.parts.database.reading() as session:
        job = jobs.get_job(session, job_id=uuid.UUID(job_id))
        assert entries_of_job(session, job_id=job.id) == ["reserve"]
    assert job.started_at is not None
    assert await api.store.list_keys("") == [f"jobs/{job_id}/input/0", f"jobs/{job_id}/input/1"]
    run = idle_temporal.get_workflow_handle(tryon_workflow_id(job_id))
    begun = (await run.fetch_history()).events[0].workflow_execution_started_event_attributes
    assert TryOnInput.model_validate_json(begun.input.payloads[0].data).deadline_at == job.deadline_at
    description = await run.describe()
    assert description.workflow_type == "TryOnWorkflow"
    assert "upper_body" in (await description.static_summary() or "")


@pytest.mark.parametrize(
    ("body", "slow", "deadline"), [(single(), 2400, 9600), (combo(), 4800, 19_200), (single(), 1.5, 300)]
)
async def test_a_deadline_follows_the_time_that_drawing_takes_on_the_workers_machines(
    api: Api, body: dict[str, Any], slow: float, deadline: int
) -> None:
    told = f'{{"by_garments": [{slow}, {slow}, {slow}, {slow}]}}'
    await api.store.put("workers/one.json", told.encode(), "application/json")
    job_id = (await api.post(body, "/api/v1/tryon/combo" if "garments" in body else "/api/v1/tryon")).json()["jobId"]
    with api.parts.database.reading() as session:
        job = jobs.get_job(session, job_id=uuid.UUID(job_id))
    assert job.deadline_at - job.created_at == timedelta(seconds=deadline)
    begun = await job_input(api, job_id)
    assert (begun.deadline_seconds, begun.drawing_seconds) == (deadline, slow)
    assert (await api.poll(job_id)).headers["Retry-After"] == ("60" if slow > 2 else "2")


async def test_every_garment_field_reaches_the_workflow(api: Api) -> None:
    body = single(
        garmentBackImageUrl="https://shop.example/back.jpg",
        garmentCategory="denim jacket",
        size="M",
        customerSize="L",
        garmentState="open",
        tuckState="untucked",
        viewAngle="back",
    )
    garment = (await job_input(api, (await api.post(body)).json()["jobId"])).garments[0]
    assert garment.back_picture_url == "https://shop.example/back.jpg"
    assert garment.hints.model_dump() == {
        "garmentCategory": "denim jacket",
        "size": "M",
        "customerSize": "L",
        "garmentState": "open",
        "tuckState": "untucked",
        "viewAngle": "back",
    }


async def test_null_is_the_same_as_absent(api: Api) -> None:
    assert (await api.post(single(productId=None, size=None, viewAngle=None))).status_code == 202


async def test_unknown_fields_are_ignored_and_named(api: Api) -> None:
    answer = await api.post(single(colour="red", **{"snow\u2603man": 1}))
    assert answer.status_code == 202
    assert answer.headers["X-Ignored-Fields"] == "colour, snow?man"


async def test_a_combo_keeps_the_order_of_its_garments(api: Api) -> None:
    garments = [
        {"garmentImageUrl": "https://shop.example/a.png", "category": "upper_body"},
        {"garmentImageUrl": data_uri(), "category": "lower_body"},
    ]
    answer = await api.post(combo(*garments), "/api/v1/tryon/combo")
    assert answer.status_code == 202
    accepted = await job_input(api, answer.json()["jobId"])
    assert [(garment.index, garment.category) for garment in accepted.garments] == [
        (0, "upper_body"),
        (1, "lower_body"),
    ]
    assert accepted.garments[0].picture_url == "https://shop.example/a.png"
    assert (accepted.kind, accepted.deadline_seconds) == ("combo", 600)


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP"])
async def test_the_three_formats_are_accepted_whatever_the_label_says(api: Api, format: str) -> None:
    assert (
        await api.post(single(customerPhotoBase64=data_uri(encoded(format=format), "image/jpg")))
    ).status_code == 202


async def test_exactly_8_mib_pass(api: Api) -> None:
    picture = padded(encoded(), 8 * 1024 * 1024)
    assert len(picture) == 8 * 1024 * 1024
    assert (await api.post(single(customerPhotoBase64=data_uri(picture)))).status_code == 202


@pytest.mark.parametrize(("width", "height"), [(256, 256), (256, 1024)])
async def test_pictures_at_the_bounds_pass(api: Api, width: int, height: int) -> None:
    assert (await api.post(single(garmentImageUrl=data_uri(encoded(photo(width, height)))))).status_code == 202


async def test_the_content_type_may_carry_a_charset(api: Api) -> None:
    import json

    answer = await api.client.post(
        "/api/v1/tryon", content=json.dumps(single()), headers={"Content-Type": "Application/JSON; charset=utf-8"}
    )
    assert answer.status_code == 202


async def test_temporal_away_delays_the_job_and_refuses_nothing(
    open_api: OpenApi, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setenv("TRYON_TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("TRYON_TEMPORAL_START_TIMEOUT_SECONDS", "0.2")
    settings = Settings()
    async with open_api(settings, await TemporalGateway.connect(settings.temporal, for_requests=True)) as api:
        answer = await api.post(single())
        assert answer.status_code == 202
        assert (await api.poll(answer.json()["jobId"])).json() == {"status": "processing"}
        job = await api.parts.database.read(jobs.get_job, job_id=uuid.UUID(answer.json()["jobId"]))
    assert job.started_at is None


@pytest.mark.parametrize("text", ["a\x00b", "куртка 🧥", "x" * 64, "'; DROP TABLE job; --"])
async def test_free_text_is_kept_whatever_it_holds(api: Api, text: str) -> None:
    """All but a null character, which PostgreSQL does not keep."""
    accepted = await api.post(single(garmentCategory=text))
    assert accepted.status_code == 202
    kept = (await job_input(api, accepted.json()["jobId"])).garments[0].hints.garment_category
    assert kept == text.replace("\0", "\N{REPLACEMENT CHARACTER}")


@pytest.mark.parametrize(
    "filling", [[{}] * 9000, dict.fromkeys(map(str, range(11_000))), [[[]]] * 4000, ["x"] * 11_000]
)
async def test_a_body_with_more_values_than_any_request_needs_is_not_even_parsed(api: Api, filling: object) -> None:
    answer = await api.post(single(filling=filling))
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (400, "json_invalid")


async def test_a_name_that_does_not_end_costs_one_line(api: Api) -> None:
    answer = await api.post(single(**{"x" * 1_000_000: 1, "y": 2}))
    assert answer.status_code == 202
    assert answer.headers["X-Ignored-Fields"] == "x" * 1000
