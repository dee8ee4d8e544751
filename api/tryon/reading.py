"""From a request's bytes to pictures and hints that are known to be good. Runs in a thread: nothing here waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pydantic import ValidationError

from api.tryon.schemas import ComboRequest, GarmentFields, SingleRequest, WireModel
from domain.errors import TryOnError
from imaging.data_uri import decode_data_uri, is_data_uri
from imaging.errors import ImageError, ImageErrorCode
from imaging.inspect import ImageFacts, inspect_image
from imaging.limits import ImageLimits
from imaging.remote_url import check_remote_url

TryOnRequest: TypeAlias = SingleRequest | ComboRequest


@dataclass(frozen=True)
class Picture:
    """An inline picture.

    Attributes:
        field: What the request calls it, for error messages.
        data: Its bytes, or ``None`` where they are more than a picture may have.
    """

    field: str
    data: bytes | None


@dataclass(frozen=True)
class GarmentPictures:
    """Where a garment's pictures are: inline, or at an address."""

    fields: GarmentFields
    front: Picture | str | None
    back: Picture | str | None


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
    try:
        request = model.model_validate_json(body)
    except ValidationError as error:
        raise _refusal(error) from None
    if not is_data_uri(request.customer_photo_base64):
        raise TryOnError(
            "malformed_data_uri", "customerPhotoBase64 must be a data: URI; the photo is always sent directly."
        )
    person = _inline("customerPhotoBase64", request.customer_photo_base64, limits)
    garments = [_read_garment(prefix, garment, limits) for prefix, garment in request.items]
    ignored = _ignored(request, "") if isinstance(request, ComboRequest) else []
    ignored += [name for prefix, garment in request.items for name in _ignored(garment, prefix)]
    return ReadRequest(person, garments, ignored)


def inspect_pictures(request: ReadRequest, limits: ImageLimits) -> dict[str, ImageFacts]:
    """Look into every inline picture.

    Returns:
        What each picture is, by the name of its field.

    Raises:
        TryOnError: One of the ``image_…`` codes, for the first picture that has to be refused.
    """
    facts = {}
    for picture in request.pictures:
        try:
            if picture.data is None:
                raise ImageError(ImageErrorCode.TOO_LARGE, "judged by its length")
            facts[picture.field] = inspect_image(picture.data, limits)
        except ImageError as error:
            raise _naming(picture.field, error) from None
    return facts


def _read_garment(prefix: str, garment: GarmentFields, limits: ImageLimits) -> GarmentPictures:
    if garment.product_id is None:
        for name, value in (("garmentImageUrl", garment.garment_image_url), ("category", garment.category)):
            if value is None:
                raise TryOnError("field_invalid", f"{prefix}{name} is required unless productId is given.")
    return GarmentPictures(
        garment,
        _picture_or_url(f"{prefix}garmentImageUrl", garment.garment_image_url, limits),
        _picture_or_url(f"{prefix}garmentBackImageUrl", garment.garment_back_image_url, limits),
    )


def _picture_or_url(field: str, value: str | None, limits: ImageLimits) -> Picture | str | None:
    if value is None:
        return None
    if is_data_uri(value):
        return _inline(field, value, limits)
    try:
        return check_remote_url(value)
    except ImageError as error:
        raise _naming(field, error) from None


def _inline(field: str, value: str, limits: ImageLimits) -> Picture:
    try:
        return Picture(field, decode_data_uri(value, limits))
    except ImageError as error:
        if error.code == "image_too_large":
            return Picture(field, None)  # refused further on, after what is cheaper to refuse
        raise _naming(field, error) from None


def _naming(field: str, error: ImageError) -> TryOnError:
    return TryOnError(error.code, f"{field}: {TryOnError(error.code).sentence}")


def _refusal(error: ValidationError) -> TryOnError:
    """The first complaint in words; values are never repeated, they may be pictures."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return TryOnError("json_invalid")
    field = ""
    for part in first["loc"]:
        field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else part
    return TryOnError("field_invalid", f"{field or 'The request body'}: {first['msg']}.")


def _ignored(model: WireModel, prefix: str) -> list[str]:
    return [prefix + name for name in model.model_extra or {}]
