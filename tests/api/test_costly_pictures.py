"""Pictures that are made to be costly, sent to the API."""

from __future__ import annotations

import asyncio

import pytest

from imaging import decoder_pool
from imaging.opening import MOST_SCANS
from runtime.settings import ImageSettings, Settings
from tests.api.conftest import Api, OpenApi, combo, single
from tests.imaging.bombs import jpeg_of_scans
from tests.pictures import data_uri

SIDE = 1600


def small_bound() -> Settings:
    settings = Settings()
    settings.images = ImageSettings(max_pixels=SIDE * SIDE)
    return settings


async def test_more_work_than_is_allowed_is_refused(open_api: OpenApi) -> None:
    async with open_api(small_bound()) as api:
        answer = await api.post(single(garmentImageUrl=data_uri(jpeg_of_scans(MOST_SCANS + 1, SIDE, SIDE))))
        assert (answer.status_code, answer.headers["X-Error-Code"]) == (422, "image_too_complex")
        assert answer.json()["error"].startswith("garmentImageUrl: ")
        assert not api.store.objects
        at_the_bound = await api.post(single(garmentImageUrl=data_uri(jpeg_of_scans(MOST_SCANS, SIDE, SIDE))))
        assert at_the_bound.status_code == 202


async def test_a_decode_that_the_machine_has_no_time_for_is_no_fault_of_the_picture(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await api.post(single())).status_code == 202
    with monkeypatch.context() as impatient:
        impatient.setattr(decoder_pool, "WALL_SECONDS_PER_CPU_SECOND", 0.0)
        answer = await api.post(single())
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "busy")
    assert (await api.post(single())).status_code == 202


async def test_another_account_does_not_wait(api: Api) -> None:
    """The attacker's combo waits for its own share; the neighbour's POST goes past it."""
    decoders = api.app.state.decoders
    slow = jpeg_of_scans(4_000, 2_000, 2_000)
    attack = asyncio.create_task(decoders.inspect("attacker", slow, decoder_pool.ImageLimits(max_pixels=10**12)))
    more = asyncio.create_task(decoders.inspect("attacker", slow, decoder_pool.ImageLimits(max_pixels=10**12)))
    await asyncio.sleep(0.1)
    assert (await api.post(combo(), "/api/v1/tryon/combo")).status_code == 202
    assert not attack.done()
    assert not more.done()
    attack.cancel()
    more.cancel()
    await asyncio.gather(attack, more, return_exceptions=True)
