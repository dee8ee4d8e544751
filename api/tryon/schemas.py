"""What travels over the wire, field by field as the contract names it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import PydanticCustomError

from api.json_body import Answer, WireModel
from domain.errors import sentence_of
from engines.hints import CategoryName, GarmentHints
from imaging.data_uri import is_data_uri
from workflows.contracts import MAX_GARMENTS, Finding

MIN_COMBO = 2
"""Garments of a combo at least; one belongs on the other route."""


def _is_inline(value: str) -> str:
    if not is_data_uri(value):
        raise PydanticCustomError("malformed_data_uri", "must be a data: URI; the photo is always sent directly")
    return value


def _two_to_four(garments: object) -> object:
    if isinstance(garments, list) and not MIN_COMBO <= len(garments) <= MAX_GARMENTS:
        raise PydanticCustomError("garment_count", "send two to four; for one garment use POST /api/v1/tryon")
    return garments


INLINE = {"type": "string", "format": "picture-data-uri"}
REMOTE = {"type": "string", "format": "public-https-url"}
"""A schema cannot say that a text is a picture of some size, nor that a host is a public one; a pattern would only say
less than the names of the formats and the descriptions of the fields."""

InlinePicture = Annotated[str, AfterValidator(_is_inline), WithJsonSchema(INLINE)]
PHOTO = "data: URI of a JPEG, PNG or WebP, at most {photo.size}."
AnyPicture = Annotated[str, WithJsonSchema({"anyOf": [REMOTE, INLINE]})]
JobId = Annotated[str, Path(description="From the answer that started the job.", json_schema_extra={"format": "uuid"})]
"""Not a UUID to FastAPI: what is malformed is as unknown as any other job."""


class WhichGarment(WireModel):
    """A product, or a picture with its category."""

    product_id: str | None = Field(
        None,
        description="A registered garment, by its id or by your externalId; what is given beside it replaces that one "
        "field of the product.",
    )
    garment_image_url: AnyPicture | None = Field(
        None,
        description="https:// address or data: URI of the product photo. Required without productId.",
        validate_default=True,
    )
    garment_back_image_url: AnyPicture | None = Field(
        None, description="Photo of the back, used when viewAngle is back: https:// address or data: URI."
    )
    category: CategoryName | None = Field(None, description="Required without productId.", validate_default=True)

    @field_validator("garment_image_url", "category")
    @classmethod
    def _required_without_product(cls, value: str | None, info: ValidationInfo) -> str | None:
        # A productId that is wrong itself is not among the data.
        if value is None and info.data.get("product_id", "") is None:
            raise PydanticCustomError("required_without_product", "required unless productId is given")
        return value


class GarmentFields(GarmentHints, WhichGarment):
    """One garment: a product, or a picture with its category."""


MOST_METADATA, LONGEST_METADATA = 16, 500

METADATA_RULE = (
    f"at most {MOST_METADATA} names of 1 to 40 letters, digits, dots, dashes and underscores, "
    f"each with a text of up to {LONGEST_METADATA}"
)

METADATA_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")


def _small(metadata: dict[str, str]) -> dict[str, str]:
    good = all(
        METADATA_NAME.fullmatch(name) and len(text) <= LONGEST_METADATA and "\0" not in text
        for name, text in metadata.items()
    )
    if len(metadata) > MOST_METADATA or not good:
        raise PydanticCustomError("metadata", f"must be {METADATA_RULE} characters")
    return metadata


Metadata = Annotated[
    dict[str, str],
    AfterValidator(_small),
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": MOST_METADATA,
            "propertyNames": {"pattern": f"^{METADATA_NAME.pattern}$"},
            "additionalProperties": {"type": "string", "maxLength": LONGEST_METADATA, "pattern": "^[^\\u0000]*$"},
        }
    ),
]


class CallersOwn(WireModel):
    """What the service keeps with a job for its caller, and does not read."""

    metadata: Metadata | None = Field(
        None,
        description=f"What you want to find the job by, such as your order's number: {METADATA_RULE} characters. "
        "Lists show it; it is erased with the job.",
    )


class SingleRequest(GarmentFields, CallersOwn):
    """Body of ``POST /api/v1/tryon``."""

    customer_photo_base64: InlinePicture = Field(description=PHOTO)

    @property
    def items(self) -> list[tuple[str, GarmentFields]]:
        """Every garment with what its fields are called in error messages."""
        return [("", self)]


class ComboRequest(CallersOwn):
    """Body of ``POST /api/v1/tryon/combo``."""

    customer_photo_base64: InlinePicture = Field(description=PHOTO)
    garments: Annotated[
        list[GarmentFields],
        Field(json_schema_extra={"minItems": MIN_COMBO, "maxItems": MAX_GARMENTS}),
        BeforeValidator(_two_to_four),
    ]

    @property
    def items(self) -> list[tuple[str, GarmentFields]]:
        """Every garment with what its fields are called in error messages."""
        return [(f"garments[{index}].", garment) for index, garment in enumerate(self.garments)]


SHORTEST_LINK, USUAL_LINK, LONGEST_LINK = 60, 900, 3600
"""Seconds that a link to a picture works."""


class LinkRequest(WireModel):
    """Body of ``POST /api/v1/tryon/{jobId}/picture/link``, which may be left out."""

    seconds: int = Field(USUAL_LINK, ge=SHORTEST_LINK, le=LONGEST_LINK, description="For how long it works.")


class Accepted(Answer):
    """The job was accepted; poll it."""

    job_id: UUID
    status: Literal["processing"]


class StillProcessing(Answer):
    """The picture is being made."""

    status: Literal["processing"]


class Completed(Answer):
    """The picture."""

    status: Literal["completed"]
    result_image_base64: str = Field(
        alias="resultImageBase64",
        description="A data: URI, data:image/jpeg;base64,…",
        pattern="^data:image/jpeg;base64,",
    )
    generation_time_ms: float = Field(description="From acceptance to completion, in milliseconds.", ge=0)


class Failed(Answer):
    """There will be no picture; nothing was billed."""

    status: Literal["failed"]
    error: str = Field(description="A sentence that is safe to show to an end user.", min_length=1)


Poll = Annotated[StillProcessing | Completed | Failed, Field(discriminator="status")]


class FoundInPicture(Answer):
    """Something that a picture shows."""

    code: str = Field(
        description="Of a problem, the code with which a job would fail; of advice, one of its own.",
        pattern="^[a-z_]+$",
    )
    severity: Literal["problem", "advice"] = Field(
        description="With a problem there would be no picture; advice is what would make a better one."
    )
    message: str = Field(description="A sentence that is safe to show to an end user.", min_length=1)

    @classmethod
    def of(cls, finding: Finding) -> FoundInPicture:
        """In words."""
        advice = finding.severity == "advice" and finding.advice
        return cls(
            code=finding.code, severity=finding.severity, message=advice or sentence_of(finding.code, finding.advice)
        )


class PictureVerdict(Answer):
    """What is said of the photo, or of a garment with all its pictures."""

    ok: bool = Field(description="Whether there is no problem.")
    findings: list[FoundInPicture] = Field(description="Problems first. Empty where there is nothing to change.")

    @classmethod
    def of(cls, findings: Sequence[Finding], garment: int | None) -> PictureVerdict:
        """What was found of this garment, or of the photo."""
        own = [each for each in findings if each.garment == garment]
        own.sort(key=lambda each: each.severity == "advice")
        ok = not own or own[0].severity == "advice"
        return cls(ok=ok, findings=[FoundInPicture.of(each) for each in own])


class Verdict(Answer):
    """What the pictures of a try-on show."""

    ok: bool = Field(description="Whether nothing that was looked at keeps a try-on from completing.")
    photo: PictureVerdict
    garments: list[PictureVerdict] = Field(
        description="In the order of the request.", min_length=1, max_length=MAX_GARMENTS
    )

    @classmethod
    def of(cls, findings: Sequence[Finding], garments: int) -> Verdict:
        """What was found, of so many garments."""
        photo, *others = (PictureVerdict.of(findings, garment) for garment in (None, *range(garments)))
        return cls(ok=all(each.ok for each in (photo, *others)), photo=photo, garments=others)
