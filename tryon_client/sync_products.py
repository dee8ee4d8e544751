"""The catalogue, for programs that block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Unpack

from tryon_client import calls
from tryon_client.answers import Product
from tryon_client.garments import Category
from tryon_client.operations import Operations
from tryon_client.pictures import Picture
from tryon_client.product_fields import ProductChanges, ProductFields
from tryon_client.sync_runner import Runner


class Products:
    """The account's registered garments."""

    def __init__(self, runner: Runner, operations: Operations) -> None:
        self._runner = runner
        self._operations = operations

    def create(
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
        call = calls.create_product({"name": name, "category": category, "image": image, **fields})
        return self._runner.run(self._operations.product(call))

    def list(
        self, status: Literal["active", "archived", "all"] = "active", *, page_size: int | None = None
    ) -> Iterator[Product]:
        """Every product, newest first; the next page is fetched when it is needed."""
        cursor = None
        while True:
            page = self._runner.run(self._operations.product_page(calls.list_products(status, page_size, cursor)))
            yield from page.products
            cursor = page.next_cursor
            if cursor is None:
                return

    def get(self, product_id: str) -> Product:
        """One product."""
        return self._runner.run(self._operations.product(calls.get_product(product_id)))

    def update(self, product_id: str, **changes: Unpack[ProductChanges]) -> Product:
        """Change what is given; ``None`` empties a field that may be empty."""
        return self._runner.run(self._operations.product(calls.update_product(product_id, changes)))

    def archive(self, product_id: str) -> None:
        """Take a product out of the catalogue."""
        self._runner.run(self._operations.archive_product(product_id))
