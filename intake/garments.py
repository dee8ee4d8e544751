"""Registered garments in a try-on: what the product says, and what the caller says instead.

A value of the caller replaces that one field of the product for this job only; null, like a field that is not sent,
replaces nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from sqlalchemy.orm import Session

from domain.errors import CATALOGUE, TryOnError
from domain.products import find_for_tryon, public_id
from domain.tables import Product
from intake.pictures import Picture
from workflows.contracts import Category, GarmentHints, GarmentSource, ObjectRef, ProductRef

Side: TypeAlias = Picture | str | ObjectRef
"""A picture that came along and is not stored yet, the address of one, or one that is stored."""

STAND_IN_CATEGORY: Category = "upper_body"
"""For a product id that stands for an outcome: no garment is drawn."""


@dataclass(frozen=True)
class SentGarment:
    """A garment as the caller describes it.

    Attributes:
        product_id: A registered garment that fills every gap, by its id or by the caller's own name.
        prefix: What stands before the names of its fields in error messages.
    """

    product_id: str | None
    category: Category | None
    hints: GarmentHints
    front: Side | None
    back: Side | None
    prefix: str = ""


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
            index: The garment's place among those of the job.
            uploads: Where pictures that came along were stored, by the names of their fields.
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


def hints_of(fields: object) -> GarmentHints:
    """The hints among the fields of a garment, whoever describes it."""
    return GarmentHints.model_validate({name: getattr(fields, name) for name in GarmentHints.model_fields})


def resolve_products(
    session: Session,
    account_id: uuid.UUID,
    garments: Sequence[SentGarment],
    *,
    stand_ins: Collection[str] = (),
) -> list[ResolvedGarment]:
    """Look up the products that are named, and put the caller's own values in their place.

    Args:
        session: The transaction; it only reads.
        account_id: Whose products.
        garments: Their pictures need not have been looked at.
        stand_ins: Product ids that stand for an outcome and not for a garment; they are not looked up.

    Returns:
        Every garment, in order.

    Raises:
        TryOnError: ``product_not_found``, for one that is unknown, archived or another account's.
    """
    return [_resolve(session, account_id, garment, stand_ins) for garment in garments]


def _resolve(
    session: Session, account_id: uuid.UUID, garment: SentGarment, stand_ins: Collection[str]
) -> ResolvedGarment:
    name = garment.product_id
    if name is None or name in stand_ins:
        return ResolvedGarment(garment.category or STAND_IN_CATEGORY, garment.hints, garment.front, garment.back)
    product = find_for_tryon(session, account_id=account_id, product_id_text=name)
    if product is None:
        sentence = CATALOGUE["product_not_found"].sentence
        raise TryOnError("product_not_found", fields={f"{garment.prefix}productId": sentence})
    return _merged(garment, product)


def _merged(garment: SentGarment, product: Product) -> ResolvedGarment:
    registered = {name: getattr(product, name) for name in ("garment_category", "size", "garment_state", "tuck_state")}
    gaps = {name: value for name, value in registered.items() if getattr(garment.hints, name) is None}
    front = ObjectRef.model_validate(product.front)
    back = None if product.back is None else ObjectRef.model_validate(product.back)
    return ResolvedGarment(
        category=garment.category or cast("Category", product.category),
        hints=garment.hints.model_copy(update=gaps),
        front=garment.front or front,
        back=garment.back or back,
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
