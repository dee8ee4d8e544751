"""Registered garments in a try-on: what the product says, and what the request says instead.

A value of the request replaces that one field of the product for this request only; null, like a field that is not
sent, replaces nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from sqlalchemy.ext.asyncio import AsyncSession

from api.pictures import Picture
from api.tryon.reading import GarmentPictures, ReadRequest
from domain.errors import CATALOGUE, TryOnError
from domain.products import find_for_tryon, public_id
from domain.tables import Product
from workflows.contracts import Category, GarmentHints, GarmentSource, ObjectRef, ProductRef

Side: TypeAlias = Picture | str | ObjectRef
"""A picture that came with the request, the address of one, or a product's."""

STAND_IN_CATEGORY: Category = "upper_body"
"""For a product id that stands for an outcome: no garment is drawn."""


@dataclass(frozen=True)
class ResolvedGarment:
    """A garment of which everything is known but what is at an address.

    Attributes:
        front: Where its picture is; only a stand-in has none. Likewise ``back``, if it has one.
        product: The registered garment that it is, as of which revision.
    """

    category: Category
    hints: GarmentHints
    front: Side | None
    back: Side | None
    product: ProductRef | None = None

    def source(self, index: int, uploads: Mapping[str, ObjectRef]) -> GarmentSource:
        """What the workflow is started with.

        Args:
            index: The garment's place in the request.
            uploads: Where the request's inline pictures were stored, by the names of their fields.
        """
        return GarmentSource(
            index=index,
            category=self.category,
            hints=self.hints,
            picture=_stored(self.front, uploads),
            picture_url=self.front if isinstance(self.front, str) else None,
            back_picture=_stored(self.back, uploads),
            back_picture_url=self.back if isinstance(self.back, str) else None,
            product=self.product,
        )


async def resolve_products(
    session: AsyncSession, account_id: uuid.UUID, request: ReadRequest, *, stand_ins: Collection[str] = ()
) -> list[ResolvedGarment]:
    """Look up the products that a request names, and put its own values in their place.

    Args:
        session: The transaction; it only reads.
        account_id: Whose products.
        request: Its pictures need not have been looked at.
        stand_ins: Product ids that stand for an outcome and not for a garment; they are not looked up.

    Returns:
        Every garment of the request, in its order.

    Raises:
        TryOnError: ``product_not_found``, for one that is unknown, archived or another account's.
    """
    return [await _resolve(session, account_id, garment, stand_ins) for garment in request.garments]


async def _resolve(
    session: AsyncSession, account_id: uuid.UUID, garment: GarmentPictures, stand_ins: Collection[str]
) -> ResolvedGarment:
    name = garment.fields.product_id
    if name is None or name in stand_ins:
        return _as_sent(garment)
    product = await find_for_tryon(session, account_id=account_id, product_id_text=name)
    if product is None:
        raise TryOnError("product_not_found", f"{garment.prefix}productId: {CATALOGUE['product_not_found'].sentence}")
    return _merged(garment, product)


def _as_sent(garment: GarmentPictures) -> ResolvedGarment:
    fields = garment.fields
    hints = GarmentHints(
        garment_category=fields.garment_category,
        size=fields.size,
        customer_size=fields.customer_size,
        garment_state=fields.garment_state,
        tuck_state=fields.tuck_state,
        view_angle=fields.view_angle,
    )
    return ResolvedGarment(fields.category or STAND_IN_CATEGORY, hints, garment.front, garment.back)


def _merged(garment: GarmentPictures, product: Product) -> ResolvedGarment:
    sent = _as_sent(garment)
    registered = {name: getattr(product, name) for name in ("garment_category", "size", "garment_state", "tuck_state")}
    gaps = {name: value for name, value in registered.items() if getattr(sent.hints, name) is None}
    front = ObjectRef.model_validate(product.front)
    back = None if product.back is None else ObjectRef.model_validate(product.back)
    return ResolvedGarment(
        category=garment.fields.category or cast("Category", product.category),
        hints=sent.hints.model_copy(update=gaps),
        front=sent.front or front,
        back=sent.back or back,
        product=ProductRef(id=public_id(product.id), revision=product.revision),
    )


def _stored(side: Side | None, uploads: Mapping[str, ObjectRef]) -> ObjectRef | None:
    if isinstance(side, Picture):
        return uploads[side.field]
    return side if isinstance(side, ObjectRef) else None


def products_used(garments: Sequence[ResolvedGarment]) -> list[dict[str, Any]]:
    """Which garments are registered ones, for the job's row: index, product id and revision."""
    return [
        {"index": index, "id": garment.product.id, "revision": garment.product.revision}
        for index, garment in enumerate(garments)
        if garment.product is not None
    ]
