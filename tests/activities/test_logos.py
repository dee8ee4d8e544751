"""From the address of a logo to the setting, with a shop on loopback."""

from __future__ import annotations

import io
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import numpy as np
import pytest
from PIL import Image
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.watermark import WatermarkActivities
from domain import erasure, watermarks
from domain.access.keys import KeyDigester
from domain.errors import CATALOGUE
from domain.object_keys import logo_prefix
from imaging.decoder_pool import DecoderPool
from runtime.database import Database
from runtime.object_store import ObjectStoreUnavailableError
from runtime.settings import ImageSettings
from tests.factories import create_caller
from tests.imaging.pictures import exif_with_orientation, png_of
from tests.imaging.shop import Shop, make_certificate, open_shop
from tests.logos import ORANGE, disc, logo_file
from tests.memory_store import MemoryObjectStore
from workflows.contracts import FetchedLogo, FetchLogoInput, SaveWatermarkInput, WatermarkSetting


class Logos:
    """The activities for one account, with a shop to fetch from."""

    def __init__(self, database: Database, shop: Shop, account_id: uuid.UUID) -> None:
        self.database, self.shop, self.account_id = database, shop, str(account_id)
        self.store = MemoryObjectStore()
        self.fetcher = shop.fetcher(total_timeout_s=2.0, read_timeout_s=0.3)
        self.steps = WatermarkActivities(database, self.store, self.fetcher, ImageSettings(), DecoderPool())

    async def fetch(self, data: bytes | None = None, path: str = "/given/logo") -> FetchedLogo:
        self.shop.given["logo"] = data or b""
        request = FetchLogoInput(account_id=self.account_id, logo_url=self.shop.url(path))
        try:
            return await ActivityEnvironment().run(self.steps.fetch_logo, request)
        finally:
            await self.fetcher.close()

    async def save(self, logo: FetchedLogo, *, enabled: bool = True) -> WatermarkSetting:
        request = SaveWatermarkInput(
            account_id=self.account_id, logo_url="https://shop.example/logo", logo=logo, enabled=enabled
        )
        return await ActivityEnvironment().run(self.steps.save_watermark, request)

    async def kept(self, logo: FetchedLogo) -> Image.Image:
        return Image.open(io.BytesIO(await self.store.get(logo.picture.key)))


