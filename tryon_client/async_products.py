"""The catalogue, for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Literal, Unpack

from tryon_client import calls
from tryon_client.answers import Product
from tryon_client.async_runner import AsyncRunner
from tryon_client.garments import Category
from tryon_client.operations import Operations
from tryon_client.pictures import Picture
from tryon_client.product_fields import ProductChanges, ProductFields


class AsyncProducts:
    """The account's registered garments."""

    def __init__(self, runner: AsyncRunner, operations: Operations) -> None:
        self._runner = runner
        self._operations = operations

    async def create(
        self,
        name: str,
        category: Category,
        image: Picture,
        **fields: Unpack[ProductFields],
    ) -> Product:
        """Register a garment; the service keeps its own copy of the pictures.

        With an ``external_id`` that is there already, that product is changed. Without one, a connection that breaks
        is not tried again: the garment might be registered twice.
        """
        given = {"name": name, "category": category, "image": image, **fields}
        call = await asyncio.to_thread(calls.create_product, given)
        return await self._runner.run(self._operations.product(call))

    async def list(
        self, status: Literal["active", "archived", "all"] = "active", *, page_size: int | None = None
    ) -> AsyncIterator[Product]:
        """Every product, newest first; the next page is fetched when it is needed."""
        cursor = None
        while True:
            page = await self._runner.run(self._operations.product_page(calls.list_products(status, page_size, cursor)))
            for product in page.products:
                yield product
            cursor = page.next_cursor
            if cursor is None:
                return

    async def get(self, product_id: str) -> Product:
        """One product."""
        return await self._runner.run(self._operations.product(calls.get_product(product_id)))

    async def update(self, product_id: str, **changes: Unpack[ProductChanges]) -> Product:
        """Change what is given; ``None`` empties a field that may be empty."""
        call = await asyncio.to_thread(calls.update_product, product_id, changes)
        return await self._runner.run(self._operations.product(call))

    async def archive(self, product_id: str) -> None:
        """Take a product out of the catalogue."""
        await self._runner.run(self._operations.archive_product(product_id))
