"""The fields of a product, as keyword arguments."""

from __future__ import annotations

from typing import Literal, TypedDict

from tryon_client.garments import Category, GarmentState, TuckState
from tryon_client.pictures import Picture


class ProductFields(TypedDict, total=False):
    """What a product may have.

    Attributes:
        external_id: The shop's own number for it, one product for each; creating it again changes it.
        garment_category: Such as ``t-shirt`` or ``jeans``.
        back_image: Its back.
        garment_state: How it is worn unless a try-on says otherwise.
        tuck_state: Likewise.
        size: Its size.
    """

    external_id: str | None
    garment_category: str | None
    back_image: Picture | None
    garment_state: GarmentState | None
    tuck_state: TuckState | None
    size: str | None


class ProductChanges(ProductFields, total=False):
    """What may be changed: those, and what every product has. Status ``active`` brings an archived one back."""

    name: str
    category: Category
    image: Picture
    status: Literal["active", "archived"]