@pytest.fixture(scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    async with open_shop(*make_certificate(tmp_path_factory.mktemp("shop"))) as running:
        yield running


@pytest.fixture
async def logos(database: Database, digester: KeyDigester, shop: Shop) -> Logos:
    return Logos(database, shop, (await create_caller(database, digester)).account_id)


@pytest.mark.parametrize("format", ["PNG", "WEBP"])
async def test_transparency_is_kept(logos: Logos, format: str) -> None:
    fetched = await logos.fetch(logo_file(format=format))
    image = await logos.kept(fetched)
    assert (image.format, image.mode, image.size) == ("PNG", "RGBA", (200, 200))
    pixels = np.asarray(image)
    assert pixels[0, 0, 3] == 0
    assert np.abs(pixels[100, 100].astype(int) - (*ORANGE, 255)).max() <= 6


async def test_a_jpeg_is_opaque_and_loses_its_metadata(logos: Logos) -> None:
    data = logo_file(np.full((40, 90, 4), 200, np.uint8), "JPEG", exif=exif_with_orientation(6), comment=b"secret")
    image = await logos.kept(await logos.fetch(data))
    assert image.size == (40, 90)
    assert not image.getexif()
    assert not image.info
    assert np.asarray(image)[..., 3].min() == 255


async def test_an_invisible_border_is_cut_off(logos: Logos) -> None:
    fetched = await logos.fetch(logo_file(disc(200, border=150)))
    assert (fetched.width, fetched.height) == (200, 200)


async def test_a_large_logo_is_kept_smaller(logos: Logos) -> None:
    fetched = await logos.fetch(logo_file(np.full((600, 3000, 4), 255, np.uint8)))
    assert (fetched.width, fetched.height) == (1024, 205)


async def test_the_same_logo_has_the_same_key_and_another_has_another(logos: Logos) -> None:
    first, again = await logos.fetch(logo_file()), await logos.fetch(logo_file())
    other = await logos.fetch(logo_file(disc(180)))
    assert first == again
    assert first.picture.key != other.picture.key
    assert len(await logos.store.list_keys(logo_prefix(logos.account_id))) == 2


async def test_a_megabyte_passes(logos: Logos) -> None:
    data = logo_file()
    await logos.fetch(data + bytes(1024 * 1024 - len(data)))


UNUSABLE = {
    "a byte more than a megabyte": ("/given/logo", logo_file() + bytes(1024 * 1024), "logo_too_large"),
    "no end in sight": ("/stream", None, "logo_too_large"),
    "not there": ("/status/404", None, "logo_unreachable"),
    "too slow": ("/silent", None, "logo_unreachable"),
    "a way to a private address": ("/to?url=https://10.0.0.1/", None, "logo_url_refused"),
    "a web page": ("/page/1000", None, "logo_not_usable"),
    "an SVG": ("/given/logo", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "logo_not_usable"),
    "half a file": ("/given/logo", logo_file()[:400], "logo_not_usable"),
    "moving": (
        "/given/logo",
        logo_file(format="WEBP", save_all=True, append_images=[Image.new("RGBA", (200, 200))]),
        "logo_not_usable",
    ),
    "a bomb": ("/given/logo", png_of(30_000, 30_000), "logo_not_usable"),
    "a speck": ("/given/logo", logo_file(disc(15)), "logo_not_usable"),
    "a line": ("/given/logo", logo_file(np.full((16, 300, 4), 255, np.uint8)), "logo_not_usable"),
    "invisible": ("/given/logo", logo_file(np.zeros((50, 50, 4), np.uint8)), "logo_not_usable"),
}


@pytest.mark.parametrize(("path", "data", "code"), UNUSABLE.values(), ids=UNUSABLE)
async def test_what_cannot_be_used_has_a_code_and_is_not_stored(
    logos: Logos, path: str, data: bytes | None, code: str
) -> None:
    with pytest.raises(ApplicationError) as caught:
        await logos.fetch(data, path)
    assert caught.value.type == code
    assert caught.value.non_retryable is (path != "/silent")
    assert CATALOGUE[code].status == 422
    assert logos.store.objects == {}


async def test_saving_sets_the_watermark_and_deletes_what_it_no_longer_names(logos: Logos) -> None:
    first = await logos.fetch(logo_file())
    assert (await logos.save(first)).enabled
    second = await logos.fetch(logo_file(disc(180)))
    assert len(logos.store.objects) == 2
    await logos.save(second, enabled=False)
    assert list(logos.store.objects) == [second.picture.key]
    row = await logos.database.read(watermarks.find_watermark, account_id=uuid.UUID(logos.account_id))
    assert row is not None
    assert (row.enabled, row.logo["key"]) == (False, second.picture.key)


async def test_a_logo_that_cannot_be_deleted_now_does_not_undo_the_setting(
    logos: Logos, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = await logos.fetch(logo_file())

    async def away(prefix: str) -> list[str]:
        raise ObjectStoreUnavailableError("refused")

    monkeypatch.setattr(logos.store, "list_keys", away)
    await logos.save(fetched)
    with logos.database.reading() as session:
        assert watermarks.find_watermark(session, account_id=uuid.UUID(logos.account_id)) is not None


async def test_an_account_that_is_gone_is_not_tried_again(logos: Logos) -> None:
    fetched = await logos.fetch(logo_file())
    logos.account_id = str(uuid.uuid4())
    with pytest.raises(ApplicationError, match="no account") as caught:
        await logos.save(fetched)
    assert caught.value.non_retryable


async def test_nothing_is_set_behind_an_erasure(logos: Logos) -> None:
    fetched = await logos.fetch(logo_file())
    await logos.database.write(erasure.begin_erasure, account_id=uuid.UUID(logos.account_id), now=datetime.now(UTC))
    with pytest.raises(ApplicationError, match="no account") as caught:
        await logos.save(fetched)
    assert caught.value.non_retryable
