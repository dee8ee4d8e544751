"""What travels over the wire, field by field as the contract names it."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.config import JsonDict

from api.json_body import WireModel
from api.openapi.pictures import INLINE, INLINE_OR_REMOTE

SizeText = Annotated[str, Field(min_length=1, max_length=32)]
GarmentCategoryText = Annotated[str, Field(max_length=64)]
Category = Literal["upper_body", "lower_body", "full_body"]
GarmentState = Literal["open", "closed"]
TuckState = Literal["tucked", "untucked"]
InlinePicture = Annotated[str, WithJsonSchema(INLINE)]
AnyPicture = Annotated[str, WithJsonSchema(INLINE_OR_REMOTE)]
JobId = Annotated[str, Path(description="From the answer that started the job.", json_schema_extra={"format": "uuid"})]
"""Not a UUID to FastAPI: what is malformed is as unknown as any other job."""

GIVEN: JsonDict = {"type": "string"}
REGISTERED_OR_DESCRIBED: JsonDict = {
    "anyOf": [
        {"required": ["productId"], "properties": {"productId": GIVEN}},
        {"required": ["garmentImageUrl", "category"], "properties": {"garmentImageUrl": GIVEN, "category": GIVEN}},
    ]
}
"""What `api.tryon.reading` asks of a garment; null counts as not sent."""


class GarmentFields(WireModel):
    """One garment."""

    model_config = ConfigDict(json_schema_extra=REGISTERED_OR_DESCRIBED)

    product_id: str | None = Field(
        None, description="A registered garment, by its id or by your externalId; replaces the three fields below."
    )
    garment_image_url: AnyPicture | None = Field(
        None, description="https:// address or data: URI of the product photo. Required without productId."
    )
    garment_back_image_url: AnyPicture | None = Field(
        None, description="Photo of the back, used when viewAngle is back: https:// address or data: URI."
    )
    category: Category | None = Field(None, description="Required without productId.")
    garment_category: GarmentCategoryText | None = Field(
        None, description="Free text such as t-shirt or jeans; improves the fit."
    )
    size: SizeText | None = Field(None, description="Size of the garment, e.g. M, 38 or W32/L34.")
    customer_size: SizeText | None = Field(None, description="Size that the customer wears, in the same system.")
    garment_state: GarmentState | None = Field(None, description="For jackets, shirts, waistcoats.")
    tuck_state: TuckState | None = None
    view_angle: Literal["front", "left", "right", "back"] | None = Field(None, description="front when not given.")


class SingleRequest(GarmentFields):
    """Body of ``POST /api/v1/tryon``."""

    customer_photo_base64: InlinePicture = Field(description="data: URI of a JPEG, PNG or WebP, at most 8 MB.")

    @property
    def items(self) -> list[tuple[str, GarmentFields]]:
        """Every garment with what its fields are called in error messages."""
        return [("", self)]


class ComboRequest(WireModel):
    """Body of ``POST /api/v1/tryon/combo``."""

    customer_photo_base64: InlinePicture = Field(description="data: URI of a JPEG, PNG or WebP, at most 8 MB.")
    garments: Annotated[list[GarmentFields], Field(min_length=2, max_length=4)]

    @property
    def items(self) -> list[tuple[str, GarmentFields]]:
        """Every garment with what its fields are called in error messages."""
        return [(f"garments[{index}].", garment) for index, garment in enumerate(self.garments)]


class Answer(BaseModel):
    """These fields and no others."""

    model_config = ConfigDict(extra="forbid")


class Accepted(Answer):
    """The job was accepted; poll it."""

    jobId: UUID  # noqa: N815  # the contract's own spelling
    status: Literal["processing"]


class StillProcessing(Answer):
    """The picture is being made."""

    status: Literal["processing"]


class Completed(Answer):
    """The picture."""

    status: Literal["completed"]
    resultImageBase64: str = Field(  # noqa: N815  # likewise
        description="A data: URI, data:image/jpeg;base64,…", pattern="^data:image/jpeg;base64,"
    )
    generationTimeMs: float = Field(  # noqa: N815  # likewise
        description="From acceptance to completion, in milliseconds.", ge=0
    )


class Failed(Answer):
    """There will be no picture; nothing was billed."""

    status: Literal["failed"]
    error: str = Field(description="A sentence that is safe to show to an end user.", min_length=1)


Poll = Annotated[StillProcessing | Completed | Failed, Field(discriminator="status")]
