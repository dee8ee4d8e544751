from __future__ import annotations

import numpy as np
import pytest
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.rehearsal import RehearsalActivities, mark_as_test
from imaging.decode import decode_image
from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import STORED_LIMITS
from tests.memory_store import MemoryObjectStore
from tests.pictures import encoded, photo
from workflows.contracts import ObjectRef, RehearseInput


async def stored_photo(store: MemoryObjectStore, width: int, height: int) -> ObjectRef:
    data = encoded(photo(width, height))
    await store.put("jobs/x/input/0", data, "image/jpeg")
    return ObjectRef.of(store.bucket, "jobs/x/input/0", data, "image/jpeg")


@pytest.mark.parametrize(("width", "height"), [(320, 400), (1200, 300), (300, 1200), (256, 256)])
async def test_the_picture_is_the_photo_with_a_mark_across_its_middle(width: int, height: int) -> None:
    store = MemoryObjectStore()
    person = await stored_photo(store, width, height)
    rendered = await ActivityEnvironment().run(
        RehearsalActivities(store, DecoderPool()).rehearse, RehearseInput(job_id="x", person=person)
    )
    before = decode_image(store.objects[person.key][0], STORED_LIMITS).astype(int)
    after = decode_image(store.objects[rendered.picture.key][0], STORED_LIMITS).astype(int)
    assert after.shape == before.shape
    changed = np.abs(after - before).max(axis=(1, 2)) > 40
    assert changed[height // 2]
    assert not changed[: height // 8].any()
    assert (after[height // 2] > 230).all(axis=-1).any(), "no white letter in the middle row"
    assert rendered.report.engine == "rehearsal"


def test_marking_leaves_the_original_alone() -> None:
    picture = np.full((300, 300, 3), 128, np.uint8)
    mark_as_test(picture)
    assert (picture == 128).all()


async def test_it_fails_as_it_is_told() -> None:
    store = MemoryObjectStore()
    request = RehearseInput(job_id="x", person=await stored_photo(store, 320, 400), error_code="several_people")
    with pytest.raises(ApplicationError) as failed:
        await ActivityEnvironment().run(RehearsalActivities(store, DecoderPool()).rehearse, request)
    assert (failed.value.type, failed.value.non_retryable) == ("several_people", True)
    assert list(store.objects) == ["jobs/x/input/0"]


@pytest.mark.parametrize("retryable", [False, True], ids=["too costly", "without time"])
async def test_a_photo_that_is_too_costly_is_not_tried_again(monkeypatch: pytest.MonkeyPatch, retryable: bool) -> None:
    async def decode(*_: object, **__: object) -> None:
        raise ImageError(ImageErrorCode.TOO_COMPLEX, "it took too long", retryable=retryable)

    monkeypatch.setattr(DecoderPool, "decode", decode)
    store = MemoryObjectStore()
    person = await stored_photo(store, 320, 400)
    with pytest.raises(ApplicationError) as raised:
        await ActivityEnvironment().run(
            RehearsalActivities(store, DecoderPool()).rehearse, RehearseInput(job_id="x", person=person)
        )
    assert (raised.value.type, raised.value.non_retryable) == ("image_too_complex", not retryable)
