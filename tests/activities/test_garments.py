from __future__ import annotations

import asyncio
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.garments import WORKING_SIDE, GarmentActivities
from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from imaging.remote import RemoteImageFetcher
from tests.memory_store import MemoryObjectStore
from tests.pictures import encoded, photo
from workflows.contracts import FetchedGarment, FetchGarmentInput, GarmentSource, ObjectRef

URL = "https://shop.example/shirt.jpg"


class FakeFetcher(RemoteImageFetcher):
    """Answers with bytes, or raises."""

    def __init__(self, answer: bytes | ImageError) -> None:
        super().__init__()
        self._answer = answer

    async def fetch(self, url: str) -> bytes:
        assert url == URL
        if isinstance(self._answer, ImageError):
            raise self._answer
        return self._answer


async def fetch(store: MemoryObjectStore, answer: bytes | ImageError, **fields: object) -> FetchedGarment:
    garment = GarmentSource.model_validate({"index": 1, "category": "upper_body", **fields})
    nowhere: Any = None  # the step needs no database
    steps = GarmentActivities(nowhere, store, FakeFetcher(answer), ImageLimits(), DecoderPool())
    return await ActivityEnvironment().run(steps.fetch_garment, FetchGarmentInput(job_id="j", garment=garment))


async def test_a_stored_garment_is_normalised() -> None:
    store = MemoryObjectStore()
    data = encoded(photo(3000, 1500))
    await store.put("jobs/j/input/1", data, "image/jpeg")
    ref = ObjectRef.of("tryon", "jobs/j/input/1", data, "image/jpeg")
    fetched = await fetch(store, b"", picture=ref)
    image = Image.open(io.BytesIO(await store.get("jobs/j/work/garment-1-front.png")))
    assert image.size == (WORKING_SIDE, WORKING_SIDE // 2)
    assert (fetched.index, fetched.picture.key) == (1, "jobs/j/work/garment-1-front.png")
    assert fetched.back_picture is None


async def test_a_garment_at_an_address_is_fetched() -> None:
    store = MemoryObjectStore()
    await fetch(store, encoded(photo(400, 300), "WEBP"), picture_url=URL)
    image = Image.open(io.BytesIO(await store.get("jobs/j/work/garment-1-front.png")))
    assert image.size == (400, 300)


async def test_a_products_pictures_are_used_where_they_lie() -> None:
    """They were normalised when the product was registered, and a job copies nothing."""
    store = MemoryObjectStore()
    front, back = [
        ObjectRef.of("tryon", f"products/a/r/{side}.png", encoded(format="PNG"), "image/png")
        for side in ("front", "back")
    ]
    fetched = await fetch(store, b"", picture=front, back_picture=back)
    assert (fetched.picture, fetched.back_picture) == (front, back)
    assert store.objects == {}


async def test_a_back_photo_is_fetched_too() -> None:
    store = MemoryObjectStore()
    fetched = await fetch(store, encoded(), picture_url=URL, back_picture_url=URL)
    assert fetched.back_picture is not None
    assert await store.list_keys("") == ["jobs/j/work/garment-1-back.png", "jobs/j/work/garment-1-front.png"]


async def test_nothing_is_stored_behind_a_side_that_was_refused() -> None:
    """The job ends then, and what it has stored is deleted."""
    store, storing, over = MemoryObjectStore(), asyncio.Event(), asyncio.Event()
    put = store.put

    async def slowly(key: str, data: bytes, content_type: str) -> None:
        storing.set()
        await over.wait()
        await put(key, data, content_type)

    data = encoded(photo(400, 300))
    await store.put("jobs/j/input/1", data, "image/jpeg")
    ref = ObjectRef.of("tryon", "jobs/j/input/1", data, "image/jpeg")
    store.put = slowly  # type: ignore[method-assign]

    class Refusing(FakeFetcher):
        async def fetch(self, url: str) -> bytes:
            await storing.wait()
            return await super().fetch(url)

    garment = GarmentSource(index=1, category="upper_body", picture_url=URL, back_picture=ref)
    nowhere: Any = None
    refusal = ImageError(ImageErrorCode.URL_UNREACHABLE, "404")
    steps = GarmentActivities(nowhere, store, Refusing(refusal), ImageLimits(), DecoderPool())
    step = asyncio.create_task(
        ActivityEnvironment().run(steps.fetch_garment, FetchGarmentInput(job_id="j", garment=garment))
    )
    await storing.wait()
    done, _ = await asyncio.wait([step], timeout=0.2)
    assert not done, "a write that is under way cannot be called back"
    over.set()
    with pytest.raises(ApplicationError) as refused:
        await step
    assert refused.value.type == "garment_url_unreachable"


@pytest.mark.parametrize("silent", [True, False], ids=["silent", "busy"])
async def test_who_cannot_wait_is_told_at_once(silent: bool) -> None:
    """A job's download has more time, and other tries."""

    class Slow(FakeFetcher):
        async def fetch(self, url: str) -> bytes:
            if silent:
                await asyncio.sleep(60)
            return await super().fetch(url)

    shop = Slow(ImageError(ImageErrorCode.URL_UNREACHABLE, "503", retryable=True))
    nowhere: Any = None
    steps = GarmentActivities(nowhere, MemoryObjectStore(), shop, ImageLimits(), DecoderPool())
    garment = GarmentSource(index=1, category="upper_body", picture_url=URL)
    wanted = FetchGarmentInput(job_id="j", garment=garment, longest_download_seconds=0.1)
    with pytest.raises(ApplicationError) as refused:
        await ActivityEnvironment().run(steps.fetch_garment, wanted)
    assert (refused.value.type, refused.value.non_retryable) == ("garment_url_unreachable", True)


async def test_a_transparent_png_lies_on_white() -> None:
    store = MemoryObjectStore()
    await fetch(store, encoded(Image.new("RGBA", (300, 300), (0, 0, 0, 0)), "PNG"), picture_url=URL)
    pixels = np.asarray(Image.open(io.BytesIO(await store.get("jobs/j/work/garment-1-front.png"))))
    assert (pixels == 255).all()


@pytest.mark.parametrize(
    ("answer", "code", "final"),
    [
        (b"<html>not here</html>", "garment_url_not_an_image", True),
        (encoded(photo(300, 300))[:2000], "garment_url_not_an_image", True),
        (encoded(photo(100, 300)), "garment_url_not_an_image", True),
        (ImageError(ImageErrorCode.URL_TOO_LARGE, "9 MB"), "garment_url_too_large", True),
        (ImageError(ImageErrorCode.URL_UNREACHABLE, "404"), "garment_url_unreachable", True),
        (ImageError(ImageErrorCode.URL_UNREACHABLE, "timeout", retryable=True), "garment_url_unreachable", False),
    ],
)
async def test_what_cannot_be_fetched_fails_with_its_code(answer: bytes | ImageError, code: str, final: bool) -> None:
    store = MemoryObjectStore()
    with pytest.raises(ApplicationError) as caught:
        await fetch(store, answer, picture_url=URL)
    assert (caught.value.type, caught.value.non_retryable) == (code, final)
    assert store.objects == {}
