"""Products through the whole service: registered from a shop, kept in the real store, worn in a try-on."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from domain.jobs import jobs
from tests.api.conftest import combo, single
from tests.integration.conftest import Service
from tests.pictures import data_uri, encoded, photo
from workflows.contracts import ProductRef, TryOnInput

PRODUCTS = "/api/v1/products"
FROM_SHOP = {"name": "Shirt", "category": "upper_body", "garmentImageUrl": "https://shop.example/picture"}
NOT_SENT = {"garmentImageUrl": ..., "category": ...}


async def register(service: Service, **fields: Any) -> dict[str, Any]:
    answer = await service.client.post(PRODUCTS, json={**FROM_SHOP, **fields})
    assert answer.status_code == 201, answer.text
    product: dict[str, Any] = answer.json()
    return product


async def pictures(service: Service) -> list[str]:
    return await service.store.list_keys(f"products/{service.caller.account_id}/")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/status/404", 422, "product_picture_refused"),
        ("/page/1000", 422, "product_picture_refused"),
        ("/bytes/9000000", 422, "product_picture_refused"),
        ("/to?url=https://10.0.0.1/", 400, "garment_url_refused"),
    ],
)
async def test_a_shop_without_a_picture_is_refused_and_nothing_kept(
    service: Service, path: str, status: int, code: str
) -> None:
    body = {**FROM_SHOP, "garmentBackImageUrl": f"https://shop.example{path}", "garmentImageUrl": data_uri()}
    answer = await service.client.post(PRODUCTS, json=body)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (status, code)
    assert answer.json()["error"].startswith("garmentBackImageUrl: ")
    assert (await service.client.get(PRODUCTS)).json()["products"] == []
    assert await pictures(service) == []


async def test_a_product_is_worn_after_its_shop_is_gone(service: Service) -> None:
    product = await register(service, externalId="SKU-1", tuckState="tucked", garmentBackImageUrl=data_uri())
    kept, asked = await pictures(service), len(service.shop.requests)
    assert [key.rpartition("/")[2] for key in kept] == ["back.png", "front.png"]
    job_id = await service.post(single(**NOT_SENT, productId="SKU-1", size="L"))
    assert (await service.finished(job_id))["status"] == "completed"
    assert len(service.shop.requests) == asked, "the shop was not asked again"
    worn = service.engine.requests[-1].garments[0]
    assert (worn.category, worn.hints.tuck_state, worn.hints.size) == ("upper_body", "tucked", "L")
    assert await pictures(service) == kept, "a job's clean-up leaves products alone"
    job = await service.database.read(jobs.get_job, job_id=uuid.UUID(job_id))
    source = TryOnInput.model_validate(job.workflow_input).garments[0]
    assert source.product == ProductRef(id=product["id"], revision=1)
    assert job.products == [{"index": 0, "id": product["id"], "revision": 1}]


async def test_a_job_wears_the_revision_that_it_was_accepted_with(service: Service) -> None:
    product = await register(service)
    job_id = await service.post(single(**NOT_SENT, productId=product["id"]))
    changed = await service.client.patch(
        f"{PRODUCTS}/{product['id']}", json={"garmentImageUrl": data_uri(encoded(photo(seed=5)))}
    )
    assert changed.json()["revision"] == 2
    assert (await service.finished(job_id))["status"] == "completed"
    assert len(await pictures(service)) == 2, "the old picture is left to the sweep"


async def test_a_combo_mixes_products_and_pictures(service: Service) -> None:
    await register(service, externalId="SKU-1", category="lower_body")
    garments = ({"garmentImageUrl": data_uri(), "category": "upper_body"}, {"productId": "SKU-1"})
    job_id = await service.post(combo(*garments), "/api/v1/tryon/combo")
    assert (await service.finished(job_id))["status"] == "completed"
    assert {worn.category for worn in service.engine.requests[-1].garments} == {"upper_body", "lower_body"}
    job = await service.database.read(jobs.get_job, job_id=uuid.UUID(job_id))
    assert [used["index"] for used in job.products or []] == [1]


async def test_an_archived_product_is_404(service: Service) -> None:
    product = await register(service)
    assert (await service.client.delete(f"{PRODUCTS}/{product['id']}")).status_code == 204
    answer = await service.client.post("/api/v1/tryon", json=single(**NOT_SENT, productId=product["id"]))
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (404, "product_not_found")
