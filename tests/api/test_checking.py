"""Checking pictures over HTTP, with both workers behind it; the engine says what a test has it say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select
from temporalio.client import Client

from activities.device import Device
from activities.inference import InferenceActivities
from api.openapi import VOLUME
from api.tryon.accepting import SLOW_SECONDS, rehearsal_product_ids
from api.tryon.checking import CHECK_PATH, OF_GARMENTS, OF_PHOTOS
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.errors import CATALOGUE
from domain.tables import Job, LedgerEntry
from engines.base import EngineError
from gateway.temporal import TemporalGateway
from imaging.decoder_pool import DecoderPool
from runtime.object_store import ObjectStoreUnavailableError
from runtime.settings import Settings
from tests.activities.engines import FakeEngine, only
from tests.api.catalogue import Catalogue, in_shop, opened_catalogue, product
from tests.api.conftest import Api, OpenApi, combo, single
from tests.factories import create_caller
from tests.pictures import data_uri, encoded, photo
from worker_gpu.main import build_workers

LARGE = data_uri(encoded(photo(800, 600)))
"""A garment's picture that there is nothing to say about."""


@dataclass
class Checks:
    """The API, and what its engine says."""

    catalogue: Catalogue
    engine: FakeEngine

    @property
    def api(self) -> Api:
        return self.catalogue.api

    async def post(self, body: dict[str, Any]) -> httpx.Response:
        return await self.api.post(body, CHECK_PATH)

    async def verdict(self, body: dict[str, Any]) -> dict[str, Any]:
        answer = await self.post(body)
        assert answer.status_code == 200, answer.text
        verdict: dict[str, Any] = answer.json()
        return verdict


@pytest.fixture
async def checks(open_api: OpenApi, temporal: Client) -> AsyncIterator[Checks]:
    engine, device = FakeEngine(), Device()
    async with opened_catalogue(open_api, temporal) as catalogue, AsyncExitStack() as workers:
        steps = InferenceActivities(
            catalogue.api.store, engine, only(engine), device, lambda: None, decoders=DecoderPool()
        )
        for worker in build_workers(temporal, steps, 1):
            await workers.enter_async_context(worker)
        yield Checks(catalogue, engine)
    device.close()


def problems(picture: dict[str, Any]) -> list[str]:
    return [each["code"] for each in picture["findings"] if each["severity"] == "problem"]


async def test_good_pictures_are_ok_and_nothing_is_billed_or_kept(checks: Checks) -> None:
    verdict = await checks.verdict(single(garmentImageUrl=LARGE))
    assert list(verdict) == ["ok", "photo", "garments"]
    assert (verdict["ok"], verdict["photo"]["ok"]) == (True, True)
    assert verdict["garments"] == [{"ok": True, "findings": []}]
    assert checks.api.store.objects == {}
    with checks.api.parts.database.reading() as session:
        owner = Job.account_id == checks.api.caller.account_id
        assert session.scalar(select(func.count()).select_from(Job).where(owner)) == 0
        entries = LedgerEntry.account_id == checks.api.caller.account_id, LedgerEntry.kind != "grant"
        assert session.scalar(select(func.count()).select_from(LedgerEntry).where(*entries)) == 0
    ((_, found, (garment,)),) = checks.engine.examined
    assert found is not None
    assert (garment.category, garment.picture.shape[:2]) == ("upper_body", (600, 800))


async def test_each_finding_stands_with_its_picture_and_says_what_to_do(checks: Checks) -> None:
    def refuse(*asked: Any) -> list[EngineError]:
        error = EngineError("garment_not_recognised", advice="It looks like a dress.")
        error.garment = asked[2][1]
        return [EngineError("pose_not_usable", advice="Show yourself from head to hips."), error]

    checks.engine.examine = refuse  # type: ignore[method-assign]
    small = {"garmentImageUrl": data_uri(), "category": "upper_body"}
    gone = {"garmentImageUrl": "https://shop.example/gone.jpg", "category": "lower_body"}
    whole = {"garmentImageUrl": in_shop(checks.catalogue, encoded(photo(800, 600))), "category": "upper_body"}
    verdict = await checks.verdict(combo(small, gone, whole))
    assert verdict["ok"] is False
    assert verdict["photo"]["ok"] is False
    assert verdict["photo"]["findings"][0] == {
        "code": "pose_not_usable",
        "severity": "problem",
        "message": "The pose in the photo cannot be used. Show yourself from head to hips.",
    }
    assert [each["ok"] for each in verdict["garments"]] == [True, False, False]
    assert [each["code"] for each in verdict["garments"][0]["findings"]] == ["garment_small"]
    assert verdict["garments"][1]["findings"] == [
        {
            "code": "garment_url_unreachable",
            "severity": "problem",
            "message": CATALOGUE["garment_url_unreachable"].sentence,
        }
    ]
    assert verdict["garments"][2]["findings"][0]["message"] == (
        "The garment could not be recognised. It looks like a dress."
    )
    assert checks.api.store.objects == {}


async def test_a_photo_of_nobody_does_not_hide_what_is_wrong_with_the_garment(checks: Checks) -> None:
    def nobody(*asked: Any) -> Any:
        raise EngineError("person_not_found")

    checks.engine.segment = nobody  # type: ignore[method-assign]
    verdict = await checks.verdict(single(garmentImageUrl="https://shop.example/gone.jpg"))
    assert problems(verdict["photo"]) == ["person_not_found"]
    assert problems(verdict["garments"][0]) == ["garment_url_unreachable"]


