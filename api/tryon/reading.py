"""From a request's bytes to pictures and hints that are known to be good. Runs in a thread: nothing here waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, cast

from api.json_body import ignored_fields, parse_body
from api.pictures import PictureReader
from api.tryon.schemas import ComboRequest, GarmentFields, SingleRequest
from imaging.limits import ImageLimits
from intake.garments import SentGarment, hints_of
from intake.pictures import Picture

__all__ = ["GarmentPictures", "Picture", "ReadRequest", "TryOnRequest", "read_request"]

TryOnRequest: TypeAlias = SingleRequest | ComboRequest
PERSON, FRONT, BACK = "customerPhotoBase64", "garmentImageUrl", "garmentBackImageUrl"


@dataclass(frozen=True)
class GarmentPictures:
    """Where a garment's pictures are: inline, or at an address.

    Attributes:
        prefix: What stands before the names of its fields in error messages.
    """

    fields: GarmentFields
    front: Picture | str | None
    back: Picture | str | None
    prefix: str = ""

    @property
    def sent(self) -> SentGarment:
        """What is known of it before its product is looked up."""
        fields = self.fields
        return SentGarment(fields.product_id, fields.category, hints_of(fields), self.front, self.back, self.prefix)


@dataclass(frozen=True)
class ReadRequest:
    """A request whose fields are right; its pictures have not been looked at yet."""

    person: Picture
    garments: list[GarmentPictures]
    ignored_fields: list[str]

    @property
    def pictures(self) -> list[Picture]:
        """Every inline picture, in the order of the request."""
        sides = [side for garment in self.garments for side in (garment.front, garment.back)]
        return [self.person, *(side for side in sides if isinstance(side, Picture))]


def read_request(body: bytes, model: type[TryOnRequest], limits: ImageLimits) -> ReadRequest:
    """Parse and judge every field.

    Raises:
        TryOnError: ``json_invalid``, ``field_invalid``, ``malformed_data_uri``, ``garment_url_refused``.
    """
    request, inline = parse_body(body, model)
    values: dict[str, str | None] = {PERSON: request.customer_photo_base64}
    for prefix, garment in request.items:
        values |= {f"{prefix}{FRONT}": garment.garment_image_url, f"{prefix}{BACK}": garment.garment_back_image_url}
    found = PictureReader(limits, inline).pictures(values)
    garments = [
        GarmentPictures(garment, found[f"{prefix}{FRONT}"], found[f"{prefix}{BACK}"], prefix)
        for prefix, garment in request.items
    ]
    ignored = ignored_fields(request) if isinstance(request, ComboRequest) else []
    ignored += [name for prefix, garment in request.items for name in ignored_fields(garment, prefix)]
    return ReadRequest(cast("Picture", found[PERSON]), garments, ignored)
