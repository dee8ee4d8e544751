"""Garments as callers name them, and the names that the wire has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypedDict, Unpack

from tryon_client.pictures import Picture, as_inline_or_address

Category: TypeAlias = Literal["upper_body", "lower_body", "full_body"]
GarmentState: TypeAlias = Literal["open", "closed"]
TuckState: TypeAlias = Literal["tucked", "untucked"]
ViewAngle: TypeAlias = Literal["front", "left", "right", "back"]

MAX_GARMENTS = 4
"""In one look."""

WIRE_NAMES = {
    "image": "garmentImageUrl",
    "back_image": "garmentBackImageUrl",
    "product_id": "productId",
    "external_id": "externalId",
    "name": "name",
    "status": "status",
    "category": "category",
    "garment_category": "garmentCategory",
    "size": "size",
    "customer_size": "customerSize",
    "garment_state": "garmentState",
    "tuck_state": "tuckState",
    "view_angle": "viewAngle",
}
PICTURES = {"image", "back_image"}


@dataclass(frozen=True)
class Garment:
    """One garment: a picture with its category, or a registered product.

    Attributes:
        image: Its picture; not needed with ``product_id``.
        category: Which part of the body it covers; not needed with ``product_id``.
        product_id: A product of the account. What is given beside it holds for this request only.
        back_image: Its back, used when ``view_angle`` is back.
        garment_category: Such as ``t-shirt`` or ``jeans``.
        size: Its size, such as ``M``, ``38`` or ``W32/L34``.
        customer_size: The size that the customer wears.
        garment_state: For jackets, shirts, waistcoats.
        tuck_state: Whether a top is worn inside the trousers.
        view_angle: Where the customer is seen from.
    """

    image: Picture | None = field(default=None, repr=False)
    category: Category | None = None
    product_id: str | None = None
    back_image: Picture | None = field(default=None, repr=False)
    garment_category: str | None = None
    size: str | None = None
    customer_size: str | None = None
    garment_state: GarmentState | None = None
    tuck_state: TuckState | None = None
    view_angle: ViewAngle | None = None

    def wire(self, name: str) -> dict[str, str]:
        """Its fields as the API takes them.

        Args:
            name: What to call the garment in error messages.

        Raises:
            ValueError: Neither a product nor a picture with its category, or a picture that cannot be used.
            OSError: A picture's file cannot be read.
        """
        if self.product_id is None and (self.image is None or self.category is None):
            raise ValueError(f"{name}: give an image and its category, or a product_id")
        fields = wire_fields(vars(self), name)
        return {key: value for key, value in fields.items() if value is not None}


class Hints(TypedDict, total=False):
    """The fields of one garment, as keyword arguments."""

    category: Category | None
    product_id: str | None
    back_image: Picture | None
    garment_category: str | None
    size: str | None
    customer_size: str | None
    garment_state: GarmentState | None
    tuck_state: TuckState | None
    view_angle: ViewAngle | None


GarmentLike: TypeAlias = Garment | Picture
Garments: TypeAlias = GarmentLike | Sequence[GarmentLike] | None
"""One garment or up to four; ``None`` where ``product_id`` is among the hints."""


def as_garments(garments: Garments, **hints: Unpack[Hints]) -> list[Garment]:
    """Whatever was given, as one to four garments.

    Raises:
        ValueError: None, or more than four.
        TypeError: Hints for several garments, where nobody knows which one they are for.
    """
    if isinstance(garments, Sequence) and not isinstance(garments, str | bytes | bytearray | memoryview):
        if hints:
            raise TypeError(f"with several garments, give {', '.join(hints)} to each Garment")
        if not 1 <= len(garments) <= MAX_GARMENTS:
            raise ValueError(f"a look has 1 to {MAX_GARMENTS} garments, not {len(garments)}")
        return [item if isinstance(item, Garment) else Garment(item) for item in garments]
    if isinstance(garments, Garment):
        return [replace(garments, **hints)]
    return [Garment(garments, **hints)]


def wire_fields(values: Mapping[str, object], name: str) -> dict[str, str | None]:
    """Fields under the names that the wire has for them, pictures as ``data:`` URIs or addresses.

    Raises:
        ValueError: A picture cannot be used.
        TypeError: There is no such field.
        OSError: A picture's file cannot be read.
    """
    fields: dict[str, str | None] = {}
    for key, value in values.items():
        if key not in WIRE_NAMES:
            raise TypeError(f"there is no field {key}")
        if key in PICTURES and value is not None:
            picture: Picture = value  # type: ignore[assignment]  # judged there, whatever it is
            fields[WIRE_NAMES[key]] = as_inline_or_address(picture, f"{name}: {key}")
        else:
            fields[WIRE_NAMES[key]] = value if value is None else str(value)
    return fields
