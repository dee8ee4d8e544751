"""Registered garments in a try-on: what the product says, and what the caller says instead.

A value of the caller replaces that one field of the product for this job only; null, like a field that is not sent,
replaces nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from sqlalchemy.orm import Session

from domain.errors import CATALOGUE, TryOnError
from domain.products import find_for_tryon, public_id
from engines.hints import ProductHints
from intake.pictures import Picture
from workflows.contracts import Category, GarmentHints, GarmentSource, ObjectRef, ProductRef

Side: TypeAlias = Picture | str | ObjectRef
"""A picture that came along and is not stored yet, the address of one, or one that is stored."""

STAND_IN_CATEGORY: Category = "upper_body"
"""For a product id that stands for an outcome: no garment is drawn."""


@dataclass(frozen=True)
class SentGarment:
    """A garment as the caller describes it; once its product was looked up, all is known but what is at an address.

    Attributes:
        product_id: A registered garment that fills every gap, by its id or by the caller's own name.
        front: Where its picture is. Likewise ``back``, if it has one.
        prefix: What stands before the names of its fields in error messages.
        product: The registered garment that it is, as of which revision.
    """

    product_id: str | None
    category: Category | None
    hints: GarmentHints
    front: Side | None
    back: Side | None
    prefix: str = ""
    product: ProductRef | None = None

    def source(self, index: int, uploads: Mapping[str, ObjectRef]) -> GarmentSource:
        """What the workflow is started with.

        Args:
            index: The garment's place among those of the job.
            uploads: Where pictures that came along were stored, by the names of their fields.
        """
        return GarmentSource(
            index=index,
            category=self.category or STAND_IN_CATEGORY,
            hints=self.hints,
            picture=_stored(self.front, uploads),
            picture_url=self.front if isinstance(self.front, str) else None,
            back_picture=_stored(self.back, uploads),
            back_picture_url=self.back if isinstance(self.back, str) else None,
            product=self.product,
        )


def resolve_products(
    session: Session,
    account_id: uuid.UUID,
    garments: Sequence[SentGarment],
    *,
    stand_ins: Collection[str] = (),
) -> list[SentGarment]:
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
    resolved = []
    for garment in garments:
        name, whole = garment.product_id, garment
        if name is not None and name not in stand_ins:
            product = find_for_tryon(session, account_id=account_id, product_id_text=name)
            if product is None:
                sentence = CATALOGUE["product_not_found"].sentence
                raise TryOnError("product_not_found", fields={f"{garment.prefix}productId": sentence})
            known = {hint: getattr(product, hint) for hint in ProductHints.model_fields}
            gaps = {hint: value for hint, value in known.items() if getattr(garment.hints, hint) is None}
            whole = replace(
                garment,
                category=garment.category or cast("Category", product.category),
                hints=garment.hints.model_copy(update=gaps),
                front=garment.front or ObjectRef.model_validate(product.front),
                back=garment.back or (ObjectRef.model_validate(product.back) if product.back else None),
                product=ProductRef(id=public_id(product.id), revision=product.revision),
            )
        resolved.append(whole)
    return resolved


def _stored(side: Side | None, uploads: Mapping[str, ObjectRef]) -> ObjectRef | None:
    if isinstance(side, Picture):
        return uploads[side.field]
    return side if isinstance(side, ObjectRef) else None


def products_used(garments: Sequence[SentGarment]) -> list[dict[str, Any]]:
    """Which garments are registered ones, for the job's row: index, product id and revision."""
    return [
        {"index": index, "id": garment.product.id, "revision": garment.product.revision}
        for index, garment in enumerate(garments)
        if garment.product is not None
    ]
