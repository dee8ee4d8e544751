"""Request bodies: JSON of a known model with its pictures, or a refusal that names the field. Nothing here waits.

A picture is inline as a data: URI, or at an address that only a worker will dial. A parser makes text of every string
in one go, and nothing else runs in the process meanwhile: with 90 MB of pictures that would hold up every other request
for a tenth of a second and more. So a large inline picture stays where it is in the body, and the parser sees a short
stand-in. Taking it out judges nothing: it is plain text between two quotes, and stays as well-formed, or as malformed,
as it was.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from domain.errors import CATALOGUE, TryOnError
from imaging.data_uri import decode_data_uri, is_data_uri
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from imaging.remote_url import check_remote_url
from intake.complaints import complaints_of
from intake.job import Picture, naming

WORTH_BYTES = 64 * 1024
"""Shorter ones are parsed with the rest."""

STAND_IN_LENGTH = 512
"""Longer than any other text that a request may hold: in the place of a name it is as wrong as the picture was."""

_OPENING, _QUOTE, _BACKSLASH = b'"data:', b'"', b"\\"

InlinePictures: TypeAlias = Mapping[str, memoryview]
"""Stand-in to the data: URI that it stands for."""

NO_PICTURES: InlinePictures = {}


class PictureReader:
    """Finds the pictures that a request names."""

    def __init__(self, limits: ImageLimits, inline: InlinePictures = NO_PICTURES) -> None:
        """Prepare for one request.

        Args:
            limits: What pictures have to meet.
            inline: What was taken out of its body before it was parsed.
        """
        self._limits = limits
        self._inline = inline

    def pictures(self, values: Mapping[str, str | None]) -> dict[str, Picture | str | None]:
        """Every picture of a request, by the name of its field; see `picture`.

        Raises:
            TryOnError: It names every field that is wrong.
        """
        found, refused = dict[str, Picture | str | None](), list[TryOnError]()
        for field, value in values.items():
            try:
                found[field] = self.picture(field, value)
            except TryOnError as error:
                refused.append(error)
        if refused:
            raise TryOnError.naming_all(refused)
        return found

    def picture(self, field: str, value: str | None) -> Picture | str | None:
        """Take an inline picture out of its data: URI, or judge the address of one.

        Returns:
            The picture, not looked into yet; or the address in normal form; or nothing where there is nothing.

        Raises:
            TryOnError: ``malformed_data_uri`` or ``garment_url_refused``.
        """
        if value is None:
            return None
        try:
            if not is_data_uri(value):
                return check_remote_url(value)
            return Picture(field, decode_data_uri(self._inline.get(value, value), self._limits))
        except ImageError as error:
            if error.code == ImageErrorCode.TOO_LARGE:
                return Picture(field, None)  # refused further on, after what is cheaper to refuse
            raise naming(field, error) from None


def take_pictures_out(body: bytes) -> tuple[bytes, InlinePictures]:
    """Put a stand-in in the place of each long string that begins with ``data:``.

    Strings with escapes are left: their text is not what stands between the quotes.

    Returns:
        What is to be parsed, and what was taken out of it. A stand-in begins with ``data:`` too, and cannot be
        guessed by the sender of the body.
    """
    view, token = memoryview(body), secrets.token_hex(8)
    taken: dict[str, memoryview] = {}
    pieces: list[bytes | memoryview] = []
    kept_from = position = 0
    while (opening := body.find(_OPENING, position)) >= 0:
        start = opening + len(_QUOTE)
        end = body.find(_QUOTE, start)
        escaped = body[max(0, opening - 1) : opening] == _BACKSLASH
        if end - start < WORTH_BYTES or escaped or body.find(_BACKSLASH, start, end) >= 0:
            position = start
            continue
        stand_in = f"data:{token}:{len(taken)}:".ljust(STAND_IN_LENGTH, "x")
        taken[stand_in] = view[start:end]
        pieces += [view[kept_from:start], stand_in.encode()]
        kept_from = position = end
    return (b"".join([*pieces, view[kept_from:]]) if taken else body), taken


IGNORED_FIELDS = "X-Ignored-Fields"
"""Header that names the fields of the request that mean nothing to the service."""

MOST_VALUES = 10_000
"""Commas and opening brackets in a body less its pictures; the largest request has some sixty, and 8,000 characters of
metadata, each of which may be one."""

LONGEST_HEADER = 1000
"""Characters of a header that repeats what the caller sent."""


Value = TypeVar("Value")


class _WithoutNull:
    """Offers no null in the schema of what is None where it was left out."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, schema_of: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = schema_of(core)
        said = [each for each in schema.pop("anyOf") if each != {"type": "null"}]
        return {**said[0], **schema} if len(said) == 1 else {"anyOf": said, **schema}


MayBeLeftOut: TypeAlias = Annotated[Value | None, _WithoutNull()]
"""A field or a parameter that nobody has to send.

A union of a type with pydantic's ``SkipJsonSchema[None]`` has the same schema, but what is wrong with a value is then
said of each part of the union, under names that only pydantic knows.
"""


class WireModel(BaseModel):
    """camelCase on the wire; unknown fields are kept aside so that the answer can name them."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=False, validate_by_alias=True, extra="allow")


Model = TypeVar("Model", bound=WireModel)


class Answer(BaseModel):
    """What an answer holds: these fields and no others, camelCase on the wire."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        serialize_by_alias=True,
        from_attributes=True,
        extra="forbid",
    )


def check_media_type(headers: Mapping[str, str]) -> None:
    """Refuse a body that does not say that it is JSON.

    Raises:
        TryOnError: ``content_type_not_json``.
    """
    media_type = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise TryOnError("content_type_not_json")


def parse_body(
    body: bytes, model: type[Model], context: Mapping[str, Any] | None = None
) -> tuple[Model, InlinePictures]:
    """Judge every field on its own; ``context`` is for the model's validators.

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
        return model.model_validate_json(text, context=context), pictures
    except ValidationError as error:
        spelling = model.model_config.get("alias_generator")
        complaints = error.errors(include_url=False, include_input=False)
        raise refusal(complaints, spelling if callable(spelling) else str) from None


def refusal(errors: Sequence[Mapping[str, Any]], spelling: Callable[[str], str] = to_camel) -> TryOnError:
    """Everything that pydantic found, as one refusal that names each field.

    A validator of ours may raise a `PydanticCustomError` whose type is a code of the catalogue.
    """
    kinds = {error["type"] for error in errors}
    if "json_invalid" in kinds:
        return TryOnError("json_invalid")
    code = kinds.pop() if len(kinds) == 1 else ""
    return TryOnError(code if code in CATALOGUE else "field_invalid", fields=complaints_of(errors, spelling))


def ignored_fields(model: WireModel, prefix: str = "") -> list[str]:
    """Names of the fields that mean nothing to the service."""
    return [prefix + name for name in model.model_extra or {}]


def ignored_header(names: Sequence[str]) -> dict[str, str]:
    """The header that names ignored fields, in printable ASCII and not without end; none if there are none."""
    text = ", ".join(name[:LONGEST_HEADER] for name in names[:LONGEST_HEADER])[:LONGEST_HEADER]
    plain = "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in text)
    return {IGNORED_FIELDS: plain} if names else {}
