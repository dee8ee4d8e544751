"""From a request's bytes to what a product shall be. Runs in a thread: nothing here waits."""

from __future__ import annotations

from dataclasses import dataclass

from api.json_body import ignored_fields, parse_body
from api.pictures import PictureReader
from api.products.schemas import CreateProduct, OptionalFields, UpdateProduct
from domain.errors import TryOnError
from imaging.limits import ImageLimits
from intake.pictures import Picture
from workflows.products.contracts import Clearable, ProductFields

FRONT, BACK = "garmentImageUrl", "garmentBackImageUrl"

CLEARABLE: dict[Clearable, str] = {
    "external_id": "external_id",
    "garment_category": "garment_category",
    "garment_state": "garment_state",
    "tuck_state": "tuck_state",
    "size": "size",
    "back": "garment_back_image_url",
}
"""What a product need not have, and the field of the request that sets it."""

NEEDED = {"name": "name", "category": "category", "garment_image_url": FRONT, "status": "status"}
"""Fields that a change may leave out and not empty, and their names on the wire."""


@dataclass(frozen=True)
class ReadProduct:
    """A request whose fields are right; its pictures have not been looked at yet.

    Attributes:
        fields: What is to be set.
        clear: What is to be emptied.
        front: An inline picture, or the address of one; nothing if it stays as it is. Likewise ``back``.
    """

    fields: ProductFields
    clear: list[Clearable]
    front: Picture | str | None
    back: Picture | str | None
    ignored_fields: list[str]

    @property
    def pictures(self) -> list[Picture]:
        """Every inline picture."""
        return [side for side in (self.front, self.back) if isinstance(side, Picture)]


def read_creation(body: bytes, limits: ImageLimits) -> ReadProduct:
    """Parse and judge the description of a whole product; what it leaves out is empty.

    Raises:
        TryOnError: ``json_invalid``, ``field_invalid``, ``malformed_data_uri``, ``garment_url_refused``.
    """
    product, inline = parse_body(body, CreateProduct)
    return read_product(product, PictureReader(limits, inline))


def read_product(product: CreateProduct, reader: PictureReader) -> ReadProduct:
    """Judge the pictures of a description whose fields are right on their own.

    Raises:
        TryOnError: ``malformed_data_uri``, ``garment_url_refused``.
    """
    return _read(product, reader, [column for column, field in CLEARABLE.items() if getattr(product, field) is None])


def read_change(body: bytes, limits: ImageLimits) -> ReadProduct:
    """Parse and judge a change; what it leaves out stays as it is, and null empties a field.

    Raises:
        TryOnError: As `read_creation`.
    """
    change, inline = parse_body(body, UpdateProduct)
    return read_update(change, PictureReader(limits, inline))


def read_update(change: UpdateProduct, reader: PictureReader) -> ReadProduct:
    """Judge the rest of a change whose fields are right on their own.

    Raises:
        TryOnError: ``field_invalid`` for null where it cannot be; ``malformed_data_uri``, ``garment_url_refused``.
    """
    sent = change.model_fields_set - (change.model_extra or {}).keys()
    nulls = {name for name in sent if getattr(change, name) is None}
    if wrong := {wire_name: "cannot be null." for name, wire_name in NEEDED.items() if name in nulls}:
        raise TryOnError("field_invalid", fields=wrong)
    return _read(change, reader, [column for column, field in CLEARABLE.items() if field in nulls])


def _read(product: OptionalFields, reader: PictureReader, clear: list[Clearable]) -> ReadProduct:
    # Unknown fields of the request are attributes too, and must not pass for known ones.
    known = ProductFields.model_fields.keys() & type(product).model_fields.keys()
    pictures = reader.pictures(
        {FRONT: getattr(product, "garment_image_url", None), BACK: product.garment_back_image_url}
    )
    return ReadProduct(
        fields=ProductFields.model_validate({name: getattr(product, name) for name in known}),
        clear=clear,
        front=pictures[FRONT],
        back=pictures[BACK],
        ignored_fields=ignored_fields(product),
    )
