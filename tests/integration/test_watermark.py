"""The account's logo, from its address to the results of both endpoints."""

from __future__ import annotations

import asyncio
import base64
import io
import uuid

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from temporalio.client import Client, WorkflowFailureError

from domain import watermarks
from domain.errors import TryOnError
from domain.object_keys import logo_prefix
from gateway.temporal import TemporalGateway
from tests.api.conftest import combo, single
from tests.integration.conftest import Service
from tests.logos import ORANGE, logo_file
from workflows.contracts import SetWatermarkInput, WatermarkSetting
from workflows.queues import CPU_QUEUE, watermark_workflow_id

GARMENT = {"garmentImageUrl": "https://shop.example/picture", "category": "upper_body"}
SIZE = (320, 400)
LOGO = (slice(400 - 10 - 58, 400 - 10), slice(320 - 10 - 58, 320 - 10))
"""Rows and columns: 18 % of 320 pixels, 3 % from both edges."""

REACH = 5
"""Pixels around the logo that its halo and the JPEG's blocks may touch; blocks have 8."""


async def set_logo(service: Service, client: Client, path: str = "/given/logo.png") -> WatermarkSetting:
    wanted = SetWatermarkInput(account_id=str(service.caller.account_id), logo_url=f"https://shop.example{path}")
    return await TemporalGateway(client).set_watermark(wanted)


async def picture(service: Service, *, garments: int = 1) -> NDArray[np.int_]:
    job_id = (
        await service.post(single(**GARMENT))
        if garments == 1
        else await service.post(combo(*[GARMENT] * garments), "/api/v1/tryon/combo")
    )
    body = await service.finished(job_id)
    image = Image.open(io.BytesIO(base64.b64decode(body["resultImageBase64"].partition(",")[2])))
    assert image.size == SIZE
    return np.asarray(image).astype(int)


@pytest.mark.parametrize("garments", [1, 2])
async def test_every_result_carries_it_while_it_is_on(service: Service, temporal: Client, garments: int) -> None:
    plain = await picture(service, garments=garments)
    service.shop.given["logo.png"] = logo_file()
    assert (await set_logo(service, temporal)).enabled
    # The shop has moved since; the kept copy is what counts.
    del service.shop.given["logo.png"]
    stamped = await picture(service, garments=garments)
    assert np.abs(stamped[LOGO][29, 29] - ORANGE).max() < 20
    difference = np.abs(stamped - plain).max(axis=2)
    assert (difference[LOGO] > 60).mean() > 0.7
    margin = REACH + 8
    difference[LOGO[0].start - margin :, LOGO[1].start - margin :] = 0
    assert difference.max() <= 2
    await service.database.write(watermarks.switch_watermark, account_id=service.caller.account_id, enabled=False)
    assert np.array_equal(await picture(service, garments=garments), plain)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/status/404", "logo_unreachable"),
        ("/bytes/1048577", "logo_too_large"),
        ("/page/1000", "logo_not_usable"),
        ("/to?url=https://127.0.0.2/", "logo_url_refused"),
    ],
)
async def test_a_logo_that_cannot_be_fetched_leaves_what_was_set(
    service: Service, temporal: Client, path: str, code: str
) -> None:
    service.shop.given["logo.png"] = logo_file()
    before = await set_logo(service, temporal)
    with pytest.raises(TryOnError) as caught:
        await set_logo(service, temporal, path)
    assert caught.value.code == code
    row = await service.database.read(watermarks.find_watermark, account_id=service.caller.account_id)
    assert row is not None
    assert (row.enabled, row.logo_url, row.logo["key"]) == (True, before.logo_url, before.logo.picture.key)
    assert await service.store.list_keys(logo_prefix(str(service.caller.account_id))) == [before.logo.picture.key]


async def test_a_logo_that_is_gone_from_the_store_costs_no_job(service: Service, temporal: Client) -> None:
    service.shop.given["logo.png"] = logo_file()
    kept = (await set_logo(service, temporal)).logo.picture.key
    await service.store.delete_prefix(kept)
    assert np.abs(await picture(service) - (0, 200, 0)).max() <= 2


async def test_one_logo_is_fetched_at_a_time(service: Service, temporal: Client) -> None:
    service.shop.requests.clear()
    first = asyncio.create_task(set_logo(service, temporal, "/silent"))
    handle = temporal.get_workflow_handle(watermark_workflow_id(str(service.caller.account_id)))
    async with asyncio.timeout(10):
        while not any("/silent" in str(request.url) for request in service.shop.requests):
            await asyncio.sleep(0.02)
    with pytest.raises(TryOnError) as caught:
        await set_logo(service, temporal)
    assert caught.value.code == "logo_being_set"
    await handle.terminate("enough was seen")
    with pytest.raises(TryOnError, match="busy"):
        await first


async def test_a_malformed_input_fails_the_run(service: Service, temporal: Client) -> None:
    with pytest.raises(WorkflowFailureError):
        await temporal.execute_workflow(
            "SetWatermarkWorkflow", {"logoUrl": 1}, id=f"malformed-{uuid.uuid4()}", task_queue=CPU_QUEUE
        )
