from __future__ import annotations

import io
import uuid
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from structlog.testing import capture_logs
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment

from activities.objects import put_object
from activities.rehearsal import ENGINE
from activities.watermark import WatermarkActivities
from domain import watermarks
from domain.access.keys import KeyDigester
from domain.object_keys import logo_key
from imaging.decode import decode_image
from imaging.decoder_pool import DecoderPool
from imaging.encode import encode_png
from imaging.provenance import PictureSigner, make_certificate, read_manifest
from imaging.remote import RemoteImageFetcher
from runtime.database import Database
from runtime.object_store import ObjectStoreUnavailableError
from runtime.settings import ImageSettings
from tests.factories import create_caller
from tests.logos import ORANGE, disc, logo_file
from tests.memory_store import MemoryObjectStore
from tests.pictures import encoded, photo
from workflows.contracts import ObjectRef, WatermarkedPicture, WatermarkInput
from workflows.steps import AWAY

GREY = 128


class Account:
    """An account whose rendered picture is plain grey."""

    def __init__(self, database: Database, account_id: uuid.UUID) -> None:
        self.database, self.id = database, account_id
        self.store = MemoryObjectStore()

    async def sets(self, data: bytes, *, enabled: bool = True, stored: bool = True) -> ObjectRef:
        ref = ObjectRef.of("tryon", "-", data, "image/png")
        ref = ref.model_copy(update={"key": logo_key(str(self.id), ref.sha256)})
        if stored:
            await self.store.put(ref.key, data, ref.content_type)
        await self.database.write(
            watermarks.save_watermark,
            account_id=self.id,
            logo_url="https://no-longer.example/logo.png",
            logo=ref.model_dump(mode="json"),
            enabled=enabled,
            now=datetime.now(UTC),
        )
        return ref

    async def mark(
        self,
        picture: NDArray[np.uint8] | None = None,
        *,
        trained: bool = False,
        engine: str = "",
        signer: PictureSigner | None = None,
        **images: Any,
    ) -> WatermarkedPicture:
        png = encode_png(np.full((1200, 1000, 3), GREY, np.uint8) if picture is None else picture)
        ref = await put_object(self.store, "jobs/j/work/rendered.png", png, "image/png")
        request = WatermarkInput(job_id="j", account_id=str(self.id), picture=ref, trained=trained, engine=engine)
        steps = WatermarkActivities(
            self.database, self.store, RemoteImageFetcher(), ImageSettings(**images), DecoderPool(), signer
        )
        return await ActivityEnvironment().run(steps.watermark, request)

    async def result(self) -> NDArray[np.int_]:
        return np.asarray(Image.open(io.BytesIO(await self.store.get("results/j.jpg")))).astype(int)


@pytest.fixture
async def account(database: Database, digester: KeyDigester) -> Account:
    return Account(database, (await create_caller(database, digester)).account_id)


def warnings(logs: list[MutableMapping[str, Any]]) -> list[str]:
    return [entry["reason"] for entry in logs if entry["log_level"] == "warning"]


async def test_a_picture_that_other_limits_let_in_is_not_judged_again(account: Account) -> None:
    await account.mark(np.zeros((60, 900, 3), np.uint8))
    assert (await account.result()).shape == (60, 900, 3)


@pytest.mark.parametrize("trained", [True, False])
async def test_the_result_is_a_jpeg_that_says_whether_a_model_made_it(account: Account, trained: bool) -> None:
    result = (await account.mark(decode_image(encoded(photo(321, 457), "PNG")), trained=trained)).result
    data = await account.store.get("results/j.jpg")
    image = Image.open(io.BytesIO(data))
    assert (image.format, image.size, result.key) == ("JPEG", (321, 457), "results/j.jpg")
    assert (b"trainedAlgorithmicMedia" in data or b"rainedAlgorithmicMedia" in data) == trained
    assert not image.getexif()


@pytest.mark.parametrize(
    ("engine", "trained", "source"),
    [
        ("klein", True, "compositeWithTrainedAlgorithmicMedia"),
        ("warp", False, "compositeCapture"),
        (ENGINE, False, "algorithmicallyEnhanced"),
    ],
)
async def test_the_signature_says_how_the_picture_was_made(
    account: Account, engine: str, trained: bool, source: str
) -> None:
    signer = PictureSigner(*(each.encode() for each in make_certificate("Us")), name="Us", version="1")
    await account.mark(engine=engine, trained=trained, signer=signer)
    told = read_manifest(await account.store.get("results/j.jpg"), signer.own)
    assert (told.ours, told.engine, told.source) == (True, engine, source)


