"""The hints, and which of them products carry: what callers may say of a garment besides its picture and its category.

They are declared here and nowhere else. Requests, items of backfills, products, what crosses Temporal, and what engines
are given inherit these fields; pages and reports go by their names.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, Field

CategoryName: TypeAlias = Literal["upper_body", "lower_body", "full_body"]
"""The values of `engines.garment_kinds.Category`, as callers write them."""

# Such texts are never refused, and PostgreSQL neither keeps a null character nor reads JSON that holds one.
WithoutNull = AfterValidator(lambda text: text.replace("\0", "\N{REPLACEMENT CHARACTER}"))
KindText = Annotated[str, Field(max_length=64), WithoutNull]
SizeText = Annotated[str, Field(min_length=1, max_length=32), WithoutNull]


class ProductHints(BaseModel):
    """What is true of a garment whoever wears it, so that a product may carry it."""

    garment_category: KindText | None = Field(None, description="Free text such as t-shirt or jeans; improves the fit.")
    size: SizeText | None = Field(None, description="Size of the garment, e.g. M, 38 or W32/L34.")
    garment_state: Literal["open", "closed"] | None = Field(None, description="For jackets, shirts, waistcoats.")
    tuck_state: Literal["tucked", "untucked"] | None = None


class GarmentHints(ProductHints):
    """Every hint; those of a product, and what is said of one try-on alone."""

    customer_size: SizeText | None = Field(None, description="Size that the customer wears, in the same system.")
    view_angle: Literal["front", "left", "right", "back"] | None = Field(None, description="front when not given.")


HINT_NAMES = ("kind", *(name for name in GarmentHints.model_fields if name != "garment_category"), "back_picture")
"""Names of hints on a job's report: the kind is what the service makes of the caller's words; the back picture is one
of them, since it may be of no use."""
