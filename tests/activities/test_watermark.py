from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image
from temporalio.testing import ActivityEnvironment

from activities.objects import put_object
from activities.watermark import WatermarkActivities
from imaging.decode import decode_image
from imaging.encode import encode_png
from runtime.object_store import MemoryObjectStore
from tests.pictures import encoded, photo
from workflows.contracts import WatermarkInput


async def test_a_picture_that_other_limits_let_in_is_not_judged_again() -> None:
    store = MemoryObjectStore()
    png = encode_png(np.zeros((60, 900, 3), np.uint8))
    picture = await put_object(store, "jobs/j/work/rendered.png", png, "image/png")
    request = WatermarkInput(job_id="j", account_id="a", picture=picture)
    await ActivityEnvironment().run(WatermarkActivities(store, 92).watermark, request)
    assert Image.open(io.BytesIO(await store.get("results/j.jpg"))).size == (900, 60)


@pytest.mark.parametrize("trained", [True, False])
async def test_the_result_is_a_jpeg_that_says_whether_a_model_made_it(trained: bool) -> None:
    store = MemoryObjectStore()
    png = encode_png(decode_image(encoded(photo(321, 457), "PNG")))
    picture = await put_object(store, "jobs/j/work/rendered.png", png, "image/png")
    request = WatermarkInput(job_id="j", account_id="a", picture=picture, trained=trained)
    result = (await ActivityEnvironment().run(WatermarkActivities(store, 92).watermark, request)).result
    data = await store.get("results/j.jpg")
    image = Image.open(io.BytesIO(data))
    assert (image.format, image.size, result.key) == ("JPEG", (321, 457), "results/j.jpg")
    assert (b"trainedAlgorithmicMedia" in data or b"rainedAlgorithmicMedia" in data) == trained
    assert not image.getexif()
