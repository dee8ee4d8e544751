"""Jobs from HTTP to picture on both databases, with garments from a shop."""

from __future__ import annotations

import asyncio
import base64
import io
import uuid
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from PIL import Image
from temporalio.client import Client

from domain.errors import CATALOGUE
from domain.jobs import jobs
from gateway.temporal import TemporalGateway
from tests.api.conftest import combo, single
from tests.factories import create_job
from tests.integration.conftest import Service
from tests.ledger_entries import entries_of_job
from tests.workflows.fakes import tryon_input
from worker_cpu.relay import BATCH, HEAD_START, relay_round
from workflows.contracts import ObjectRef

KEEP = timedelta(hours=1)


def from_shop(path: str, **fields: Any) -> dict[str, Any]:
    return {"garmentImageUrl": f"https://shop.example{path}", "category": "upper_body", **fields}


async def entries(service: Service, job_id: str) -> list[str]:
    return await service.database.read(entries_of_job, job_id=uuid.UUID(job_id))


async def settled_objects(service: Service, job_id: str, expected: list[str]) -> None:
    """Wait for the clean-up, which runs after the job has ended."""
    async with asyncio.timeout(10):
        while await service.objects(job_id) != expected:
            await asyncio.sleep(0.05)


async def test_a_garment_from_a_shop_becomes_a_picture(service: Service) -> None:
    job_id = await service.post(single(**from_shop("/picture")))
    body = await service.finished(job_id)
    image = Image.open(io.BytesIO(base64.b64decode(body["resultImageBase64"].partition(",")[2])))
    assert (image.format, image.size) == ("JPEG", (320, 400))
    assert np.asarray(image)[..., 1].mean() > 190
    assert await entries(service, job_id) == ["reserve", "settle"]
    await settled_objects(service, job_id, [f"results/{job_id}.jpg"])


async def test_a_combo_of_inline_and_remote_garments(service: Service) -> None:
    inline = {key: value for key, value in single().items() if key != "customerPhotoBase64"}
    job_id = await service.post(
        combo(from_shop("/picture", tuckState="tucked"), {**inline, "category": "lower_body"}), "/api/v1/tryon/combo"
    )
    assert (await service.finished(job_id))["status"] == "completed"
    assert [garment.category for garment in service.engine.requests[-1].garments] == ["upper_body", "lower_body"]
    job = await service.database.read(jobs.get_job, job_id=uuid.UUID(job_id))
    assert job.report is not None
    assert job.report["hintsNotApplied"] == {"tuck_state": "no waist in sight"}


SHOPS = {
    "a page that is not there": ("/status/404", "garment_url_unreachable"),
    "a web page": ("/page/1000", "garment_url_not_an_image"),
    "9 MB": ("/bytes/9000000", "garment_url_too_large"),
    "64 MB without saying so": ("/stream", "garment_url_too_large"),
    "a way to a private address": ("/to?url=https://10.0.0.1/", "garment_url_refused"),
    "a way without end": ("/hops/9", "garment_url_unreachable"),
}


@pytest.mark.parametrize(("path", "code"), SHOPS.values(), ids=SHOPS)
async def test_a_shop_that_has_no_picture_fails_the_job_unbilled(service: Service, path: str, code: str) -> None:
    job_id = await service.post(single(**from_shop(path)))
    assert await service.finished(job_id) == {"status": "failed", "error": CATALOGUE[code].sentence}
    assert await entries(service, job_id) == ["reserve", "release"]
    await settled_objects(service, job_id, [])


async def test_a_shop_that_is_unknown_fails_the_job(service: Service) -> None:
    job_id = await service.post(single(garmentImageUrl="https://no-such-shop.example/x.jpg"))
    assert (await service.finished(job_id))["error"] == CATALOGUE["garment_url_unreachable"].sentence
    await settled_objects(service, job_id, [])


async def test_one_bad_garment_fails_the_combo(service: Service) -> None:
    job_id = await service.post(combo(from_shop("/picture"), from_shop("/status/404")), "/api/v1/tryon/combo")
    assert (await service.finished(job_id))["status"] == "failed"
    await settled_objects(service, job_id, [])


async def test_the_relay_starts_what_was_accepted_and_not_handed_over(service: Service, temporal: Client) -> None:
    """As after an API process that died between its transaction and the start."""
    job_id = await create_job(service.database, service.caller)
    photo = base64.b64decode(single()["customerPhotoBase64"].partition(",")[2])
    key = f"jobs/{job_id}/input/0"
    await service.store.put(key, photo, "image/jpeg")
    ref = ObjectRef.of(service.store.bucket, key, photo, "image/jpeg")
    source = tryon_input(str(job_id)).model_copy(update={"person": ref, "account_id": str(service.caller.account_id)})
    garment = source.garments[0].model_copy(update={"picture": ref})
    with service.database.transaction() as session:
        job = jobs.get_job(session, job_id=job_id)
        job.workflow_input = source.model_copy(update={"garments": [garment]}).model_dump(mode="json")
        job.created_at -= 2 * HEAD_START
    unstartable = await create_job(service.database, service.caller, age=2 * HEAD_START)
    started = 0
    with service.database.reading() as session:
        waiting = len(jobs.list_unstarted(session, older_than=HEAD_START, limit=100_000))
    for _ in range(1 + waiting // BATCH):  # other tests' jobs lie there too, and the oldest go first
        started += await relay_round(service.database, TemporalGateway(temporal), KEEP)
    assert started >= 1
    assert (await service.finished(str(job_id)))["status"] == "completed"
    assert await relay_round(service.database, TemporalGateway(temporal), KEEP) == 0
    assert await entries(service, str(unstartable)) == ["reserve", "release"]
    assert await entries(service, str(job_id)) == ["reserve", "settle"]
