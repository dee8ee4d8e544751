"""From a form's fields to what a product shall be, judged by the models of the API. Nothing here waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from api.dashboard.forms import PRODUCT_HINTS, Form, Upload
from api.json_body import PictureReader
from api.products.schemas import CreateProduct, ProductBody, UpdateProduct
from api.products.service import BACK, FRONT, ReadProduct, read_product
from domain.errors import TryOnError
from domain.tables import Product
from imaging.limits import ImageLimits
from intake.complaints import complaints_of, field_name
from intake.job import Picture

TEXTS = ("name", "externalId", "category", *PRODUCT_HINTS)
FIELDS = (*TEXTS, FRONT, BACK)
FILES = {FRONT: "frontFile", BACK: "backFile"}
REMOVE_BACK = "removeBack"
WHOLE = ""
"""The name under which stands what is wrong with the product as a whole."""

NEEDED = {"name": "Enter a name.", "category": "Choose the part of the body.", FRONT: "Choose a file or enter a link."}
"""What is said where a field is empty that nothing goes without."""

_UPLOADED = "a file that came along"


class FormRefused(Exception):
    """Fields that are not right.

    Attributes:
        errors: A sentence for each, by the field's name.
    """

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        super().__init__("a form was refused")


class UploadReader(PictureReader):
    """Takes pictures from a form's files, and from addresses where there is no file."""

    def __init__(self, limits: ImageLimits, uploads: Mapping[str, Upload]) -> None:
        super().__init__(limits)
        self._longest = limits.max_bytes
        self._uploads = uploads

    def picture(self, field: str, value: str | None) -> Picture | str | None:
        """As the base class; too large a file is refused further on, like an inline picture that is too large."""
        if field not in self._uploads:
            return super().picture(field, value)
        data = self._uploads[field].data
        return Picture(field, data if len(data) <= self._longest else None)


def values_of(product: Product | None, sent: Form | None) -> dict[str, str]:
    """What a form shows: again what was sent and not right, or else what the product is."""
    if sent is not None:
        return {name: sent.text(name) for name in FIELDS}
    body = {} if product is None else ProductBody.of(product).model_dump(mode="json")
    return {name: body.get(name) or "" for name in FIELDS}


def read_sent(form: Form, limits: ImageLimits, *, changes: bool) -> ReadProduct:
    """Judge a form.

    Args:
        form: As it came.
        limits: What its pictures have to meet.
        changes: Whether the product is there already: what is empty becomes empty then, but pictures stay as they are.

    Raises:
        FormRefused: Some fields are not right.
        TryOnError: An address is not one that is dialled.
    """
    uploads = {field: upload for field, name in FILES.items() if (upload := form.file(name)) is not None}
    if both := [field for field in uploads if form.text(field)]:
        raise FormRefused(dict.fromkeys(both, "Choose a file or enter a link, not both."))
    values = {name: _UPLOADED if name in uploads else form.text(name) or None for name in FIELDS}
    if changes and (empty := {name: NEEDED[name] for name in ("name", "category") if values[name] is None}):
        raise FormRefused(empty)
    stays = {FRONT} if form.text(REMOVE_BACK) else {FRONT, BACK}
    said = {name: value for name, value in values.items() if value is not None or (changes and name not in stays)}
    try:
        product = UpdateProduct.model_validate(said) if changes else CreateProduct.model_validate(said)
    except ValidationError as error:
        raise FormRefused(_sentences(error.errors(include_url=False, include_input=False))) from None
    return read_product(product, UploadReader(limits, uploads))


def placed(error: TryOnError) -> dict[str, str]:
    """A refusal of the API, each sentence beside the field that it is about."""
    if error.fields and error.fields.keys() <= set(FIELDS):
        return {name: f"{said[:1].upper()}{said[1:]}" for name, said in error.fields.items()}
    return {WHOLE: error.sentence}


def _sentences(errors: Sequence[Any]) -> dict[str, str]:
    missing = {field_name(error["loc"]) for error in errors if error["type"] == "missing"}
    return {
        name: NEEDED[name] if name in missing else f"{said[:1].upper()}{said[1:]}"
        for name, said in complaints_of(errors).items()
    }