async def test_a_registered_garment_is_checked_as_it_is_tried_on(checks: Checks) -> None:
    made = (await checks.api.post(product(category="full_body", externalId="DRESS"), "/api/v1/products")).json()
    stored = dict(checks.api.store.objects)
    assert (await checks.verdict(single(productId="DRESS", garmentImageUrl=..., category=...)))["garments"]
    (*_, (_, _, (garment,))) = checks.engine.examined
    assert garment.category == made["category"]
    assert checks.api.store.objects == stored, "the product keeps its picture"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"customerPhotoBase64": "https://shop.example/me.jpg"}, 400, "malformed_data_uri"),
        (single(category=...), 400, "field_invalid"),
        (combo({"garmentImageUrl": data_uri(), "category": "upper_body"}), 400, "field_invalid"),
        (single(productId="no-such-product"), 404, "product_not_found"),
        (single(customerPhotoBase64=data_uri(b"not a picture")), 422, "image_not_readable"),
    ],
)
async def test_a_body_is_refused_as_that_of_a_job(api: Api, body: dict[str, Any], status: int, code: str) -> None:
    answer = await api.post(body, CHECK_PATH)
    assert answer.status_code == status
    job = await api.post(body, "/api/v1/tryon/combo" if "garments" in body else "/api/v1/tryon")
    assert (job.status_code, job.headers["X-Error-Code"]) == (status, answer.headers["X-Error-Code"])
    assert answer.json() == job.json()
    if body.get("customerPhotoBase64", "").startswith("data:"):
        assert answer.headers["X-Error-Code"] == code
    assert api.store.objects == {}


async def test_unknown_fields_are_named_and_only_a_post_is_taken(checks: Checks) -> None:
    answer = await checks.post(single(colour="red", garments=None))
    assert (answer.status_code, answer.headers["X-Ignored-Fields"]) == (200, "colour, garments")
    refused = await checks.api.client.get(CHECK_PATH)
    assert (refused.status_code, refused.headers["Allow"]) == (405, "POST")


async def test_the_volume_is_not_asked_and_the_rate_is(
    open_api: OpenApi, temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRYON_API_CHECK_TIMEOUT_SECONDS", "0.2")
    async with open_api(Settings(), temporal, own_terms=OwnTerms(included=0, daily_cap=0)) as api:
        answer = await api.post(single(), CHECK_PATH)  # nobody works here
        assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "busy")
        assert int(answer.headers["Retry-After"]) > 0
        assert answer.headers["RateLimit-Policy"].startswith('"requests"')
        assert (await api.post(single())).status_code == 402
        assert api.store.objects == {}


async def test_the_slow_rehearsal_takes_longer_than_a_check_may(
    open_api: OpenApi, temporal: Client, digester: KeyDigester, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Settings().api.check_timeout_seconds < SLOW_SECONDS
    monkeypatch.setenv("TRYON_API_CHECK_TIMEOUT_SECONDS", "0.5")
    async with opened_catalogue(open_api, temporal, Settings()) as catalogue:
        tester = await create_caller(catalogue.api.parts.database, digester, mode="test")
        catalogue.api.client.headers.update(tester.headers)
        answer = await catalogue.api.post(single(productId="test_slow"), CHECK_PATH)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "busy")


async def test_no_temporal_is_no_verdict(open_api: OpenApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_TEMPORAL_ADDRESS", "127.0.0.1:1")
    settings = Settings()
    temporal = await TemporalGateway.connect(settings.temporal, for_requests=True)
    async with open_api(settings, client=temporal) as api:
        answer = await api.post(single(), CHECK_PATH)
        assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "storage_unavailable")
        assert api.store.objects == {}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [(ZeroDivisionError(), 500, "internal"), (ObjectStoreUnavailableError("refused"), 503, "storage_unavailable")],
)
async def test_a_fault_in_the_worker_is_ours(checks: Checks, error: Exception, status: int, code: str) -> None:
    def fail(*asked: Any) -> Any:
        raise error

    checks.engine.examine = fail  # type: ignore[method-assign]
    answer = await checks.post(single())
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (status, code)
    assert checks.api.store.objects == {}


async def test_every_outcome_can_be_rehearsed_without_an_engine(checks: Checks, digester: KeyDigester) -> None:
    tester = await create_caller(checks.api.parts.database, digester, mode="test", own_terms=OwnTerms(0, 0))
    checks.api.client.headers.update(tester.headers)
    good = {"garmentImageUrl": data_uri(), "category": "upper_body"}

    async def told(product_id: str) -> tuple[int, Any]:
        answer = await checks.post(combo(good, {"productId": product_id}))
        if answer.status_code != 200:
            return answer.status_code, answer.headers["X-Error-Code"]
        verdict = answer.json()
        return 200, [problems(each) for each in (verdict["photo"], *verdict["garments"])]

    ids = [each for each in rehearsal_product_ids() if each != "test_slow"]
    for product_id, (status, said) in zip(ids, await asyncio.gather(*map(told, ids)), strict=True):
        code = product_id.removeprefix("test_failed_").removeprefix("test_refused_")
        if code in OF_PHOTOS:
            assert (status, said) == (200, [[code], [], []]), product_id
        elif code in OF_GARMENTS:
            assert (status, said) == (200, [[], [], [code]]), product_id
        elif product_id.startswith("test_refused_") and code not in VOLUME:
            assert (status, said) == (CATALOGUE[code].status, code), product_id
        else:
            assert (status, said) == (200, [[], [], []]), product_id
    assert checks.engine.examined == []
    assert checks.api.store.objects == {}


def test_what_pictures_are_to_blame_for_is_whatever_a_shopper_or_shop_can_change() -> None:
    of_jobs = {code for code, entry in CATALOGUE.items() if entry.status is None}
    unforeseen = {"result_not_usable", "timed_out", "cancelled", "generation_failed"}
    assert of_jobs - unforeseen == {*OF_PHOTOS, *OF_GARMENTS}