async def test_a_wanted_logo_lies_in_the_bottom_right_corner(account: Account) -> None:
    await account.sets(logo_file())
    assert (await account.mark()).logo == "stamped"
    picture = await account.result()
    orange = np.abs(picture - ORANGE).max(axis=2) < 40
    rows, columns = np.nonzero(orange)
    assert np.abs(np.array([columns.min(), columns.max()]) - (1000 - 30 - 180, 1000 - 30)).max() <= 3
    assert np.abs(np.array([rows.min(), rows.max()]) - (1200 - 30 - 180, 1200 - 30)).max() <= 3
    # What is transparent stays the picture's, and what is hidden beneath never shows.
    assert np.abs(picture[1200 - 30 - 178, 1000 - 30 - 178] - GREY).max() <= 6
    assert np.abs(picture[: 1200 - 30 - 200] - GREY).max() <= 2


async def test_its_size_and_margin_are_settings(account: Account) -> None:
    await account.sets(logo_file())
    await account.mark(watermark_width_share=0.1, watermark_margin_share=0.1)
    rows, columns = np.nonzero(np.abs(await account.result() - ORANGE).max(axis=2) < 40)
    assert np.abs(np.array([columns.min(), columns.max()]) - (800, 900)).max() <= 3
    assert np.abs(np.array([rows.min(), rows.max()]) - (1000, 1100)).max() <= 3


@pytest.mark.parametrize("ever_set", [True, False])
async def test_without_a_wanted_logo_there_is_none(account: Account, ever_set: bool) -> None:
    if ever_set:
        await account.sets(logo_file(), enabled=False)
    with capture_logs() as logs:
        assert (await account.mark()).logo == "off"
    assert np.abs(await account.result() - GREY).max() <= 1
    assert warnings(logs) == []


async def test_the_logo_of_another_account_is_not_taken(account: Account, digester: KeyDigester) -> None:
    other = Account(account.database, (await create_caller(account.database, digester)).account_id)
    other.store = account.store
    await other.sets(logo_file())
    assert (await account.mark()).logo == "off"


async def test_a_logo_that_is_gone_does_not_cost_the_picture(account: Account) -> None:
    await account.sets(logo_file(), stored=False)
    with capture_logs() as logs:
        assert (await account.mark()).logo == "missing"
    assert np.abs(await account.result() - GREY).max() <= 1
    assert warnings(logs) == ["it is not in the object store"]


@pytest.mark.parametrize("overwritten", [True, False])
async def test_a_damaged_logo_does_not_cost_the_picture(account: Account, overwritten: bool) -> None:
    ref = await account.sets(logo_file()[:300])
    if overwritten:
        await account.store.put(ref.key, logo_file(), "image/png")
    with capture_logs() as logs:
        assert (await account.mark()).logo == "not_usable"
    assert np.abs(await account.result() - GREY).max() <= 1
    [reason] = warnings(logs)
    assert reason.startswith("it is damaged: ")


async def test_a_store_that_is_away_is_a_reason_to_try_again(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    await account.sets(logo_file())
    read = account.store.get

    async def without_logos(key: str) -> bytes:
        if key.startswith("accounts/"):
            raise ObjectStoreUnavailableError("refused")
        return await read(key)

    monkeypatch.setattr(account.store, "get", without_logos)
    with pytest.raises(ApplicationError) as failed:
        await account.mark()
    assert (failed.value.type, failed.value.non_retryable) == (AWAY, False)


async def test_a_logo_replaced_while_it_is_read_is_replaced_on_the_picture_too(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step has read the row of the old logo; before it reads the logo, a new one is set and the old deleted."""
    old = await account.sets(logo_file())
    read = account.store.get

    async def replaced_before(key: str) -> bytes:
        if key == old.key and key in account.store.objects:
            await account.sets(logo_file(disc(180, colour=(0, 0, 250))))
            await account.store.delete_prefix(old.key)
        return await read(key)

    monkeypatch.setattr(account.store, "get", replaced_before)
    with capture_logs() as logs:
        assert (await account.mark()).logo == "stamped"
    assert np.abs((await account.result())[1200 - 120, 1000 - 120] - (0, 0, 250)).max() < 20
    assert warnings(logs) == []
