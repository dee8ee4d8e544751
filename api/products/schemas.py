"""What travels over the wire for products."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Literal, Self

from fastapi import Path, Query
from pydantic import AfterValidator, Field

from api.json_body import Answer, MayBeLeftOut, WireModel
from api.tryon.schemas import AnyPicture
from domain.products import ID_PREFIX, LONGEST_EXTERNAL_ID, RESERVED_PREFIXES, is_reserved, public_id
from domain.tables import Product
from engines.hints import CategoryName, ProductHints

Status = Literal["active", "archived"]
PUBLIC_ID_PATTERN = f"^{ID_PREFIX}[0-9a-f]{{32}}$"


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("a null character cannot be stored")
    return text


def _not_reserved(external_id: str) -> str:
    if is_reserved(external_id):
        raise ValueError(f"names that begin with {' or '.join(RESERVED_PREFIXES)} are reserved")
    return external_id


Storable = AfterValidator(_storable)
"""PostgreSQL keeps any text but one with a null character."""

NO_NULL = {"pattern": "^[^\\u0000]*$"}
"""What `Storable` asks for, as JSON Schema."""

_ANY_CASE = [
    re.sub("[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", prefix) for prefix in RESERVED_PREFIXES
]
NOT_RESERVED = {"pattern": f"^(?!{'|'.join(_ANY_CASE)})[^\\u0000]*$"}

ExternalId = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST_EXTERNAL_ID, json_schema_extra=NOT_RESERVED),
    Storable,
    AfterValidator(_not_reserved),
]
Name = Annotated[str, Field(min_length=1, max_length=200, json_schema_extra=NO_NULL), Storable]
ProductId = Annotated[
    str, Path(description="From the service, not your externalId.", json_schema_extra={"pattern": PUBLIC_ID_PATTERN})
]
"""No pattern to FastAPI: what is malformed is as unknown as any other product."""

Cursor = Annotated[
    MayBeLeftOut[str],
    Query(max_length=200, description="nextCursor of the page before.", json_schema_extra={"format": "product-cursor"}),
]


class OwnFields(WireModel):
    """What a product need not have, and no try-on says of a garment."""

    external_id: ExternalId | None = Field(
        None, description="Your own name for it, such as a SKU; unique in your account. Not prod_… or test_…."
    )
    garment_back_image_url: AnyPicture | None = Field(
        None, description="Photo of the back, used when viewAngle is back: https:// address or data: URI."
    )


class CreateProduct(ProductHints, OwnFields):
    """Body of ``POST /api/v1/products``: the whole product."""

    name: Name = Field(description="For people.")
    category: CategoryName = Field(description="What it covers.")
    garment_image_url: AnyPicture = Field(description="https:// address or data: URI of the product photo.")


class UpdateProduct(ProductHints, OwnFields):
    """Body of ``PATCH /api/v1/products/{productId}``: what is to change; null empties a field."""

    name: MayBeLeftOut[Name] = Field(None, description="For people. Cannot be null.")
    category: MayBeLeftOut[CategoryName] = Field(None, description="Cannot be null.")
    garment_image_url: MayBeLeftOut[AnyPicture] = Field(
        None, description="https:// address or data: URI of the product photo. Cannot be null."
    )
    status: MayBeLeftOut[Status] = Field(None, description="An archived product cannot be tried on. Cannot be null.")


class ProductBody(Answer):
    """A registered garment; null for what is not set."""

    id: str = Field(description="What productId takes.", pattern=PUBLIC_ID_PATTERN)
    external_id: str | None
    name: str
    category: CategoryName
    garment_category: str | None
    garment_state: Literal["open", "closed"] | None
    tuck_state: Literal["tucked", "untucked"] | None
    size: str | None
    has_back_image: bool
    status: Status
    revision: int = Field(description="Counts up with every change.")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, product: Product) -> Self:
        """From its row."""
        columns = {name: getattr(product, name) for name in cls.model_fields if hasattr(product, name)}
        own = {"id": public_id(product.id), "has_back_image": product.back is not None}
        return cls.model_validate({**columns, **own})


class ProductList(Answer):
    """One page of products, newest first."""

    products: list[ProductBody]
    next_cursor: str | None = Field(description="For the next page; null on the last one.")
