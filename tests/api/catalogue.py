"""An API with a CPU worker behind it, and a shop that has any picture that a test puts there."""

from __future__ import annotations

import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from temporalio.client import Client

from gateway.temporal import TemporalGateway
from imaging.errors import ImageError, ImageErrorCode
from imaging.remote import RemoteImageFetcher
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi
from tests.pictures import data_uri, encoded
from worker_cpu.main import build_worker

PRODUCTS = "/api/v1/products"
SHOP = "https://shop.example/"


class ShopFetcher(RemoteImageFetcher):
    """Knows the addresses that a test names."""

    def __init__(self, pictures: dict[str, bytes | ImageError]) -> None:
        super().__init__()
        self.pictures = pictures

    async def fetch(self, url: str, max_bytes: int | None = None) -> bytes:
        answer = self.pictures.get(url, ImageError(ImageErrorCode.URL_UNREACHABLE, "404"))
        if isinstance(answer, ImageError):
            raise answer
        return answer


@dataclass
class Catalogue:
    """The API's products from the outside, and what stands behind them."""

    api: Api
    shop: dict[str, bytes | ImageError] = field(default_factory=dict)

    async def create(self, **fields: Any) -> dict[str, Any]:
        answer = await self.post(**fields)
        assert answer.status_code in (200, 201), answer.text
        body: dict[str, Any] = answer.json()
        return body

    async def post(self, **fields: Any) -> httpx.Response:
        return await self.api.post(product(**fields), PRODUCTS)

    async def patch(self, product_id: str, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
        return await self.api.client.patch(
            f"{PRODUCTS}/{product_id}",
            content=json.dumps(fields),
            headers={"Content-Type": "application/json", **(headers or {})},
        )

    async def get(self, product_id: str) -> httpx.Response:
        return await self.api.client.get(f"{PRODUCTS}/{product_id}")

    async def delete(self, product_id: str) -> httpx.Response:
        return await self.api.client.delete(f"{PRODUCTS}/{product_id}")

    async def list(self, **query: Any) -> httpx.Response:
        return await self.api.client.get(PRODUCTS, params=query)

    async def ids(self, **query: Any) -> list[str]:
        return [one["id"] for one in (await self.list(**query)).json()["products"]]


OpenCatalogue = Callable[..., AbstractAsyncContextManager[Catalogue]]


@asynccontextmanager
async def opened_catalogue(
    open_api: OpenApi, temporal: Client, settings: Settings | None = None
) -> AsyncIterator[Catalogue]:
    """Both processes in this one, sharing a store in memory."""
    async with open_api(settings, temporal) as api:
        catalogue = Catalogue(api)
        fetcher = ShopFetcher(catalogue.shop)
        async with build_worker(TemporalGateway(temporal), api.parts.database, api.store, fetcher, api.parts.settings):
            yield catalogue


def product(**fields: Any) -> dict[str, Any]:
    """A good body of POST /api/v1/products, with these fields changed; ``...`` leaves one out."""
    body = {"name": "Shirt", "category": "upper_body", "garmentImageUrl": data_uri(), **fields}
    return {name: value for name, value in body.items() if value is not ...}


def in_shop(catalogue: Catalogue, data: bytes | ImageError | None = None) -> str:
    """Put a picture into the shop, and say where."""
    url = f"{SHOP}{uuid.uuid4().hex}.jpg"
    catalogue.shop[url] = encoded() if data is None else data
    return url
