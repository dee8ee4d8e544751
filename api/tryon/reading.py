"""From a request's bytes to pictures and hints that are known to be good. Runs in a thread: nothing here waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from api.json_body import ignored_fields, parse_body
from api.pictures import PictureReader
from api.tryon.schemas import ComboRequest, GarmentFields, SingleRequest
from domain.errors import TryOnError
from imaging.data_uri import is_data_uri
from imaging.inspect import ImageFacts
from imaging.limits import ImageLimits
from intake import pictures
from intake.garments import SentGarment, hints_of
from intake.pictures import Picture

__all__ = ["GarmentPictures", "Picture", "ReadRequest", "TryOnRequest", "inspect_pictures", "read_request"]

TryOnRequest: TypeAlias = SingleRequest | ComboRequest


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
    reader = PictureReader(limits, inline)
    if not is_data_uri(request.customer_photo_base64):
        raise TryOnError(
            "malformed_data_uri", "customerPhotoBase64 must be a data: URI; the photo is always sent directly."
        )
    person = reader.inline("customerPhotoBase64", request.customer_photo_base64)
    garments = [_read_garment(prefix, garment, reader) for prefix, garment in request.items]
    ignored = ignored_fields(request) if isinstance(request, ComboRequest) else []
    ignored += [name for prefix, garment in request.items for name in ignored_fields(garment, prefix)]
    return ReadRequest(person, garments, ignored)


def inspect_pictures(request: ReadRequest, limits: ImageLimits) -> dict[str, ImageFacts]:
    """Look into every inline picture; see `intake.pictures.inspect_pictures`."""
    return pictures.inspect_pictures(request.pictures, limits)


def _read_garment(prefix: str, garment: GarmentFields, reader: PictureReader) -> GarmentPictures:
    if garment.product_id is None:
        for name, value in (("garmentImageUrl", garment.garment_image_url), ("category", garment.category)):
            if value is None:
                raise TryOnError("field_invalid", f"{prefix}{name} is required unless productId is given.")
    return GarmentPictures(
        garment,
        reader.picture(f"{prefix}garmentImageUrl", garment.garment_image_url),
        reader.picture(f"{prefix}garmentBackImageUrl", garment.garment_back_image_url),
        prefix,
    )
