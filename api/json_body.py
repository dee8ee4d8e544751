"""Request bodies: JSON of a known model, or a refusal that names the field. Nothing here waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from api.inline_pictures import InlinePictures, take_pictures_out
from domain.errors import CATALOGUE, TryOnError
from intake.complaints import complaints_of

IGNORED_FIELDS = "X-Ignored-Fields"
"""Header that names the fields of the request that mean nothing to the service."""

MOST_VALUES = 1000
"""Commas and opening brackets in a body less its pictures; the largest request has some sixty."""

LONGEST_HEADER = 1000
"""Characters of a header that repeats what the caller sent."""


class WireModel(BaseModel):
    """camelCase on the wire; unknown fields are kept aside so that the answer can name them."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=False, validate_by_alias=True, extra="allow")


Model = TypeVar("Model", bound=WireModel)


def check_media_type(headers: Mapping[str, str]) -> None:
    """Refuse a body that does not say that it is JSON.

    Raises:
        TryOnError: ``content_type_not_json``.
    """
    media_type = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise TryOnError("content_type_not_json")


def parse_body(body: bytes, model: type[Model]) -> tuple[Model, InlinePictures]:
    """Judge every field on its own.

    Returns:
        The fields, and what stands behind those that are stand-ins for large pictures.

    Raises:
        TryOnError: ``json_invalid`` or ``field_invalid``.
    """
    text, pictures = take_pictures_out(body)
    # Parsing stops everybody else in the process, so what no request needs is refused before.
    if sum(text.count(mark) for mark in (b",", b"{", b"[")) > MOST_VALUES:
        raise TryOnError("json_invalid", "The request body holds more values than any request needs.")
    try:
        return model.model_validate_json(text), pictures
    except ValidationError as error:
        raise refusal(error.errors(include_url=False, include_input=False)) from None


def refusal(errors: Sequence[Mapping[str, Any]]) -> TryOnError:
    """Everything that pydantic found, as one refusal that names each field.

    A validator of ours may raise a `PydanticCustomError` whose type is a code of the catalogue.
    """
    kinds = {error["type"] for error in errors}
    if "json_invalid" in kinds:
        return TryOnError("json_invalid")
    code = kinds.pop() if len(kinds) == 1 else ""
    return TryOnError(code if code in CATALOGUE else "field_invalid", fields=complaints_of(errors))


def ignored_fields(model: WireModel, prefix: str = "") -> list[str]:
    """Names of the fields that mean nothing to the service."""
    return [prefix + name for name in model.model_extra or {}]


def header_list(names: Sequence[str], longest: int = LONGEST_HEADER) -> str:
    """Names as one header value: printable ASCII only, and not without end."""
    text = ", ".join(name[:longest] for name in names[:longest])[:longest].encode("ascii", "replace").decode()
    return "".join(letter if letter.isprintable() else "?" for letter in text)[:longest]


def ignored_header(names: Sequence[str]) -> dict[str, str]:
    """The header that names ignored fields; none if there are none."""
    return {IGNORED_FIELDS: header_list(names)} if names else {}
