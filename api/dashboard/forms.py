"""What a page sends: the one way in for every POST, which has to carry the token of its form.

The token shows that the form was served to this very browser. It stands behind what `api.dashboard.admission` asks of
the headers, for browsers that do not send those.
"""

from __future__ import annotations

import hmac
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends, Request
from pydantic.alias_generators import to_camel
from python_multipart.exceptions import MultipartParseError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from api.body_limit import body_of
from api.dashboard.visitor import form_token_of, possible_visitor
from api.errors import PageRefused
from api.routes import SAFE
from api.tryon.schemas import GarmentFields
from engines.hints import GarmentHints, ProductHints


def _rule(schema: dict[str, Any]) -> dict[str, Any]:
    said = schema.get("anyOf", [schema])[0]
    choices = [(value, value.replace("_", " ").capitalize()) for value in said.get("enum", ())]
    return {"choices": choices, "longest": said.get("maxLength")}


RULES = {name: _rule(schema) for name, schema in GarmentFields.model_json_schema()["properties"].items()}
"""What the API takes in each field of a garment: one of some values, each with its label, or a text so long."""

CATEGORIES: dict[str, str] = dict(RULES["category"]["choices"])
"""The parts of the body, with their labels."""

PRODUCT_HINTS = [to_camel(name) for name in ProductHints.model_fields]
HINTS = [to_camel(name) for name in GarmentHints.model_fields]


@dataclass
class FieldsRefused(Exception):
    """Something in a form that has to be put right first: a sentence for the visitor by the name of its field.

    The name is empty where a sentence is about no field in particular. ``retry_after`` is in seconds.
    """

    errors: dict[str, str]
    status: int = 422
    retry_after: int | None = None


def capitalised(complaints: Mapping[str, str]) -> dict[str, str]:
    """Complaints about fields, as sentences that stand beside them."""
    return {name: f"{said[:1].upper()}{said[1:]}" for name, said in complaints.items()}


TOKEN_FIELD, TOKEN_HEADER = "form_token", "X-Form-Token"  # their names, not their values

MOST_FIELDS = 200

LONGEST_PART = 100 * 1024 * 1024
"""Bytes of one part; the body's own cap is lower everywhere else."""

STALE = (
    "This page was open for too long, or your browser did not keep its cookie, as browsers do not over http:// from "
    "another machine. Open the page again and repeat what you did."
)

OLD_PAGE = "You have signed in again since this page was opened. Reload it and repeat the last step."


@dataclass(frozen=True)
class Upload:
    """A file that came with a form.

    Attributes:
        filename: What the browser calls it; for people only.
    """

    filename: str
    data: bytes = field(repr=False)


@dataclass
class Form:
    """The fields of a form. What is not there reads as empty."""

    _texts: dict[str, list[str]] = field(default_factory=dict)
    _files: dict[str, list[Upload]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """A field without the space around it."""
        return self.exact(name).strip()

    def exact(self, name: str) -> str:
        """A field to the letter, as passwords need it."""
        return next(iter(self._texts.get(name, ())), "")

    def identifier(self, name: str) -> uuid.UUID | None:
        """An id that the page gave the form, if it is one: by it, a form that is sent twice does its work once."""
        try:
            return uuid.UUID(self.text(name))
        except ValueError:
            return None

    def file(self, name: str) -> Upload | None:
        """A file, if one was chosen."""
        return next(iter(self._files.get(name, ())), None)

    def files(self, name: str) -> Sequence[Upload]:
        """All that were chosen in a field."""
        return self._files.get(name, ())

    def __contains__(self, name: str) -> bool:
        return name in self._texts or name in self._files

    def add(self, name: str, value: str | Upload) -> None:
        """Add a field; an empty file stands for none.

        Raises:
            ValueError: There is a null character in it.
        """
        if "\0" in name or (isinstance(value, str) and "\0" in value):
            raise ValueError("a null character")  # which PostgreSQL takes nowhere, and no browser sends
        if isinstance(value, str):
            self._texts.setdefault(name, []).append(value)
        elif value.data:
            self._files.setdefault(name, []).append(value)


async def read_form(request: Request) -> Form:
    """Read the body, and refuse one that did not come from a page that was served to this browser.

    The router of all pages depends on this, so no POST goes without; what only asks for a page sends an empty form.

    Raises:
        PageRefused: It carries no token or another one, in its form or its header; or it cannot be read.
    """
    if request.method in SAFE:
        return Form()
    body, media_type = body_of(request), request.headers.get("Content-Type", "")
    try:
        form = await _multipart(request, body) if media_type.startswith("multipart/form-data") else _urlencoded(body)
    except (ValueError, MultiPartException, MultipartParseError):
        raise PageRefused(400, "The form could not be read. Go back and try again.") from None
    offered = request.headers.get(TOKEN_HEADER) or form.exact(TOKEN_FIELD)
    if not hmac.compare_digest(offered.encode(), form_token_of(request).encode()):
        raise PageRefused(403, STALE if possible_visitor(request) is None else OLD_PAGE)
    return form


SentForm = Annotated[Form, Depends(read_form)]
"""A route's argument: the form that came with it."""


def read_id(text: str, unknown: str) -> uuid.UUID:
    """An id from the address of a page.

    Raises:
        PageRefused: 404 with the sentence ``unknown``: it is none.
    """
    try:
        return uuid.UUID(text)
    except ValueError:
        raise PageRefused(404, unknown) from None


def _urlencoded(body: bytes) -> Form:
    form = Form()
    for name, value in parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS):
        form.add(name, value)
    return form


async def _multipart(request: Request, body: bytes) -> Form:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(
        request.headers, stream(), max_files=MOST_FIELDS, max_fields=MOST_FIELDS, max_part_size=LONGEST_PART
    )
    # What was read stays in memory, where the body is already: a person's photo has no business on this disk.
    parser.spool_max_size = LONGEST_PART
    form, parsed = Form(), await parser.parse()
    try:
        for name, value in parsed.multi_items():
            form.add(name, Upload(value.filename or "", await value.read()) if isinstance(value, UploadFile) else value)
    finally:
        await parsed.close()
    return form
